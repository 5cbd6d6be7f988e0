package cache_test

import (
	"fmt"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/readthru/readthru/cache"
	"github.com/readthru/readthru/internal/needs"
)

// TestNoReaderGetsAnOlderResponseThanWasGivenBefore plays every short history of an agent and a browser that read and
// reload a page, which changes: a hit is never older than what the cache gave before (RFC 9111 §4). An origin that
// negotiates without saying so never has its HTML given to the agent, and its markdown says nothing of its HTML.
func TestNoReaderGetsAnOlderResponseThanWasGivenBefore(t *testing.T) {
	const agent, browser, reload = "Accept: text/markdown, text/html;q=0.9", "Accept: text/html", "Cache-Control: no-cache"
	var version int
	r := newRig(t, cache.Options{}, func(w http.ResponseWriter, req *http.Request) {
		form := "html"
		if strings.Contains(req.URL.Path, "negotiates") && strings.Contains(req.Header.Get("Accept"), "text/markdown") ||
			strings.Contains(req.URL.Path, "markdown") {
			form = "markdown"
		}
		fields := []string{"Cache-Control: max-age=600", "Content-Type: text/" + form}
		if strings.Contains(req.URL.Path, "varies") {
			fields = append(fields, "Vary: Accept-Encoding")
		}
		content := fmt.Sprint(form, " ", version)
		if tag := strconv.Quote(content); strings.Contains(req.URL.Path, "tags") {
			fields = append(fields, "ETag: "+tag)
			if strings.Contains(req.Header.Get("If-None-Match"), tag) {
				respond(w, 304, "", fields...)
				return
			}
		}
		respond(w, 200, content, fields...)
	})
	steps := map[string][]string{
		"agent": {agent}, "agent reloads": {agent, reload}, "browser": {browser}, "browser reloads": {browser, reload},
	}
	play := func(path, origin string, history []string) {
		version = 0
		newest := map[string]int{} // by form
		for _, step := range history {
			if step == "change" {
				version++
				continue
			}
			g := r.do(r.request(http.MethodGet, path, steps[step]...))
			form, text, _ := strings.Cut(g.body, " ")
			got, err := strconv.Atoi(text)
			if err != nil {
				t.Fatalf("%d %q", g.code, g.body)
			}
			want, least := "html", newest["html"]
			if origin == "markdown" { // to everybody
				want, least = "markdown", newest["markdown"]
			}
			if negotiates := strings.Contains(origin, "negotiates"); negotiates && steps[step][0] == agent {
				want, least = "markdown", max(newest["html"], newest["markdown"])
			}
			if form != want || got < least {
				t.Errorf("origin %q, %q, %s: %q (%s), want %s of version %d or later", origin, history, step, g.body, g.status,
					want, least)
			}
			newest[form] = max(newest[form], got)
		}
	}
	names := []string{"agent", "agent reloads", "browser", "browser reloads", "change"}
	histories, long := [][]string{{}}, 4
	if os.Getenv("READTHRU_FULL_SIZE") != "" {
		long = 5 // 93,750 requests
	} else if needs.Brief() {
		long = 3
	}
	for range long {
		var longer [][]string
		for _, h := range histories {
			for _, name := range names {
				longer = append(longer, append(slices.Clone(h), name))
			}
		}
		histories = longer
	}
	histories = slices.DeleteFunc(histories, func(h []string) bool { // what equals a shorter one
		for i, step := range h {
			if step == "change" && (i == 0 || i == len(h)-1 || h[i-1] == "change") {
				return true
			}
		}
		return false
	})
	for _, origin := range []string{
		"plain", "varies", "tags", "varies-tags", "negotiates", "negotiates-tags", "markdown",
	} {
		for i, history := range histories {
			play(fmt.Sprintf("/%s/%d", origin, i), origin, history)
		}
	}
}

func TestANewerResponseInAnotherFormIsNoReasonToAskWhenItSaysTheSame(t *testing.T) {
	r := newRig(t, cache.Options{}, fixed("<p>html", "Cache-Control: max-age=60", "Content-Type: text/html"))
	const agent, browser = "Accept: text/markdown", "Accept: text/html"
	r.get(agent)
	r.get(browser, "Cache-Control: no-cache")
	for range 2 {
		if g := r.get(agent); !strings.HasPrefix(g.status, "readthru; hit; ttl=") {
			t.Errorf("%q", g.status)
		}
	}
	r.wantAsked(2)
}

