//go:build linux

package wiring

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/readthru/readthru/cmd/readthru/internal/daemon"
	"github.com/readthru/readthru/cmd/readthru/internal/settings"
	"github.com/readthru/readthru/internal/botauth"
	"github.com/readthru/readthru/internal/eventually"
	"github.com/readthru/readthru/internal/needs"
)

// nobody is a user that owns nothing.
const nobody = 65534

// startDaemon runs a daemon in a data directory of its own until the test ends.
func startDaemon(t *testing.T, change func(*settings.Settings)) *Daemon {
	t.Helper()
	s := &settings.Settings{Config: settings.Defaults(), Source: map[string]string{}, DataDir: t.TempDir()}
	s.Proxy.Listen, s.Admin.Listen, s.MarkdownNew.Mode, s.Render.Mode = "127.0.0.1:0", "127.0.0.1:0", "off", "never"
	if change != nil {
		change(s)
	}
	d, err := OpenDaemon(t.Context(), s, false, nil, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return d
}

// curl sends a request with curl as a user and returns the status. It fails the test if it cannot be that user, except
// where somebody tests who is not root; CI is.
func curl(t *testing.T, uid int, args ...string) string {
	t.Helper()
	args = append([]string{
		"-q", "-sS", "--noproxy", "*", "-m", "20", "-o", "/dev/null", "-w", "%{http_code}",
		"-H", "Content-Type: application/json",
	}, args...)
	cmd := exec.CommandContext(t.Context(), "curl", args...)
	cmd.Dir = "/"
	if uid != os.Geteuid() {
		if os.Geteuid() != 0 {
			needs.Missing(t, "a second user is needed: run this test as root")
		}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}}
	}
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("curl %q: %v", args, err)
	}
	return string(out)
}

// TestAnotherUserOfTheMachineMayDoNothing tries every operation of the admin port, /mcp and Firecrawl's paths among
// them, as another user.
func TestAnotherUserOfTheMachineMayDoNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("short: it starts curl for every operation")
	}
	d := startDaemon(t, nil)
	site := "http://" + d.Info.Admin
	open := []string{"/healthz", "/readyz", "/ca.pem", "/ca.der", "/proxy.pac", "/signin"}
	var doc struct {
		Paths map[string]map[string]struct{}
	}
	resp, err := http.Get(site + "/openapi.json") //nolint:noctx // a request of a test
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(&doc); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("our own user: status %d, %v", resp.StatusCode, err)
	}
	tried := 0
	for path, methods := range doc.Paths {
		for method := range methods {
			want := "401"
			switch {
			case slices.Contains(open, path):
				want = "200"
			case path == botauth.DirectoryPath:
				want = "404" // it is for everybody, and this daemon signs nothing
			}
			target := site + strings.NewReplacer("{", "", "}", "").Replace(path)
			if got := curl(t, nobody, "-X", strings.ToUpper(method), "-d", "{}", target); got != want {
				t.Errorf("another user: %s %s: status %s, want %s", method, path, got, want)
			}
			tried++
		}
	}
	if tried < 80 {
		t.Errorf("only %d operations were tried", tried)
	}
	token := "Authorization: Bearer " + d.Info.Token
	for _, tt := range []struct {
		name   string
		uid    int
		fields []string
		want   string
	}{
		{"another user with the token", nobody, []string{token}, "200"},
		{"another user with a wrong token", nobody, []string{token + "x"}, "401"},
		{"our user", os.Geteuid(), nil, "200"},
		{"our user with the key of a Firecrawl client", os.Geteuid(), []string{"Authorization: Bearer fc-key"}, "200"},
		{"our user through a proxy", os.Geteuid(), []string{"Via: 1.1 proxy"}, "401"},
		{"our user through a proxy with the token", os.Geteuid(), []string{"Via: 1.1 proxy", token}, "200"},
	} {
		var args []string
		for _, f := range tt.fields {
			args = append(args, "-H", f)
		}
		if got := curl(t, tt.uid, append(args, site+"/api/v1/stats")...); got != tt.want {
			t.Errorf("%s: status %s, want %s", tt.name, got, tt.want)
		}
	}
}

