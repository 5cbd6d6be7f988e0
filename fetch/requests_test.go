package fetch_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/readthru/readthru/convert/corpustest"
	"github.com/readthru/readthru/page"
)

// Most pages take one request to their origin when they are read for the first time, over our own small corpus or the
// one that READTHRU_CORPUS names: twins, lists for models and the like are looked for only where something names them.
func TestOneRequestSufficesForMostPages(t *testing.T) {
	dir := corpustest.Dir(t, os.Getenv("READTHRU_CORPUS"))
	manifest, err := os.ReadFile(filepath.Join(dir, "manifest.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{} // by host and target
	var targets []*url.URL
	lines := bufio.NewScanner(bytes.NewReader(manifest))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var entry struct{ URL, HTML string }
		if err := json.Unmarshal(lines.Bytes(), &entry); err != nil {
			t.Fatal(err)
		}
		u, err := page.Parse(entry.URL)
		if err != nil || u.Port() != "" || u.Host == "github.com" { // whose pages are read otherwise
			continue
		}
		u.Scheme = "http" // the test's origin has no certificate for their hosts
		at := u.Host + u.RequestURI()
		if files[at] == "" {
			targets = append(targets, u)
		}
		files[at] = filepath.Join(dir, entry.HTML)
	}
	c := newChain(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		file, err := os.Open(files[r.Host+r.URL.RequestURI()])
		if err != nil {
			http.NotFound(w, r)
			return
		}
		defer func() { _ = file.Close() }()
		html, err := gzip.NewReader(file)
		if err != nil {
			t.Error(err)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.Copy(w, html) // an error is the client's, which has gone
	}))
	read, one := 0, 0
	for _, u := range targets {
		before := len(c.origin.asked())
		if _, err := c.own(t, u.String()); err != nil {
			continue
		}
		read++
		if len(c.origin.asked()) == before+1 {
			one++
		}
	}
	t.Logf("one request suffices for %d of %d pages that could be read of %d", one, read, len(targets))
	if read < len(targets)*9/10 || one < read*98/100 {
		t.Errorf("one request suffices for %d of %d pages that could be read of %d, want 98 %%", one, read, len(targets))
	}
}
