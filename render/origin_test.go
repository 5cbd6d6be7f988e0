package render_test

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/coder/websocket"

	"github.com/readthru/readthru/internal/needs"
	"github.com/readthru/readthru/render"
	"github.com/readthru/readthru/render/rendertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// story is what every page of testdata/pages shows once its scripts have run, and no byte of the page itself holds.
var story = struct {
	Title      string   `json:"title"`
	Paragraphs []string `json:"paragraphs"`
}{
	"The heron of the mill pond",
	[]string{
		"Before sunrise the heron stands where the water leaves the wheel, and nothing about it moves but the reflection.",
		"Minnows that drift through the sluice are counted, it seems, for it never strikes at the first one.",
		"By eight the miller's children come down the path, and a grey shape leaves over the alders without a sound.",
	},
}

// site is an origin with what the pages ask for: the packages of testdata/npm, data, and whatever a test adds.
type site struct {
	*httptest.Server
	mux *http.ServeMux

	mu     sync.Mutex
	asked  []string // method, host and path of every request
	called bool
}

func newSite(tb testing.TB) *site {
	tb.Helper()
	s := &site{mux: http.NewServeMux()}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.asked = append(s.asked, r.Method+" "+r.Host+r.URL.Path)
		s.mu.Unlock()
		s.mux.ServeHTTP(w, r)
	}))
	tb.Cleanup(s.Close)
	s.mux.HandleFunc("/npm/", serveNPM)
	s.mux.HandleFunc("/pages/", func(w http.ResponseWriter, r *http.Request) {
		http.ServeFile(w, r, filepath.Join("testdata/pages", path.Base(r.URL.Path)))
	})
	s.mux.HandleFunc("OPTIONS /api/story", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "*")
		w.Header().Set("Access-Control-Allow-Headers", "X-Wish")
	})
	s.mux.HandleFunc("/api/story", func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			if b, err := io.ReadAll(r.Body); err != nil || string(b) != `{"want":"story"}` {
				http.Error(w, "what do you want?", http.StatusBadRequest)
				return
			}
		}
		w.Header().Set("Access-Control-Allow-Origin", "*")
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(story)
	})
	s.mux.HandleFunc("/redirect/", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, strings.TrimPrefix(r.URL.Path, "/redirect"), http.StatusFound)
	})
	s.mux.HandleFunc("/api/socket", func(w http.ResponseWriter, r *http.Request) {
		c, err := websocket.Accept(w, r, nil)
		if err != nil {
			return // it told the client why
		}
		if text, err := json.Marshal(story); err == nil {
			_ = c.Write(r.Context(), websocket.MessageText, text) // the page may be gone
		}
		_ = c.Close(websocket.StatusNormalClosure, "") // likewise
	})
	s.mux.HandleFunc("/api/fragment", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintf(w, "<article><h1>%s</h1><p>%s</p></article>", story.Title,
			strings.Join(story.Paragraphs, "</p><p>"))
	})
	s.mux.HandleFunc("/api/story.md", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintf(w, "# %s\n\n%s\n", story.Title, strings.Join(story.Paragraphs, "\n\n"))
	})
	s.mux.HandleFunc("/api/part/{n}", func(w http.ResponseWriter, r *http.Request) {
		parts := append([]string{}, story.Paragraphs...)
		parts[0] = story.Title + ": " + parts[0]
		var n int
		_, _ = fmt.Sscan(r.PathValue("n"), &n)
		_ = json.NewEncoder(w).Encode(map[string]string{"text": parts[n]})
	})
	return s
}

// serveNPM serves a file out of a package's archive: /npm/NAME/PATH.
func serveNPM(w http.ResponseWriter, r *http.Request) {
	rest := strings.TrimPrefix(r.URL.Path, "/npm/")
	name, file, _ := strings.Cut(rest, "/")
	if strings.HasPrefix(name, "@") {
		second, inner, _ := strings.Cut(file, "/")
		name, file = name+"/"+second, inner
	}
	b, err := npmFile(name, file)
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	switch path.Ext(file) {
	case ".js", ".mjs", ".cjs":
		w.Header().Set("Content-Type", "text/javascript; charset=utf-8")
	}
	w.Header().Set("Cache-Control", "max-age=600")
	_, _ = w.Write(b)
}

var npm struct {
	sync.Mutex
	files map[string]map[string][]byte // package → path → content
}

func npmFile(name, file string) ([]byte, error) {
	npm.Lock()
	defer npm.Unlock()
	if npm.files == nil {
		npm.files = map[string]map[string][]byte{}
	}
	if npm.files[name] == nil {
		list, err := os.ReadFile("testdata/packages.txt")
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(list)) {
			fields := strings.Fields(line)
			if len(fields) == 3 && fields[0] == name {
				base := strings.ReplaceAll(strings.TrimPrefix(name, "@"), "/", "-") + "-" + fields[1] + ".tgz"
				files, err := unpack(filepath.Join("testdata/npm", base))
				if err != nil {
					return nil, err
				}
				npm.files[name] = files
			}
		}
	}
	b, ok := npm.files[name][file]
	if !ok {
		return nil, fmt.Errorf("%s of %s: %w", file, name, fs.ErrNotExist)
	}
	return b, nil
}

// unpackAll reads every package of the list.
func unpackAll() error {
	list, err := os.ReadFile("testdata/packages.txt")
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(list)) {
		if fields := strings.Fields(line); len(fields) == 3 {
			if _, err := npmFile(fields[0], "package.json"); err != nil {
				return err
			}
		}
	}
	return nil
}

func unpack(name string) (map[string][]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // it is read only
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return nil, err
		}
		_, inner, _ := strings.Cut(h.Name, "/")
		if files[inner], err = io.ReadAll(r); err != nil {
			return nil, err
		}
	}
}

// client reaches the site under every host name.
func (s *site) client(tb testing.TB) http.RoundTripper {
	tb.Helper()
	c := &http.Transport{DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, s.Listener.Addr().String())
	}}
	tb.Cleanup(c.CloseIdleConnections)
	return c
}

// browser returns a browser whose requests go to the site. It skips the test under -short, and where no browser is
// installed, unless CI is set.
func (s *site) browser(tb testing.TB, change ...func(*render.Options)) *render.Browser {
	tb.Helper()
	if testing.Short() {
		tb.Skip("short: it starts a browser")
	}
	// patient: the machine may be busy
	client := s.client(tb)
	o := render.Options{
		Browser: os.Getenv("READTHRU_TEST_BROWSER"), Client: client, Sockets: client, Dir: rendertest.Dir(tb),
		UserAgent: "readthru/test", Timeout: 3 * time.Minute,
	}
	for _, f := range change {
		f(&o)
	}
	b := render.New(o)
	if st := b.State(); st.Mode != "browser" {
		needs.Missing(tb, "no browser: %s", st.Reason)
	}
	tb.Cleanup(func() {
		if err := b.Close(); err != nil {
			tb.Errorf("close the browser: %v", err)
		}
	})
	return b
}

// add serves html at a path.
func (s *site) add(at, html string) {
	s.mux.HandleFunc(at, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, "<!doctype html>"+html)
	})
}

// page is a request for a path of the site, under a name of the web.
func (s *site) page(tb testing.TB, at string) render.Request {
	tb.Helper()
	u, err := url.Parse("http://www.example" + at)
	if err != nil {
		tb.Fatal(err)
	}
	return render.Request{URL: u}
}

func (s *site) requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.asked...)
}

// first reports whether it is called for the first time since reset.
func (s *site) first() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	was := s.called
	s.called = true
	return !was
}

func (s *site) reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.called = false
}
