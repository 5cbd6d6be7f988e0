package cache_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/readthru/readthru/cache"
	"github.com/readthru/readthru/store"
)

// A board is what caches tell each other, in memory.
type board struct {
	mu    sync.Mutex
	told  map[string][]note
	asked int
	done  int
}

type note struct {
	response *store.Response
	content  string
	fresh    time.Time
}

// reader is a cache's place at a board.
type reader struct {
	*board
	store *store.Store
}

func (p reader) Ask(_ context.Context, uri string, choose func([]*store.Response) *store.Response) (
	*store.Response, func(),
) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked++
	done := func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.done++
	}
	var list []*store.Response
	for _, n := range p.told[uri] {
		r := *n.response
		r.ID = store.EntryID{}
		list = append(list, &r)
	}
	if len(list) == 0 {
		return nil, done
	}
	r := choose(list)
	for _, n := range p.told[uri] {
		if r != nil && n.response.Body == r.Body && p.store.PutResponse(r, strings.NewReader(n.content), nil) == nil {
			return r, done
		}
	}
	return nil, done
}

func (p reader) Tell(r *store.Response, fresh time.Time) {
	body, err := p.store.Body(r.Body)
	if err != nil {
		return
	}
	defer body.Close() //nolint:errcheck // it was only read
	content, _ := io.ReadAll(body)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.told == nil {
		p.told = map[string][]note{}
	}
	p.told[r.URL] = append([]note{{r, string(content), fresh}}, p.told[r.URL]...)
}

// peers returns two caches before one origin, that share what they store.
func peers(t *testing.T, handler http.HandlerFunc) (a, b *rig, _ *board) {
	t.Helper()
	a, b = newRig(t, cache.Options{}, handler), newRig(t, cache.Options{}, handler)
	b.origin.Close()
	b.origin = a.origin
	shared := &board{}
	a.cache.Join(reader{shared, a.store})
	b.cache.Join(reader{shared, b.store})
	return a, b, shared
}

func TestAPeersResponseAnswersWithoutTheOrigin(t *testing.T) {
	a, b, _ := peers(t, fixed("hello", "Cache-Control: max-age=60", "Content-Type: text/html"))
	a.get()
	if g := b.get(); g.body != "hello" || g.status != "readthru; hit; ttl=59; detail=peer" &&
		g.status != "readthru; hit; ttl=60; detail=peer" {
		t.Errorf("from a peer: %q %q", g.body, g.status)
	}
	if g := b.get(); g.body != "hello" || !strings.Contains(g.status, "hit; ttl=") || strings.Contains(g.status, "peer") {
		t.Errorf("then: %q %q", g.body, g.status)
	}
	a.wantAsked(1)
	if s := b.cache.Stats(); s.Hits != 2 || s.Misses != 0 || s.Revalidated != 0 {
		t.Errorf("Stats = %+v", s)
	}
}

func TestAPeersResponseIsNotTakenWhenANewerOneIsKnown(t *testing.T) {
	body := "old"
	a, b, _ := peers(t, func(w http.ResponseWriter, _ *http.Request) {
		respond(w, 200, body, "Cache-Control: max-age=60", "Content-Type: text/html")
	})
	a.get("Accept: text/markdown")
	body = "new"
	b.get("Accept: text/html", "Cache-Control: no-cache")
	if g := b.get("Accept: text/markdown"); g.body != "new" {
		t.Errorf("%q (%s)", g.body, g.status)
	}
}

func TestAPeersStaleResponseIsValidated(t *testing.T) {
	a, b, shared := peers(t, func(w http.ResponseWriter, req *http.Request) {
		if req.Header.Get("If-None-Match") == `"a"` {
			respond(w, 304, "", `ETag: "a"`, "Cache-Control: max-age=60")
			return
		}
		respond(w, 200, "hello", `ETag: "a"`, "Cache-Control: max-age=0")
	})
	a.get()
	if g := b.get(); g.body != "hello" || g.status != "readthru; fwd=uri-miss; fwd-status=304" {
		t.Errorf("validated: %q %q", g.body, g.status)
	}
	if g := a.get(); g.body != "hello" || !strings.HasSuffix(g.status, "detail=peer") { // b told of the validation
		t.Errorf("then a: %q %q", g.body, g.status)
	}
	a.wantAsked(2)
	_, _ = a.cache.Close(), b.cache.Close() // a flight ends after its answer
	if shared.done != shared.asked {
		t.Errorf("asked %d times, done %d times", shared.asked, shared.done)
	}
}

