package cache_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/readthru/readthru/cache"
	"github.com/readthru/readthru/internal/needs"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// TestNothingOfOneReaderAnswersAnother asks as one reader, then as another and as nobody, for every combination of what
// the origin says, the type of content, the field that tells who asks, and how each of them asks. In shared mode, a
// second node of a fleet is asked, too. It counts the answers that belong to another reader and that the origin has not
// allowed by name: there must be none. What it has allowed must be shared.
func TestNothingOfOneReaderAnswersAnother(t *testing.T) {
	for _, mode := range []string{"shared", "private"} {
		t.Run(mode, func(t *testing.T) {
			m := newMatrix(t, mode == "private")
			every, n := 11, 0 // eleven and 43 divide none of the numbers of each
			switch {
			case os.Getenv("READTHRU_FULL_SIZE") != "": // as make slow sets it
				every = 1
			case needs.Brief():
				every = 43
			}
			for _, said := range sayings {
				for _, kind := range kindsOfContent {
					for _, who := range whoAsks {
						for _, first := range waysToAsk {
							if n++; n%every == 0 {
								m.try(said, kind, who, first, fmt.Sprintf("/%d", n))
							}
						}
					}
				}
			}
			t.Logf("%d answers to others; %d of the first were shared, as their origin allowed", m.answers, m.shared)
		})
	}
}

// A saying is what an origin says of caching.
type saying struct {
	fields []string
	names  bool // it allows others by name, for all credentials but Authorization
	author bool // … for Authorization as well (RFC 9111 §3.5)
}

var sayings = []saying{
	{[]string{"Cache-Control: max-age=600"}, false, false},
	{[]string{"Cache-Control: max-age=600, immutable"}, false, false},
	{[]string{"Cache-Control: max-age=600, must-revalidate"}, false, true},
	{[]string{"Cache-Control: max-age=600", "Vary: Accept"}, false, false},
	{[]string{"Cache-Control: max-age=0, stale-while-revalidate=600"}, false, false},
	{[]string{"Cache-Control: max-age=0, stale-if-error=600"}, false, false},
	{[]string{"Cache-Control: no-cache"}, false, false},
	{[]string{`Cache-Control: max-age=600, no-cache="x-a"`}, false, false},
	{[]string{"Cache-Control: must-understand, no-store, max-age=600"}, false, false},
	{[]string{"Expires: Thu, 01 Jan 2099 00:00:00 GMT"}, false, false},
	{[]string{"Last-Modified: Wed, 01 Jan 2020 00:00:00 GMT"}, false, false},
	{nil, false, false},
	{[]string{"Cache-Control: private, max-age=600"}, false, false},
	{[]string{"Cache-Control: max-age=600", "Vary: Cookie, X-Api-Key, X-Session-Token, X-Nobody-Knows"}, false, false},
	{[]string{"Cache-Control: public, max-age=600"}, true, true},
	{[]string{"Cache-Control: s-maxage=600"}, true, true},
}

var kindsOfContent = []string{
	"text/html", "text/markdown", "application/pdf", "application/json", "text/plain", "image/png",
	"application/octet-stream", "",
}

// A credential is fields that tell who asks: %s is the reader.
type credential struct {
	name   string
	fields []string
}

var whoAsks = []credential{
	{"cookie", []string{"Cookie: sid=%s"}},
	{"authorization", []string{"Authorization: Bearer %s"}},
	{"key", []string{"X-Api-Key: %s"}},
	{"session", []string{"X-Session-Token: %s"}},
	{"unknown", []string{"X-Nobody-Knows: %s"}},
	{"two", []string{"Accept-Language: en", "Cookie: theme=dark", "X-Api-Key: %s"}},
}

// A wayToAsk is a method and fields of a request.
type wayToAsk struct {
	method string
	fields []string
}

var waysToAsk = []wayToAsk{
	{"GET", nil},
	{"HEAD", nil},
	{"GET", []string{"Range: bytes=0-3"}},
	{"GET", []string{"Accept: text/markdown"}},
	{"GET", []string{"Cache-Control: max-stale"}},
	{"GET", []string{"Cache-Control: only-if-cached"}},
	{"GET", []string{`If-None-Match: "ALICE"`}},
	{"GET", []string{`If-Range: "ALICE"`, "Range: bytes=4-"}},
}

// A matrix asks caches before an origin that answers each reader something else.
type matrix struct {
	t       *testing.T
	private bool
	nodes   []*cache.Cache // of a fleet
	mu      sync.Mutex     // of the next two, which the origin reads in the background, too
	said    []string       // by the origin, of caching
	kind    string         // of content
	fails   atomic.Bool    // the origin does not answer
	answers int            // to others
	shared  int            // answers that others got, which their origin allows
}

