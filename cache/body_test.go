package cache_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/readthru/readthru/cache"
)

func TestTruncatedBodiesAreErrorsAndNeverStored(t *testing.T) {
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	for i := range 5000 {
		_, _ = fmt.Fprintf(z, "line %d\n", i)
	}
	_ = z.Close()
	cut := zipped.Bytes()[:zipped.Len()/2]
	raw := func(response string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			conn, _, err := w.(http.Hijacker).Hijack()
			if err != nil {
				panic(err)
			}
			io.WriteString(conn, response)
			_ = conn.Close()
		}
	}
	const head = "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\n"
	for name, handler := range map[string]http.HandlerFunc{
		"short of its Content-Length":   raw(head + "Content-Length: 10\r\n\r\nhello"),
		"nothing of its Content-Length": raw(head + "Content-Length: 10\r\n\r\n"),
		"cut between chunks":            raw(head + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"),
		"cut inside a chunk":            raw(head + "Transfer-Encoding: chunked\r\n\r\n9\r\nhello"),
		"gzip cut, framing well": fixed(string(cut), "Cache-Control: max-age=60", "Content-Encoding: gzip",
			fmt.Sprintf("Content-Length: %d", len(cut))),
		"gzip cut, chunked": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			w.Header().Set("Cache-Control", "max-age=60")
			_, _ = w.Write(cut)
			w.(http.Flusher).Flush()
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, cache.Options{}, handler)
			for i := range int64(2) {
				if g, err := r.try(r.request("GET", "/")); err == nil {
					t.Errorf("request %d: whole answer of %d bytes, %q; want an error", i, len(g.body), g.status)
				}
			}
			r.wantAsked(2)
			if s := r.cache.Stats(); s.Stored != 0 {
				t.Errorf("stored %d", s.Stored)
			}
		})
	}
}

func TestContentCodings(t *testing.T) {
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	io.WriteString(z, strings.Repeat("x", 1000))
	_ = z.Close()
	for _, tt := range []struct {
		name, coding, body string
		wantHit            bool
	}{
		{"whole gzip", "gzip", zipped.String(), true},
		{"a coding we do not know", "x-unknown", "abc", true},
		{"not gzip at all passes, unstored", "gzip", "plain text, wrongly labelled", false},
		{"larger than MaxBody when decoded passes, unstored", "gzip", bomb(t), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, cache.Options{MaxBody: 1 << 20},
				fixed(tt.body, "Cache-Control: max-age=60", "Content-Encoding: "+tt.coding))
			for i := range 2 {
				if g := r.get(); g.body != tt.body || strings.Contains(g.status, "hit") != (i == 1 && tt.wantHit) {
					t.Errorf("request %d: %d bytes, %q", i, len(g.body), g.status)
				} else if i == 0 && strings.Contains(g.status, "; stored") != tt.wantHit {
					t.Errorf("%q, although the store has it: %t", g.status, tt.wantHit)
				}
			}
		})
	}
}

// What streams is not known to be stored when the answer begins.
func TestStoredIsSaidOnlyOfWhatIsStored(t *testing.T) {
	for name, size := range map[string]int{"a stream": 1 << 10, "larger than MaxBody": 2 << 20} {
		first := make(chan struct{})
		r := newRig(t, cache.Options{MaxBody: 1 << 20}, func(w http.ResponseWriter, _ *http.Request) {
			respond(w, 200, "a", "Cache-Control: max-age=60")
			w.(http.Flusher).Flush()
			<-first
			_, _ = w.Write(make([]byte, size))
		})
		resp, err := r.cache.RoundTrip(r.request("GET", "/"))
		if err != nil {
			t.Fatal(err)
		}
		if o := cache.OutcomeOf(resp); o.Stored {
			t.Errorf("%s: %q before its end", name, o)
		}
		close(first)
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			t.Fatal(err)
		}
		if o := cache.OutcomeOf(resp); o.Stored != (size < 1<<20) {
			t.Errorf("%s: %q at its end", name, o)
		}
		resp.Body.Close()
	}
}

func bomb(t *testing.T) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	for range 32 {
		_, _ = z.Write(make([]byte, 1<<16))
	}
	_ = z.Close()
	return b.String()
}

func TestEventStreamsAreNotHeld(t *testing.T) {
	more := make(chan struct{})
	left := make(chan struct{})
	r := newRig(t, cache.Options{}, func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for i := range 2 {
			_, _ = fmt.Fprintf(w, "data: %d\n\n", i)
			w.(http.Flusher).Flush()
			<-more
		}
		<-req.Context().Done()
		close(left)
	})
	resp, err := r.cache.RoundTrip(r.request("GET", "/"))
	if err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, len("data: 0\n\n"))
	for i := range 2 {
		if _, err := io.ReadFull(resp.Body, buf); err != nil || string(buf) != fmt.Sprintf("data: %d\n\n", i) {
			t.Fatalf("event %d: %q, %v", i, buf, err)
		}
		more <- struct{}{}
	}
	resp.Body.Close()
	<-left // the origin is let go when the client is
}