func TestWhatPeersAreTold(t *testing.T) {
	for _, tt := range []struct {
		name    string
		request string
		answer  string
		told    bool
	}{
		{"a page", "", "Content-Type: text/html\nCache-Control: max-age=60", true},
		{"negotiated", "Accept-Language: de", "Vary: Accept-Language\nCache-Control: max-age=60", true},
		{"not to be stored", "", "Cache-Control: no-store", false},
		{"private", "", "Cache-Control: private, max-age=60", false},
		{"by cookie", "Cookie: a=b", "Cache-Control: public, max-age=60", false},
		{"that varies by cookie", "", "Vary: Cookie\nCache-Control: max-age=60", false},
		{"that varies by an unknown field", "X-User: ann", "Vary: X-User\nCache-Control: max-age=60", false},
		{"with credentials", "Authorization: Basic YTpi", "Cache-Control: public, max-age=60", false},
		{"that sets a cookie", "", "Content-Type: text/plain\nSet-Cookie: a=b\nCache-Control: max-age=60", false},
		{"an error", "", "Status: 500", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, _, shared := peers(t, func(w http.ResponseWriter, _ *http.Request) {
				code := 200
				fields := strings.Split(tt.answer, "\n")
				if fields[0] == "Status: 500" {
					code, fields = 500, nil
				}
				respond(w, code, "hello", fields...)
			})
			var fields []string
			if tt.request != "" {
				fields = append(fields, tt.request)
			}
			a.get(fields...)
			_ = a.cache.Close()
			if got := len(shared.told) == 1; got != tt.told {
				t.Errorf("told: %t, want %t", got, tt.told)
			}
		})
	}
}

func TestRequestsThatPeersAreNotAskedFor(t *testing.T) {
	for _, field := range []string{
		"Cache-Control: no-cache", "Cache-Control: no-store", "Cache-Control: max-age=0", "Cache-Control: only-if-cached",
		"Authorization: Basic YTpi", "Cookie: a=b", "X-Api-Key: secret", "Range: bytes=0-1",
	} {
		t.Run(field, func(t *testing.T) {
			a, _, shared := peers(t, fixed("hello", "Cache-Control: max-age=60"))
			a.get(field)
			_ = a.cache.Close()
			if shared.asked != 0 {
				t.Error("peers were asked")
			}
		})
	}
	t.Run("HEAD", func(t *testing.T) {
		a, _, shared := peers(t, fixed("", "Cache-Control: max-age=60"))
		a.do(a.request(http.MethodHead, "/"))
		if shared.asked != 0 {
			t.Error("peers were asked")
		}
	})
}

func TestManyRequestsAskPeersOnce(t *testing.T) {
	a, b, shared := peers(t, fixed("hello", "Cache-Control: max-age=60"))
	a.get()
	shared.asked = 0
	var group sync.WaitGroup
	for range 20 {
		group.Go(func() {
			if g, err := b.try(b.request(http.MethodGet, "/")); err != nil || g.body != "hello" ||
				!strings.Contains(g.status, "hit") {
				t.Errorf("%q %q, %v", g.body, g.status, err)
			}
		})
	}
	group.Wait()
	a.wantAsked(1)
	if shared.asked != 1 {
		t.Errorf("peers were asked %d times", shared.asked)
	}
}

func TestAPeersAnswerToAnotherVariantDoesNotAnswer(t *testing.T) {
	a, b, _ := peers(t, func(w http.ResponseWriter, req *http.Request) {
		respond(w, 200, req.Header.Get("Accept-Language"), "Vary: Accept-Language", "Cache-Control: max-age=60")
	})
	a.get("Accept-Language: de")
	if g := b.get("Accept-Language: fr"); g.body != "fr" || g.status != "readthru; fwd=uri-miss; fwd-status=200; stored" {
		t.Errorf("%q %q", g.body, g.status)
	}
	if g := b.get("Accept-Language: de"); g.body != "de" || !strings.HasSuffix(g.status, "detail=peer") {
		t.Errorf("%q %q", g.body, g.status)
	}
	a.wantAsked(2)
}

// A reload that finds the page gone is answered without peers, which may have stored it: they are told to drop it.
func TestPeersDropWhatAReloadFindsGone(t *testing.T) {
	status := http.StatusOK
	_, b, _ := peers(t, func(w http.ResponseWriter, _ *http.Request) {
		respond(w, status, "page", map[int]string{200: "Cache-Control: max-age=60", 404: "X-A: b"}[status])
	})
	if err := b.store.TellPurges(true); err != nil {
		t.Fatal(err)
	}
	b.get("Cache-Control: no-cache")
	if n := b.store.PurgeCount(); n != 0 {
		t.Errorf("%d purges by a page that is there", n)
	}
	if _, err := b.store.DeleteResponses(cache.Key(b.request(http.MethodGet, "/"))); err != nil {
		t.Fatal(err)
	}
	before := b.store.PurgeCount()
	status = http.StatusNotFound
	b.get("Cache-Control: no-cache") // it has nothing stored itself
	if n := b.store.PurgeCount() - before; n != 1 {
		t.Errorf("%d purges by a page that is gone, want 1", n)
	}
}