func TestAConfiguredTokenIsAskedOfEverybody(t *testing.T) {
	d := startDaemon(t, func(s *settings.Settings) { s.Admin.Token = "open sesame" })
	for field, want := range map[string]string{
		"Authorization: Bearer open sesame": "200", "Authorization: Bearer sesame": "401", "X: y": "401",
	} {
		if got := curl(t, os.Geteuid(), "-H", field, "http://"+d.Info.Admin+"/stats"); got != want {
			t.Errorf("%s: status %s, want %s", field, got, want)
		}
	}
	eventually.True(t, "commands find the daemon with its token", func() bool { // it may be slow to answer
		found := daemon.Find(t.Context(), d.core.settings.DataDir)
		return found != nil && found.Token == "open sesame"
	})
}

// TestAnotherDaemonsProxyLeadsNobodyIn sends requests to the admin port through the proxy of a second daemon of the
// same user, which asks in its own name.
func TestAnotherDaemonsProxyLeadsNobodyIn(t *testing.T) {
	d, other := startDaemon(t, nil), startDaemon(t, nil)
	for _, target := range []string{
		"http://" + d.Info.Admin + "/stats", "http://localhost:" + d.Info.Admin[strings.LastIndex(d.Info.Admin, ":")+1:] +
			"/stats",
	} {
		cmd := exec.CommandContext(t.Context(), "curl", "-q", "-sS", "-m", "20", "--noproxy", "", "-x",
			"http://"+other.Info.Proxy,
			"-o", "/dev/null", "-w", "%{http_code}", target)
		out, err := cmd.Output()
		if err != nil || string(out) != "401" {
			t.Errorf("%s through another daemon's proxy: status %s, %v, want 401", target, out, err)
		}
	}
}

func TestTheTokenIsKeptForItsOwnerAlone(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "token")
	kept := func() string {
		t.Helper()
		token, err := keptToken(dir)
		if err != nil || len(token) < 20 {
			t.Fatalf("token %q, %v", token, err)
		}
		info, err := os.Lstat(name)
		if err != nil || info.Mode() != 0o600 {
			t.Fatalf("mode %v, %v, want 0600", info.Mode(), err)
		}
		return token
	}
	first := kept()
	if again := kept(); again != first {
		t.Errorf("the token %q became %q", first, again)
	}
	elsewhere := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(elsewhere, []byte(first), 0o600); err != nil {
		t.Fatal(err)
	}
	for what, spoil := range map[string]func() error{
		"readable by others": func() error { return os.Chmod(name, 0o640) },
		"cut":                func() error { return os.WriteFile(name, []byte(first[:9]), 0o600) },
		"empty":              func() error { return os.Truncate(name, 0) },
		"a link":             func() error { return errors.Join(os.Remove(name), os.Symlink(elsewhere, name)) },
	} {
		before := kept()
		if err := spoil(); err != nil {
			t.Fatal(err)
		}
		if after := kept(); after == before || after == first {
			t.Errorf("a token that is %s is used", what)
		}
	}
	results := make(chan string, 8)
	_ = os.Remove(name)
	for range cap(results) {
		go func() {
			token, _ := keptToken(dir)
			results <- token
		}()
	}
	for range cap(results) {
		if token := <-results; token != kept() {
			t.Errorf("of several that begin at once, one has %q", token)
		}
	}
}

// TestATokenIsNotSentToWhoAnswersInPlaceOfTheDaemon has another program listen where a daemon did that crashed.
func TestATokenIsNotSentToWhoAnswersInPlaceOfTheDaemon(t *testing.T) {
	var heard []string
	impostor := startImpostor(t, func(r *http.Request) { heard = append(heard, r.Header.Get("Authorization")) })
	dir := t.TempDir()
	d := &daemon.Info{Instance: "instance", Secret: "secret", Token: "token", Admin: impostor}
	if err := d.Write(dir); err != nil {
		t.Fatal(err)
	}
	if found := daemon.Find(t.Context(), dir); found != nil {
		t.Errorf("the impostor is taken for the daemon: %+v", found)
	}
	if got := strings.Join(heard, ""); got != "" || len(heard) == 0 {
		t.Errorf("the impostor heard %q", heard)
	}
}

// startImpostor answers as the daemon that it has listened to does, until the test ends.
func startImpostor(t *testing.T, hear func(*http.Request)) (addr string) {
	t.Helper()
	l, err := daemon.Listen(t.Context(), "127.0.0.1:0", false)
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { //nolint:gosec // of a test
		hear(r)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"status":"ok","instance":"instance","proof":"0"}`)
	})}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(l) }()
	t.Cleanup(func() {
		_ = s.Close() // a server of a test
		<-ended       //nolint:errcheck // it ends because of that
	})
	return l.Addr().String()
}
