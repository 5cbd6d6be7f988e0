package e2e_test

import (
	"fmt"
	"net/http"
	"net/http/cgi"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/readthru/readthru/internal/eventually"
	"github.com/readthru/readthru/internal/needs"
	"github.com/readthru/readthru/render/rendertest"
)

// TestRunPrintsMarkdown is the main job in one line, with each client that reads the environment.
func TestRunPrintsMarkdown(t *testing.T) {
	w := newWeb(t, site())
	for _, tt := range []struct {
		client string
		args   []string
	}{
		{"curl", []string{"curl", "-sS", "https://site.test/guide/page"}},
		{"curl", []string{"curl", "-sS", "http://site.test/guide/page"}},
		{"wget", []string{"wget", "-qO-", "https://site.test/guide/page"}},
		{"python3", []string{
			"python3", "-c",
			`import urllib.request; print(urllib.request.urlopen("https://site.test/guide/page").read().decode())`,
		}},
	} {
		t.Run(tt.client, func(t *testing.T) {
			needs.Program(t, tt.client)
			dir := t.TempDir()
			out, stderr, err := command(t, environ(w, dir), binary, append([]string{"run", "--"}, tt.args...)...)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(out, "---\ntitle: Rivers of the north\n") || !strings.Contains(out, "# Rivers of the north") {
				t.Errorf("stdout %q\nstderr %s", out, stderr)
			}
		})
	}
}

func TestRunEndsWithTheExitCodeOfItsCommand(t *testing.T) {
	dir := t.TempDir()
	_, _, err := command(t, environ(nil, dir), binary, "run", "--", "sh", "-c", "exit 7")
	if err == nil || !strings.Contains(err.Error(), "exit status 7") {
		t.Errorf("err = %v, want exit status 7", err)
	}
}

// withEnv runs a client with the environment that "readthru env" prints for a running daemon.
func (d *daemon) withEnv(script string) (string, error) {
	d.t.Helper()
	exports := d.readthru("env", "--shell", "sh")
	out, _, err := command(d.t, d.env, "sh", "-c", exports+"\n"+script)
	return out, err
}

func TestGitClonesOverHTTPSAsWithoutUs(t *testing.T) {
	git := needs.Program(t, "git")
	root := t.TempDir()
	work := filepath.Join(root, "work")
	for _, args := range [][]string{
		{"init", "-q", work},
		{"-C", work, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "first"},
		{"clone", "-q", "--bare", work, filepath.Join(root, "repo.git")},
		{"-C", filepath.Join(root, "repo.git"), "config", "http.receivepack", "true"},
	} {
		if out, err := exec.CommandContext(t.Context(), git, args...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	backend := &cgi.Handler{
		Path: git, Args: []string{"http-backend"},
		Env: []string{"GIT_PROJECT_ROOT=" + root, "GIT_HTTP_EXPORT_ALL=1"},
	}
	d := serve(t, newWeb(t, backend))
	if _, err := d.withEnv(fmt.Sprintf("git clone -q https://git.test/repo.git %q",
		filepath.Join(root, "copy"))); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), git, "-C", filepath.Join(root, "copy"), "log", "--format=%s").Output()
	if err != nil || strings.TrimSpace(string(out)) != "first" {
		t.Errorf("log %q, %v", out, err)
	}
	push := fmt.Sprintf("cd %q && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m second && git push -q origin HEAD", filepath.Join(root, "copy"))
	if _, err := d.withEnv(push); err != nil {
		t.Errorf("push: %v", err)
	}
}

