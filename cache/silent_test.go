package cache_test

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/readthru/readthru/cache"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// A later error never replaces a good page.
func TestAStoredPageIsServedStaleWhenItsOriginFails(t *testing.T) {
	for _, tt := range []struct {
		name, stored string
		status       int
		request      string
		want         int
	}{
		{"503", "", 503, "", 200},
		{"504", "", 504, "", 200},
		{"500 that may be stored", "", 500, "", 200},
		{"429", "", 429, "", 200},
		{"404 is an answer", "", 404, "", 404},
		{"must-revalidate", ", must-revalidate", 503, "", 503},
		{"a client that wants it validated", "", 503, "Cache-Control: no-cache", 503},
	} {
		t.Run(tt.name, func(t *testing.T) {
			answers := 0
			r := newRig(t, cache.Options{}, func(w http.ResponseWriter, _ *http.Request) {
				if answers++; answers > 1 {
					respond(w, tt.status, "sorry", "Content-Type: text/html", "Cache-Control: max-age=60")
					return
				}
				respond(w, 200, "held", "Content-Type: text/html", `ETag: "a"`, "Cache-Control: max-age=0"+tt.stored)
			})
			r.get()
			var fields []string
			if tt.request != "" {
				fields = append(fields, tt.request)
			}
			for range 2 {
				if g := r.get(fields...); g.code != tt.want {
					t.Errorf("%d %q, want %d", g.code, g.status, tt.want)
				}
			}
		})
	}
}

// silent is an origin that answers a page once and is silent from then on, whatever it is asked.
type silent struct{ answered bool }

func (s *silent) RoundTrip(req *http.Request) (*http.Response, error) {
	if s.answered {
		<-req.Context().Done()
		return nil, req.Context().Err()
	}
	s.answered = true
	h := http.Header{}
	h.Set("Content-Type", strings.TrimPrefix(req.URL.Path, "/"))
	h.Set("Cache-Control", "max-age=0")
	h.Set("Etag", `"a"`)
	return &http.Response{
		StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: h, Request: req,
		Body: io.NopCloser(strings.NewReader("held")), ContentLength: 4,
	}, nil
}

func TestAStoredPageIsServedStaleWhenItsOriginIsSilent(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		st, err := store.Open(store.Options{Dir: dir, Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = st.Close() }()
		for _, kind := range []string{"text/html", "application/json"} {
			c := cache.New(cache.Options{Store: st, Next: &silent{}, Page: page.IsPage, Log: slog.New(slog.DiscardHandler)})
			ask := func() (string, time.Duration) {
				ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
				defer cancel()
				req, _ := http.NewRequestWithContext(ctx, http.MethodGet, "http://a.test/"+kind, http.NoBody)
				began := time.Now()
				resp, err := c.RoundTrip(req)
				if err != nil {
					return "error " + cache.OutcomeOfError(err).String(), time.Since(began)
				}
				defer resp.Body.Close()
				body, _ := io.ReadAll(resp.Body)
				return string(body) + " " + cache.OutcomeOf(resp).String(), time.Since(began)
			}
			ask()
			time.Sleep(time.Second)
			got, took := ask()
			if page.IsPage(kind) {
				if !strings.HasPrefix(got, "held readthru; hit; ttl=-1") || took > 15*time.Second {
					t.Errorf("%s: %q after %v", kind, got, took)
				}
			} else if got != "error readthru; fwd=stale" || took < 29*time.Second {
				t.Errorf("%s: %q after %v", kind, got, took)
			}
			_ = c.Close()
		}
	})
}

// halting is an origin that answers "held" at first. Later answers come in two halves, with pauses between their bytes.
type halting struct {
	stored  string          // Cache-Control of the first answer
	kind    string          // Content-Type
	pauses  []time.Duration // before each byte of the second half
	err     error           // at the end; io.EOF if nil
	answers int
}

func (h *halting) RoundTrip(req *http.Request) (*http.Response, error) {
	resp := &http.Response{
		StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: req, ContentLength: -1,
		Header: http.Header{"Content-Type": {h.kind}, "Cache-Control": {h.stored}, "Etag": {`"a"`}},
	}
	if h.answers++; h.answers == 1 {
		resp.Body = io.NopCloser(strings.NewReader("held"))
		return resp, nil
	}
	resp.Header.Set("Etag", `"b"`)
	resp.Header.Set("Cache-Control", "max-age=60")
	r, w := io.Pipe()
	resp.Body = r
	go func() {
		io.WriteString(w, "half")
		for _, pause := range h.pauses {
			select {
			case <-time.After(pause):
				io.WriteString(w, ".")
			case <-req.Context().Done():
				w.CloseWithError(req.Context().Err())
				return
			}
		}
		w.CloseWithError(h.err) // nil is io.EOF
	}()
	return resp, nil
}

