package settings

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestEnvironmentOfClients holds the whole matrix: both cases, what adds to roots and what replaces them.
func TestEnvironmentOfClients(t *testing.T) {
	e := ClientEnv{
		Proxy: "127.0.0.1:7887", Cert: "/d/ca.pem", Bundle: "/d/bundle.pem", WGETRC: "/d/wgetrc",
		Direct: "corp.test, *.glob.test,.local localhost",
	}
	got, err := Export("sh", e.Variables())
	if err != nil {
		t.Fatal(err)
	}
	want := `export http_proxy='http://127.0.0.1:7887'
export HTTP_PROXY='http://127.0.0.1:7887'
export https_proxy='http://127.0.0.1:7887'
export HTTPS_PROXY='http://127.0.0.1:7887'
export no_proxy='localhost,127.0.0.1,::1,corp.test'
export NO_PROXY='localhost,127.0.0.1,::1,corp.test'
export NODE_USE_ENV_PROXY='1'
export NODE_EXTRA_CA_CERTS='/d/ca.pem'
export DENO_CERT='/d/ca.pem'
export SSL_CERT_FILE='/d/bundle.pem'
export CURL_CA_BUNDLE='/d/bundle.pem'
export REQUESTS_CA_BUNDLE='/d/bundle.pem'
export PIP_CERT='/d/bundle.pem'
export GIT_SSL_CAINFO='/d/bundle.pem'
export CARGO_HTTP_CAINFO='/d/bundle.pem'
export AWS_CA_BUNDLE='/d/bundle.pem'
export npm_config_cafile='/d/bundle.pem'
export CODEX_CA_CERTIFICATE='/d/bundle.pem'
export WGETRC='/d/wgetrc'
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestLoginIsEscapedInTheProxyURL(t *testing.T) {
	e := ClientEnv{Proxy: "127.0.0.1:1", login: "ann:p@ss:w/rd"}
	if got, want := e.Variables()[0].Value, "http://ann:p%40ss%3Aw%2Frd@127.0.0.1:1"; got != want {
		t.Errorf("proxy %s, want %s", got, want)
	}
}

func TestEveryShellReadsBackWhatWasExported(t *testing.T) {
	hostile := Variable{"X", `a'b"c\d $HOME ` + "`id`" + ` ; e`}
	text, err := Export("sh", []Variable{hostile})
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "sh", "-c", text+`printf %s "$X"`).Output()
	if err != nil || string(out) != hostile.Value {
		t.Errorf("sh reads %q, %v, want %q", out, err, hostile.Value)
	}
	for shell, want := range map[string]string{
		"fish":       `set -gx X 'a\'b"c\\d $HOME ` + "`id`" + ` ; e'` + "\n",
		"powershell": `$env:X = 'a''b"c\d $HOME ` + "`id`" + ` ; e'` + "\n",
		"json":       "{\n  \"X\": \"a'b\\\"c\\\\d $HOME `id` ; e\"\n}\n",
	} {
		if got, err := Export(shell, []Variable{hostile}); err != nil || got != want {
			t.Errorf("%s: %q, %v, want %q", shell, got, err, want)
		}
	}
}

func TestOurVariablesReplaceTheUsers(t *testing.T) {
	got := WithVariables([]string{"A=1", "HTTP_PROXY=old", "all_proxy=socks5://x", "ALL_PROXY=y", "B=2"},
		[]Variable{{"HTTP_PROXY", "new"}})
	if want := []string{"A=1", "B=2", "HTTP_PROXY=new"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestWgetKeepsTheUsersSettings(t *testing.T) {
	dir := t.TempDir()
	own, name := filepath.Join(dir, "own"), filepath.Join(dir, "wgetrc")
	if err := os.WriteFile(own, []byte("tries = 7"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("WGETRC", own)
	for range 2 {
		if err := writeWgetrc(name, "/d/bundle.pem"); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(name)
		if want := "tries = 7\nca_certificate = /d/bundle.pem\n"; err != nil || string(got) != want {
			t.Errorf("%q, %v, want %q", got, err, want)
		}
	}
	t.Setenv("HOME", dir)
	t.Setenv("WGETRC", name) // inside "readthru run": ours must not be read as the user's
	if err := writeWgetrc(name, "/d/bundle.pem"); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(name); strings.Count(string(got), "ca_certificate") != 1 {
		t.Errorf("%q names the bundle more than once", got)
	}
}

func TestWgetNeverReadsAHalfWrittenFile(t *testing.T) {
	dir := t.TempDir()
	own, name := filepath.Join(dir, "own"), filepath.Join(dir, "wgetrc")
	t.Setenv("WGETRC", own)
	const last = "ca_certificate = /d/bundle.pem\n"
	write := func(settings string) {
		if err := os.WriteFile(own, []byte(settings), 0o600); err != nil {
			t.Error(err)
		}
		if err := writeWgetrc(name, "/d/bundle.pem"); err != nil {
			t.Error(err)
		}
	}
	write("tries = 1\n")
	written := make(chan struct{})
	go func() {
		defer close(written)
		for i := range 200 {
			write(strings.Repeat("tries = 2\n", 500+i%2))
		}
	}()
	for {
		if got, err := os.ReadFile(name); err != nil || !strings.HasSuffix(string(got), last) {
			t.Errorf("read %d bytes, %v, without the bundle", len(got), err)
			<-written
			return
		}
		select {
		case <-written:
			return
		default:
		}
	}
}
