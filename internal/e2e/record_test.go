package e2e_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/cgi"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/readthru/readthru/internal/needs"
)

// reading is what is recorded: clients of several kinds, some of which tell a proxy nothing of themselves, that read
// pages, data that is another each time, bytes, a repository, and what is not there.
const reading = `
set -e
curl -sS https://site.test/guide/page
curl -sS https://site.test/guide/page -H 'Accept: text/html' | wc -c
curl -sS https://site.test/now
curl -sS https://site.test/now
curl -sS -i https://site.test/missing
curl -sS https://site.test/bytes | od -An -tx1 | tail -2
curl -sS -d 'a=b' https://site.test/echo
curl -sS -F 'f=@/dev/null' https://site.test/upload
wget -qO- https://site.test/fresh | tail -3
python3 -c '
import urllib.request, json
print(json.load(urllib.request.urlopen("https://site.test/now")))
print(urllib.request.urlopen("https://site.test/vary").read().decode())'
node -e '
const proxy = new URL(process.env.http_proxy);
require("http").get({host: proxy.hostname, port: proxy.port, path: "http://site.test/guide/page"}, (r) => { r.pipe(process.stdout); console.log(r.statusCode, r.headers); });'
git clone -q https://git.test/repo.git copy
git -C copy log --format=%H:%s
`

// ever answers reading; what it says at /now and /bytes it never said before.
func ever(t *testing.T) http.Handler {
	t.Helper()
	git := needs.Program(t, "git")
	root := t.TempDir()
	work := filepath.Join(root, "work")
	if err := os.MkdirAll(work, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(work, "file"), []byte(strings.Repeat("A line of a file.\n", 10_000)),
		0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"init", "-q", work},
		{"-C", work, "add", "."},
		{"-C", work, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "first"},
		{"clone", "-q", "--bare", work, filepath.Join(root, "repo.git")},
	} {
		if out, err := exec.CommandContext(t.Context(), git, args...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	var n atomic.Int64
	mux := http.NewServeMux()
	mux.Handle("git.test/", &cgi.Handler{
		Path: git, Args: []string{"http-backend"},
		Env: []string{"GIT_PROJECT_ROOT=" + root, "GIT_HTTP_EXPORT_ALL=1"},
	})
	mux.HandleFunc("/now", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store")
		_, _ = fmt.Fprintf(w, "{\"reading\": %d}\n", n.Add(1))
	})
	mux.HandleFunc("/bytes", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/octet-stream")
		for i := range 2 << 20 / 8 {
			_, _ = w.Write([]byte{0, 0xff, byte(i), byte(i >> 8), byte(i >> 16), 0xc3, byte(n.Load()), '\n'})
		}
	})
	mux.HandleFunc("/echo", func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprintf(w, "%d: ", n.Add(1))
		_, _ = io.Copy(w, r.Body)
	})
	mux.HandleFunc("/upload", func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = fmt.Fprintln(w, "upload", n.Add(1))
	})
	mux.Handle("/", site())
	return mux
}

func TestARunIsReplayedByteForByteWithoutTheWeb(t *testing.T) {
	for _, client := range []string{"curl", "wget", "python3", "node"} {
		needs.Program(t, client)
	}
	w := newWeb(t, ever(t))
	for _, with := range []string{"a daemon of its own", "a daemon that runs"} {
		t.Run(with, func(t *testing.T) {
			dir := t.TempDir()
			env := environ(w, dir)
			if with == "a daemon that runs" {
				env = serveIn(t, w, dir).env
			}
			lock := filepath.Join(t.TempDir(), "lock")
			then, stderr, err := command(t, env, binary, "run", "--record", lock, "--", "sh", "-c", "cd "+t.TempDir()+reading)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(stderr, "recorded in "+lock) || !strings.Contains(then, "# Rivers of the north") {
				t.Errorf("stdout %.2000s\nstderr %s", then, stderr)
			}
			offline := append(environ(nil, t.TempDir()), "READTHRU_UPSTREAM_RESOLVE=*:443=127.0.0.1:1,*:80=127.0.0.1:1")
			asked := len(w.requests("/now"))
			for range 2 {
				now, stderr, err := command(t, offline, binary, "run", "--replay", lock, "--", "sh", "-c",
					"cd "+t.TempDir()+reading)
				if err != nil {
					t.Fatal(err)
				}
				if now != then {
					t.Errorf("the replay said\n%.3000s\nwant\n%.3000s\nstderr %s", now, then, stderr)
				}
			}
			if len(w.requests("/now")) != asked {
				t.Error("the replay asked the origin")
			}
		})
	}
}
