package server_test

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/store"
)

const (
	imagePage = "https://example.com/images"
	dot       = `<svg xmlns="http://www.w3.org/2000/svg"><script>hit()</script></svg>`
)

// withImages answers a page with an image, and what it names as images.
func withImages(w http.ResponseWriter, r *http.Request) bool {
	switch r.URL.Path {
	case "/images":
		w.Header().Set("Content-Type", "text/markdown")
		_, _ = io.WriteString(w, "# Images\n\n![a dot](/dot.svg) ![a page](/page) ![gone](/gone.png) [a link](/link.svg)\n")
	case "/dot.svg", "/other.svg":
		w.Header().Set("Content-Type", "image/svg+xml")
		_, _ = io.WriteString(w, dot)
	default:
		return false
	}
	return true
}

func TestAnImageIsGivenForThePageThatHasIt(t *testing.T) {
	w := newWorldOver(t, withImages, nil, nil)
	if _, err := w.client.Fetch(t.Context(), api.FetchRequest{URL: imagePage}); err != nil {
		t.Fatal(err)
	}
	addr := w.listen(t)
	for path, want := range map[string]int{
		"/dot.svg": 200, "/page": 415, "/gone.png": 502, "/other.svg": 404, "/link.svg": 404, "": 404,
		"//169.254.169.254/": 404,
	} {
		resp := ask(t, addr, "GET", "/api/v1/pages/"+url.PathEscape(imagePage)+"/image?url=https://example.com"+path, "")
		if resp.StatusCode != want {
			t.Errorf("image %q: status %d, want %d", path, resp.StatusCode, want)
		}
		if want != http.StatusOK {
			continue
		}
		body, err := io.ReadAll(resp.Body)
		policy := resp.Header.Get("Content-Security-Policy")
		if err != nil || string(body) != dot || resp.Header.Get("Content-Type") != "image/svg+xml" ||
			!strings.Contains(policy, "default-src 'none'; sandbox") {
			t.Errorf("image %q: %q, %v, policy %q", path, body, err, policy)
		}
	}
}

func TestAPageIsConvertedAgainFromWhatIsStored(t *testing.T) {
	w := newWorld(t, nil)
	if _, err := w.client.ConvertPage(t.Context(), pageURL); api.CodeOf(err) != api.CodeNotFound {
		t.Errorf("a page that was not read: %v", err)
	}
	p, err := w.client.Fetch(t.Context(), api.FetchRequest{URL: pageURL})
	if err != nil {
		t.Fatal(err)
	}
	older, content := p.Record, p.Content
	older.ContentHash = strings.Repeat("0", 64)
	if _, err := w.store.PutPage(&older, []byte("# As an older program made it\n"), store.Sum{}); err != nil {
		t.Fatal(err)
	}
	before := w.asked.Load()
	for range 2 {
		if p, err = w.client.ConvertPage(t.Context(), p.Doc); err != nil || p.Content != content {
			t.Errorf("converted again it is %q, %v", p.Content, err)
		}
	}
	if p.VisitCount != 1 || w.asked.Load() != before {
		t.Errorf("%d visits, and %d requests to the origin", p.VisitCount, w.asked.Load()-before)
	}
	if v, err := w.client.Versions(t.Context(), p.Doc); err != nil || len(v.Versions) != 3 {
		t.Errorf("versions %+v, %v", v, err)
	}
	if _, err := w.client.ClearCache(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := w.client.ConvertPage(t.Context(), p.Doc); api.CodeOf(err) != api.CodeNotFound {
		t.Errorf("without what the origin answered: %v", err)
	}
}

func TestAPageOfOthersMarkdownIsNotConvertedAgain(t *testing.T) {
	w := newWorldOver(t, withImages, nil, nil)
	if _, err := w.client.Fetch(t.Context(), api.FetchRequest{URL: imagePage}); err != nil {
		t.Fatal(err)
	}
	_, err := w.client.ConvertPage(t.Context(), imagePage)
	if api.CodeOf(err) != api.CodeConflict || !strings.Contains(err.Error(), "negotiated") {
		t.Errorf("markdown of an origin: %v", err)
	}
}

func TestTheOriginalOfAPageIsWhatItsOriginAnswered(t *testing.T) {
	w := newWorld(t, nil)
	if _, err := w.client.Original(t.Context(), pageURL); api.CodeOf(err) != api.CodeNotFound {
		t.Errorf("of a page that was not read: %v", err)
	}
	if _, err := w.client.Fetch(t.Context(), api.FetchRequest{URL: pageURL}); err != nil {
		t.Fatal(err)
	}
	before := w.asked.Load()
	o, err := w.client.Original(t.Context(), pageURL)
	if err != nil || !strings.HasPrefix(o.Content, "<!doctype html>") || o.ContentType == "" || o.Received.IsZero() {
		t.Errorf("original %+v, %v", o, err)
	}
	if w.asked.Load() != before {
		t.Error("the origin was asked")
	}
}