func TestAStoredPageIsServedStaleWhenItsOriginHaltsInTheBody(t *testing.T) {
	const stale = "held readthru; hit; ttl=S; detail=disconnected"
	seconds := regexp.MustCompile(`ttl=-\d+`)
	slowly := slices.Repeat([]time.Duration{3 * time.Second}, 8)
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		st, err := store.Open(store.Options{Dir: dir, Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = st.Close() }()
		for n, tt := range []struct {
			name    string
			origin  halting
			whole   bool // the client reads it to its end
			want    string
			seconds int // until the answer begins
		}{
			{"silent", halting{pauses: []time.Duration{time.Hour}}, false, stale, 10},
			{"silent later", halting{pauses: []time.Duration{2 * time.Second, time.Hour}}, false, stale, 12},
			{"broken off", halting{err: io.ErrUnexpectedEOF}, false, stale, 0},
			{"broken off later", halting{pauses: slowly[:2], err: io.ErrUnexpectedEOF}, false, stale, 6},
			{"slow, but whole", halting{pauses: slowly[:3]}, false, "half... readthru; fwd=stale; fwd-status=200; stored", 9},
			{"slow, but it goes on", halting{pauses: slowly}, false, "half........ readthru; fwd=stale; fwd-status=200", 12},
			{"too slow for a page", halting{pauses: slowly}, true, stale, 15},
			{"must-revalidate", halting{stored: "max-age=0, must-revalidate", pauses: slowly[:7]}, false, "half.......", 0},
			{"no page", halting{kind: "application/json", pauses: slowly[:7]}, false, "half.......", 0},
		} {
			o := tt.origin
			o.kind, o.stored = cmp.Or(o.kind, "text/html"), cmp.Or(o.stored, "max-age=0")
			c := cache.New(cache.Options{
				Store: st, Next: &o, Page: page.IsPage, Log: slog.New(slog.DiscardHandler),
				ForPage: func(*http.Request) bool { return tt.whole },
			})
			ask := func() (got string, took time.Duration) {
				ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
				defer cancel()
				req, _ := http.NewRequestWithContext(ctx, http.MethodGet, "http://a.test/"+strconv.Itoa(n), http.NoBody)
				began := time.Now()
				resp, err := c.RoundTrip(req)
				if err != nil {
					return err.Error(), time.Since(began)
				}
				defer resp.Body.Close()
				took = time.Since(began)
				status := cache.OutcomeOf(resp).String()
				body, _ := io.ReadAll(resp.Body)
				return string(body) + " " + seconds.ReplaceAllString(status, "ttl=S"), took
			}
			ask()
			time.Sleep(time.Second)
			began := time.Now()
			got, took := ask()
			if !strings.HasPrefix(got, tt.want) || took != time.Duration(tt.seconds)*time.Second {
				t.Errorf("%s: %q after %v, want %q after %d s", tt.name, got, took, tt.want, tt.seconds)
			}
			if time.Since(began) < 13*time.Second && o.err == nil && got == stale { // the origin is silent still
				if got, took := ask(); got != stale || took > 0 || o.answers > 2 {
					t.Errorf("%s: the next client: %q after %v, %d requests", tt.name, got, took, o.answers-1)
				}
			}
			_ = c.Close()
		}
	})
}

// errStranger is the error for an origin that did not prove who it is.
var errStranger = errors.New("certificate expired")

func TestAnUntrustedOriginIsHiddenOnlyWithConsent(t *testing.T) {
	var stranger bool
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	next := roundTripper(func(req *http.Request) (*http.Response, error) {
		if stranger {
			return nil, errStranger
		}
		return transport.RoundTrip(req)
	})
	r := newRig(t, cache.Options{Next: next, Untrusted: func(err error) bool { return errors.Is(err, errStranger) }},
		fixed("held", "Content-Type: text/html", "Cache-Control: max-age=0, stale-if-error=60", `ETag: "a"`))
	r.get()
	stranger = true
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		_, err := r.try(r.request(method, "/"))
		if !errors.Is(err, errStranger) || cache.OutcomeOfError(err).String() != "readthru; fwd=stale" {
			t.Errorf("%s: %v, %v", method, err, cache.OutcomeOfError(err))
		}
		for _, consent := range []string{"max-stale=60", "max-stale", "stale-if-error=60"} {
			if g, err := r.try(r.request(method, "/", "Cache-Control: "+consent)); err != nil || g.code != 200 ||
				!strings.Contains(g.status, "hit") {
				t.Errorf("%s with %s: %v %q", method, consent, err, g.status)
			}
		}
	}
}