func newMatrix(t *testing.T, private bool) *matrix {
	t.Helper()
	m := &matrix{t: t, private: private}
	told := &board{}
	for range 2 {
		st, err := store.Open(store.Options{Dir: t.TempDir(), Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		c := cache.New(cache.Options{
			Store: st, Next: m, Log: slog.New(slog.DiscardHandler), Private: private, PartitionKey: []byte("key"),
			Page: page.IsPage, Markdown: page.IsMarkdown,
		})
		t.Cleanup(func() {
			_ = c.Close()
			_ = st.Close()
		})
		if !private {
			c.Join(reader{told, st})
		}
		m.nodes = append(m.nodes, c)
	}
	return m
}

// RoundTrip is the origin. What it answers has the name of the reader in its content, its entity tag and a field.
func (m *matrix) RoundTrip(req *http.Request) (*http.Response, error) {
	if m.fails.Load() {
		return nil, errors.New("the origin does not answer")
	}
	of := "NOBODY"
	for _, lines := range req.Header {
		for _, name := range []string{"ALICE", "BOB"} {
			if strings.HasSuffix(lines[0], name) {
				of = name
			}
		}
	}
	h := http.Header{"Etag": {strconv.Quote(of)}, "X-Of": {of}}
	m.mu.Lock()
	said, kind := m.said, m.kind
	m.mu.Unlock()
	if kind != "" {
		h.Set("Content-Type", kind)
	}
	for _, field := range said {
		name, value, _ := strings.Cut(field, ": ")
		h.Add(name, value)
	}
	body := []byte(strings.Repeat(of+" ", 3))
	status := http.StatusOK
	switch asked := req.Header.Get("Range"); {
	case req.Header.Get("If-None-Match") == h.Get("Etag"):
		status, body = http.StatusNotModified, nil
	case asked != "" && (req.Header.Get("If-Range") == "" || req.Header.Get("If-Range") == h.Get("Etag")):
		from, to := 0, 3
		if strings.HasSuffix(asked, "4-") {
			from, to = 4, len(body)-1
		}
		h.Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, to, len(body)))
		status, body = http.StatusPartialContent, body[from:to+1]
	}
	if req.Method == http.MethodHead {
		body = nil
	}
	return &http.Response{
		StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: h, Request: req,
		Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)),
	}, nil
}

// say sets what the origin says of caching, and the type of its content.
func (m *matrix) say(said []string, kind string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.said, m.kind = said, kind
}

// ask asks a node as a reader, and returns header and content of the response, and its status with the cache's outcome.
func (m *matrix) ask(node int, reader string, who []string, way wayToAsk, path string,
) (h http.Header, body, outcome string) {
	m.t.Helper()
	req, err := http.NewRequestWithContext(m.t.Context(), way.method, "https://origin.test"+path, http.NoBody)
	if err != nil {
		m.t.Fatal(err)
	}
	fields := way.fields
	if reader != "" {
		fields = slices.Concat(fields, who)
	}
	for _, field := range fields {
		name, value, _ := strings.Cut(field, ": ")
		req.Header.Set(name, strings.ReplaceAll(value, "%s", reader))
	}
	resp, err := m.nodes[node].RoundTrip(req)
	if err != nil {
		return http.Header{}, err.Error(), ""
	}
	defer resp.Body.Close()
	content, _ := io.ReadAll(resp.Body)
	return resp.Header, string(content), fmt.Sprint(resp.StatusCode, " ", cache.OutcomeOf(resp))
}

// try asks for a path as Alice, then as others.
func (m *matrix) try(said saying, kind string, who credential, first wayToAsk, path string) {
	m.t.Helper()
	m.say(said.fields, kind)
	m.fails.Store(false)
	if h, body, _ := m.ask(0, "ALICE", who.fields, first, path); strings.Contains(body, "BOB") {
		m.t.Fatalf("%v: the first gets %s", h, body)
	}
	_, _, _ = m.ask(0, "ALICE", who.fields, wayToAsk{"GET", nil}, path)
	byAuthor := who.name == "authorization"
	allowed := (said.names || said.author && byAuthor) && !page.IsPage(kind) && (!m.private || !byAuthor)
	got := false
	for _, fails := range []bool{false, true} {
		m.fails.Store(fails)
		for _, reader := range []string{"BOB", ""} {
			for node := range m.nodes {
				for _, then := range waysToAsk {
					h, body, outcome := m.ask(node, reader, who.fields, then, path)
					m.answers++
					foreign := strings.Contains(body, "ALIC") || h.Get("X-Of") == "ALICE" ||
						h.Get("Etag") == `"ALICE"`
					got = got || foreign
					if foreign && !allowed {
						m.t.Errorf("%v, %q by %s %v: %q at node %d by %s %v gets %s: %q", said.fields, kind, who.name, first,
							reader, node, then.method, then.fields, outcome, body)
					}
				}
			}
		}
	}
	if got {
		m.shared++
	}
	if allowed && !got && !m.private { // a private cache knows no s-maxage
		m.t.Errorf("%v, %q by %s %v: nobody gets what the origin allows", said.fields, kind, who.name, first)
	}
}

// TestReadersWhoAskAtOnceShareNothing asks as three readers at once, for every type of content and field that tells who
// asks, of an origin that answers when all wait.
func TestReadersWhoAskAtOnceShareNothing(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		st, err := store.Open(store.Options{Dir: dir, Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		m := &matrix{t: t, said: []string{"Cache-Control: max-age=600"}}
		var release chan struct{}
		c := cache.New(cache.Options{
			Store: st, Log: slog.New(slog.DiscardHandler), Page: page.IsPage, Markdown: page.IsMarkdown,
			Next: roundTripper(func(req *http.Request) (*http.Response, error) {
				<-release
				return m.RoundTrip(req)
			}),
		})
		m.nodes = []*cache.Cache{c}
		for _, kind := range kindsOfContent {
			m.say(m.said, kind)
			for _, who := range whoAsks {
				for i, way := range waysToAsk {
					release = make(chan struct{})
					var wg sync.WaitGroup
					for _, reader := range []string{"ALICE", "BOB", "", "ALICE", "BOB", ""} {
						wg.Go(func() {
							h, body, _ := m.ask(0, reader, who.fields, way, fmt.Sprintf("/%s/%s/%d", kind, who.name, i))
							of := h.Get("X-Of")
							if of != "" && of != "NOBODY" && of != reader {
								t.Errorf("%q by %s, %s %v: %q gets %s %q", kind, who.name, way.method, way.fields, reader, of, body)
							}
						})
					}
					synctest.Wait()
					close(release)
					wg.Wait()
				}
			}
		}
		_ = c.Close()
		_ = st.Close()
	})
}