// Where the origin is not to be asked, the newest answers, in whichever form, but a server error replaces no page.
func TestTheNewestAnswersWhenTheOriginIsNotAsked(t *testing.T) {
	const agent, browser = "Accept: text/markdown", "Accept: text/html"
	for _, tt := range []struct {
		name   string
		status int
		want   string
	}{
		{"page", 200, "new"},
		{"gone", 410, "new"},
		{"server error", 503, "old"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			status, body := 200, "old"
			down := false
			r := newRig(t, cache.Options{}, func(w http.ResponseWriter, _ *http.Request) {
				if down {
					panic(http.ErrAbortHandler)
				}
				respond(w, status, body, "Cache-Control: max-age=60", "Content-Type: text/html")
			})
			r.get(agent)
			status, body = tt.status, "new"
			r.get(browser, "Cache-Control: no-cache")
			down = true
			if g := r.get(agent); g.body != tt.want {
				t.Errorf("while the origin is down: %q (%s), want %q", g.body, g.status, tt.want)
			}
			if g := r.get(agent, "Cache-Control: only-if-cached"); g.body != tt.want {
				t.Errorf("without the origin: %q (%s), want %q", g.body, g.status, tt.want)
			}
		})
	}
}

// An answer that is not stored may say all the same that nothing is there any more, or that it is elsewhere (RFC 9111
// §4.3.3): what was stored before answers no other reader then.
func TestAnAnswerThatIsNotStoredOutdatesWhatIs(t *testing.T) {
	const agent, browser, reload = "Accept: text/markdown", "Accept: text/html", "Cache-Control: no-cache"
	for _, tt := range []struct {
		name   string
		status int
		field  string // of the answer
		asked  string // of the request that gets it
		want   string // what the others get then
	}{
		{"not found", 404, "X-A: b", reload, "new"},
		{"gone", 410, "X-A: b", reload, "new"},
		{"gone, to who asks for a part", 410, "X-A: b", reload + "\nRange: bytes=0-1", "new"},
		{"perhaps a bot wall", 200, "Cache-Control: no-store", reload, "old"},
		{"moved", 301, "Location: /there", reload, "new"},
		{"moved for the moment", 302, "Location: /there", reload, "old"},
		{"forbidden", 403, "X-A: b", reload, "old"},
		{"too many", 429, "X-A: b", reload, "old"},
		{"server error", 500, "X-A: b", reload, "old"},
		{"of one reader", 404, "X-A: b", reload + "\nCookie: a=b", "old"},
		{"of who leaves no trace", 404, "X-A: b", "Cache-Control: no-store", "old"},
	} {
		for _, first := range []string{agent, browser} {
			for _, second := range []string{agent, browser} {
				t.Run(tt.name, func(t *testing.T) {
					status, body, field := 200, "old", "Cache-Control: max-age=60"
					r := newRig(t, cache.Options{}, func(w http.ResponseWriter, _ *http.Request) {
						respond(w, status, body, field, "Content-Type: text/html")
					})
					r.get(first)
					status, body, field = tt.status, "new", tt.field
					if g := r.get(append([]string{second}, strings.Split(tt.asked, "\n")...)...); g.body != "new" {
						t.Fatalf("the reload: %q (%s)", g.body, g.status)
					}
					if g := r.get(first); g.body != tt.want {
						t.Errorf("then: %q (%s), want %q", g.body, g.status, tt.want)
					}
				})
			}
		}
	}
}

// In a private cache, what one reader is told outdates what that reader had.
func TestAnAnswerOfOneReaderOutdatesNothingOfAnother(t *testing.T) {
	o := cache.Options{Private: true, PartitionKey: []byte("k")}
	r := newRig(t, o, func(w http.ResponseWriter, req *http.Request) {
		if req.Header.Get("Cache-Control") == "no-cache" {
			respond(w, 404, "none")
			return
		}
		respond(w, 200, "page", "Cache-Control: max-age=60")
	})
	const ann, bob = "Authorization: a", "Authorization: b"
	r.get(ann)
	r.get(bob)
	r.get(ann, "Cache-Control: no-cache")
	if g := r.get(bob); !strings.Contains(g.status, "hit") {
		t.Errorf("the other reader: %s", g.status)
	}
	if g := r.get(ann); strings.Contains(g.status, "hit") {
		t.Errorf("the reader: %s", g.status)
	}
}
