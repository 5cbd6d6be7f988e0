package fetch_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/readthru/readthru/fetch"
)

func TestCutBodiesAreErrors(t *testing.T) { // rules H1, H2
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	io.WriteString(z, article("Harbour"))
	_ = z.Close()
	for name, h := range map[string]http.HandlerFunc{
		"Content-Length not reached": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			w.Header().Set("Content-Length", "100000")
			io.WriteString(w, article("Harbour"))
		},
		"gzip that ends early": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(zipped.Bytes()[:zipped.Len()-20])
		},
		"reset": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			io.WriteString(w, article("Harbour"))
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		},
	} {
		for _, scheme := range []string{"http", "https"} {
			t.Run(name+" over "+scheme, func(t *testing.T) {
				c := newChain(t, h)
				ans, err := c.try(t, fetch.Request{URL: parse(t, scheme+"://site.test/"), Header: header("Accept-Encoding: gzip")})
				if err == nil {
					t.Fatalf("got %d bytes, want an error", len(ans.Body))
				}
				if e, ok := errors.AsType[*fetch.Error](err); !ok || e.HTTPStatus() != 502 {
					t.Errorf("%v, want a status of 502", err)
				}
				if p := c.stored(t, scheme+"://site.test/"); p != nil {
					t.Error("a cut body became a page")
				}
			})
		}
	}
}

func TestCodedContentIsDecodedForConversion(t *testing.T) {
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	io.WriteString(z, article("Harbour"))
	_ = z.Close()
	c := newChain(t, respond(200, zipped.String(), html, "Content-Encoding: gzip", "Vary: Accept-Encoding"))
	for range 2 {
		ans := c.read(t, "https://site.test/", "Accept-Encoding: gzip")
		if !strings.Contains(string(ans.Body), "# Harbour") || ans.Header.Get("Content-Encoding") != "" {
			t.Errorf("Content-Encoding %q, body %.80q, want markdown", ans.Header.Get("Content-Encoding"), ans.Body)
		}
	}
	if n := c.Stats().Converted; n != 1 {
		t.Errorf("%d conversions, want 1", n)
	}
	c.read(t, "https://other.site.test/")
	if ae := c.origin.last(t).Header.Get("Accept-Encoding"); ae != "" {
		t.Errorf("Accept-Encoding %q was sent for a client that accepts no coding", ae)
	}
}

func TestLargePagesStreamThroughWhole(t *testing.T) { // AD6
	big := article("Harbour", strings.Repeat("<p>filler</p>", 20000))
	for _, tt := range []struct {
		name    string
		chunked bool
		coded   bool
	}{{"length known", false, false}, {"length not known", true, false}, {"small when coded", false, true}} {
		t.Run(tt.name, func(t *testing.T) {
			c := newChain(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/html")
				switch {
				case tt.coded:
					w.Header().Set("Content-Encoding", "gzip")
					z := gzip.NewWriter(w)
					io.WriteString(z, big)
					_ = z.Close()
				case tt.chunked:
					io.WriteString(w, big[:1000])
					_ = http.NewResponseController(w).Flush()
					io.WriteString(w, big[1000:])
				default:
					w.Header().Set("Content-Length", strconv.Itoa(len(big)))
					io.WriteString(w, big)
				}
			}), func(o *fetch.Options) { o.MaxBody = 64 << 10 })
			ans := c.read(t, "https://site.test/", "Accept-Encoding: gzip")
			if ans.Response == nil || ans.Header.Get("X-Readthru-Warning") != "too-large" {
				t.Fatalf("answer %+v, want the original with a warning", ans.Header)
			}
			got := body(t, ans)
			if tt.coded {
				z, err := gzip.NewReader(strings.NewReader(got))
				if err != nil {
					t.Fatal(err)
				}
				whole, err := io.ReadAll(z)
				if err != nil {
					t.Fatal(err)
				}
				got = string(whole)
			}
			if got != big {
				t.Errorf("%d bytes came through, want all %d", len(got), len(big))
			}
		})
	}
}

func TestBytesWithoutTextSayWhatTheyAreAndAreNotKept(t *testing.T) {
	c := newChain(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Content-Type"] = nil
		io.WriteString(w, "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00")
	}))
	ans, err := c.own(t, "https://site.test/a")
	if err != nil || !strings.Contains(string(ans.Body), "PNG image") || !slices.Contains(ans.Page.Warnings, "binary") ||
		c.stored(t, "https://site.test/a") != nil {
		t.Errorf("%+v, %v, want a description that is not stored", ans, err)
	}
}

func TestTextComesInUTF8(t *testing.T) {
	c := newChain(t, respond(200, "caf\xe9 au lait", "Content-Type: text/plain; charset=iso-8859-1"))
	ans, err := c.own(t, "https://site.test/a")
	if err != nil || !strings.Contains(string(ans.Body), "café au lait") {
		t.Errorf("%+v, %v, want UTF-8", ans, err)
	}
}

func TestACharsetToldAnewIsHeeded(t *testing.T) {
	charset := "iso-8859-1"
	c := newChain(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		respond(200, article("Café"), "Content-Type: text/html; charset="+charset, "Cache-Control: no-cache")(w, r)
	}))
	c.read(t, "https://site.test/")
	charset = "utf-8"
	c.read(t, "https://site.test/")
	if ans := c.read(t, "https://site.test/"); ans.Page.Title != "Café" {
		t.Errorf("title %q, want Café", ans.Page.Title)
	}
}

func TestWhatIsNotCodedAsItSaysIsAnErrorOfOwnFetches(t *testing.T) {
	c := newChain(t, respond(200, "no gzip at all, but more than ten bytes", "Content-Type: application/json",
		"Content-Encoding: gzip", "Cache-Control: no-store"))
	if ans, err := c.own(t, "https://site.test/a"); err == nil {
		t.Errorf("%q, want an error: its beginning is lost", body(t, ans))
	}
}

func TestFencesAreFoundInTimeWhateverTheText(t *testing.T) {
	c := newChain(t, respond(200, strings.Repeat("`", 400<<10), "Content-Type: text/plain"))
	quick(t, 3*time.Second, func() {
		if _, err := c.own(t, "https://site.test/a.go"); err != nil {
			t.Error(err)
		}
	})
}