func TestNodeFetchReadsMarkdownWhereNodeHonoursTheProxy(t *testing.T) {
	needs.Program(t, "node")
	d := serve(t, newWeb(t, site()))
	script := `node -e '
const [major, minor] = process.versions.node.split(".").map(Number);
if (major < 22 || major === 22 && minor < 21 || major === 24 && minor < 5) {
	console.log("unsupported");
	process.exit(0);
}
fetch("https://site.test/guide/page").then(r => r.text()).then(t => console.log(t), e => { console.error(e); process.exit(1); });'`
	out, err := d.withEnv(script)
	if err != nil {
		t.Fatal(err)
	}
	// Node before 22.21 and 24.5 has no proxy support of its own; doctor says so. What is to be had there is the prefix
	// form.
	if strings.TrimSpace(out) == "unsupported" {
		out, err = d.withEnv(fmt.Sprintf(`node -e 'fetch("http://%s/https://site.test/guide/page").then(r => r.text()).then(t => console.log(t), e => { console.error(e); process.exit(1); });'`, d.proxy))
		if err != nil {
			t.Fatal(err)
		}
	}
	if !strings.Contains(out, "# Rivers of the north") {
		t.Errorf("stdout %q", out)
	}
}

func TestChromiumReadsThePageAsTheOriginMadeItAndItIsRemembered(t *testing.T) {
	chromium, certutil := needs.Program(t, "chromium"), needs.Program(t, "certutil")
	d := serveIn(t, newWeb(t, site()), rendertest.Dir(t))
	db := filepath.Join(d.dir, ".pki", "nssdb")
	if err := os.MkdirAll(db, 0o700); err != nil {
		t.Fatal(err)
	}
	ca := filepath.Join(d.dir, "data", "ca", "ca.pem")
	for _, args := range [][]string{
		{"-d", "sql:" + db, "-N", "--empty-password"},
		{"-d", "sql:" + db, "-A", "-t", "C,,", "-n", "readthru", "-i", ca},
	} {
		if _, _, err := command(t, d.env, certutil, args...); err != nil {
			t.Fatal(err)
		}
	}
	out, _, err := command(t, d.env, chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic",
		"--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
		"--user-data-dir="+filepath.Join(d.dir, "profile"), "--proxy-server=http://"+d.proxy, "--virtual-time-budget=5000",
		"--dump-dom", "https://site.test/guide/page")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out, `<a href="rel/x">about the second one</a>`) || !strings.Contains(out, "<footer>Imprint") {
		t.Errorf("DOM %q", out)
	}
	eventually.True(t, "the page is remembered", func() bool {
		return strings.Contains(d.readthru("pages", "--json"), "https://site.test/guide/page")
	})
}

func TestPythonPostsAndReadsJSONAsWithoutUs(t *testing.T) {
	needs.Program(t, "python3")
	d := serve(t, newWeb(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"method": %q, "length": %d}`, r.Method, r.ContentLength)
	})))
	out, err := d.withEnv(`python3 -c 'import urllib.request
print(urllib.request.urlopen(urllib.request.Request("https://api.test/v1", data=b"x"*1000)).read().decode())'`)
	if err != nil {
		t.Fatal(err)
	}
	if strings.TrimSpace(out) != `{"method": "POST", "length": 1000}` {
		t.Errorf("stdout %q", out)
	}
}

// TestCurlReadsAFileInRanges: a file that came in ranges is read from the store, also as a whole.
func TestCurlReadsAFileInRanges(t *testing.T) {
	needs.Program(t, "curl")
	file := strings.Repeat("0123456789", 5000)
	w := newWeb(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("ETag", `"1"`)
		rw.Header().Set("Cache-Control", "max-age=600")
		http.ServeContent(rw, r, "x.bin", time.Time{}, strings.NewReader(file))
	}))
	d := serve(t, w)
	for _, tt := range []struct {
		asked, want string
		requests    int // of the origin, until then
	}{
		{"-r 0-19999", file[:20000], 1},
		{"-r 30000-", file[30000:], 2},
		{"-r 10000-29999", file[10000:30000], 3}, // what is missing, and more
		{"-r 19990-30009", file[19990:30010], 3},
		{"-r -5", file[49995:], 3},
		{"", file, 3},
	} {
		got, err := d.withEnv("curl -sS " + tt.asked + " https://site.test/x.bin")
		if n := len(w.requests("/x.bin")); err != nil || got != tt.want || n != tt.requests {
			t.Errorf("curl %s: %d bytes, %v, %d requests; want %d bytes, %d requests", tt.asked, len(got), err, n,
				len(tt.want), tt.requests)
		}
	}
}
