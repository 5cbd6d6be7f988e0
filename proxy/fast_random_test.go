package proxy_test

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/readthru/readthru/cache"
	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/internal/needs"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/proxy"
	"github.com/readthru/readthru/store"
)

// twin is a proxy with a store of its own.
type twin struct {
	*bench
	store   *store.Store
	parking string // address of a listener that parks connections at once; it gets every second one
	opened  atomic.Int64
}

// newTwins returns a proxy that gives answers again and one that does not, in front of the same origin.
func newTwins(t *testing.T, origin http.Handler, rule func(*url.URL) cache.Rule) (fast, slow *twin) {
	t.Helper()
	fast, slow = new(twin), new(twin)
	for memory, tw := range map[int64]*twin{600 << 10: fast, 0: slow} {
		st, err := store.Open(store.Options{Dir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = st.Close() })
		tw.store = st
		names := origins{"*:80": plainOrigin(t, origin.ServeHTTP), "*:443": tlsOrigin(t, origin.ServeHTTP)}
		tw.bench = newBench(t, names, func(o *proxy.Options) {
			c := cache.New(cache.Options{
				Page: page.IsPage, Markdown: page.IsMarkdown, Store: st, Next: o.Transport, Rule: rule,
			})
			f := fetch.New(fetch.Options{
				Client: c, Direct: o.Transport, Store: st, FrontMatter: true, MarkdownNew: fetch.MarkdownNew{Mode: "off"},
			})
			t.Cleanup(func() {
				_ = f.Close()
				_ = c.Close()
			})
			o.Client, o.Fetch, o.Memory, o.Store, o.Log = c, f, memory, st, nil
		})
	}
	return fast, slow
}

// rotating is an origin whose resources change: each host has versions of its own.
type rotating struct {
	versions [8]atomic.Int64
	date     string
}

func hostNumber(host string) int {
	n, _ := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(host, "h"), ".test"))
	return n
}

func (o *rotating) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	h := w.Header()
	version := o.versions[hostNumber(r.Host)].Load()
	tag := fmt.Sprintf(`"%d"`, version)
	h["Date"] = []string{o.date}
	h.Set("Cache-Control", "max-age=100000")
	h.Set("Etag", tag)
	kind, n, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	text := fmt.Sprintf("%s %s, version %d: %s", r.Method, r.URL.Path, version, body)
	switch kind {
	case "html":
		h.Set("Content-Type", "text/html; charset=utf-8")
		text = fmt.Sprintf("<!doctype html><title>%[1]s</title><main><h1>%[1]s</h1>%s</main>", text,
			strings.Repeat("<p>Enough words to be read as a page that says something to its reader, and more of them.</p>", 8))
	case "large":
		h.Set("Content-Type", "text/plain")
		text += strings.Repeat("0123456789abcdef", 4<<10)
	case "private":
		h.Set("Content-Type", "text/plain")
		h.Set("Cache-Control", "no-store")
	default:
		h.Set("Content-Type", "text/plain")
	}
	if n == "cookie" {
		h.Set("Set-Cookie", "a=b")
	}
	if r.Header.Get("If-None-Match") == tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Length", strconv.Itoa(len(text)))
	io.WriteString(w, text)
}

// line is a connection to a proxy.
type line struct {
	net.Conn
	r    *bufio.Reader
	used time.Time
}

// open opens a connection to the proxy; inside a tunnel to host, if that is not empty.
func (tw *twin) open(t *testing.T, host string) (*line, error) {
	t.Helper()
	addr := tw.addr
	if tw.parking != "" && tw.opened.Add(1)%2 == 0 {
		addr = tw.parking
	}
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", addr)
	if err != nil {
		return nil, err
	}
	_ = conn.SetDeadline(time.Now().Add(10 * time.Minute))
	if host == "" {
		return &line{Conn: conn, r: bufio.NewReader(conn)}, nil
	}
	if _, err := fmt.Fprintf(conn, "CONNECT %[1]s:443 HTTP/1.1\r\nHost: %[1]s:443\r\n\r\n", host); err != nil {
		return nil, err
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: http.MethodConnect})
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	secure := tls.Client(conn, &tls.Config{RootCAs: tw.roots, ServerName: host})
	return &line{Conn: secure, r: bufio.NewReader(secure)}, secure.HandshakeContext(t.Context())
}

// asked is one request and its method.
type asked struct{ method, text string }

// send writes requests, cut at the given places, and returns the answers in a form that must be equal.
func (l *line) send(requests []asked, cuts []int) (answers []string, err error) {
	var text strings.Builder
	for _, r := range requests {
		text.WriteString(r.text)
	}
	written := make(chan error, 1)
	go func() { // the answers to the first may have to be read before the last is taken
		rest, done := text.String(), 0
		for _, cut := range append(cuts, len(rest)) {
			if cut <= done || cut > text.Len() {
				continue
			}
			if _, err := io.WriteString(l, text.String()[done:cut]); err != nil {
				written <- err
				return
			}
			done = cut
		}
		written <- nil
	}()
	for _, r := range requests {
		resp, err := http.ReadResponse(l.r, &http.Request{Method: r.method})
		if err == nil && resp.StatusCode == http.StatusContinue {
			resp, err = http.ReadResponse(l.r, &http.Request{Method: r.method})
		}
		if err != nil {
			return answers, fmt.Errorf("%.80q: %w", r.text, err)
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil {
			return answers, fmt.Errorf("%.80q: body: %w", r.text, err)
		}
		h := maps.Clone(resp.Header)
		delete(h, "Age")
		delete(h, "Date")
		var head strings.Builder
		_ = h.Write(&head) // into memory
		answers = append(answers, fmt.Sprintf("%s\n%s\n%s", resp.Status, different.ReplaceAllString(head.String(), ""), body))
	}
	return answers, <-written
}

// different is what two proxies state differently. A body may be delivered before it is known that it is stored.
var different = regexp.MustCompile(`ttl=\d+|; stored|readthru-[0-9a-f]{8}`)

// request returns a request at random; target is what precedes its path. Many are equal to earlier ones.
func randomRequest(r *rand.Rand, target, host string) asked {
	path := []string{
		"/text/1", "/text/1", "/html/1", "/html/1", "/html/2", "/large/1", "/private/1", "/text/cookie",
	}[r.IntN(8)]
	head := fmt.Sprintf("%s HTTP/1.1\r\nHost: %s\r\nUser-Agent: agent/%d\r\n", target+path, host, r.IntN(20)/19)
	method, body := "GET", ""
	switch n := r.IntN(100); {
	case n < 70:
		head += "Accept: */*\r\nConnection: keep-alive\r\n"
	case n < 75:
		head += "Accept: */*\r\n"
	case n < 78:
		method = "HEAD"
	case n < 81: // content that looks like a request
		method, body = "POST", "GET "+target+"/text/1 HTTP/1.1\r\nHost: "+host+"\r\n\r\n"
		head += fmt.Sprintf("Content-Length: %d\r\n", len(body))
	case n < 84:
		method, body = "POST", "GET "+target+"/text/2 HTTP/1.1\r\n\r\n"
		body = fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(body), body)
		head += "Transfer-Encoding: chunked\r\n"
	case n < 86: // a GET with content
		body = "GET / HTTP/1.1\r\n\r\n"
		head += fmt.Sprintf("Content-Length: %d\r\n", len(body))
	default:
		head += []string{
			"Cookie: sid=1\r\n", "Authorization: Basic eDp5\r\n", "Cache-Control: no-cache\r\n", "Pragma: no-cache\r\n",
			"If-None-Match: \"0\"\r\n", "If-Modified-Since: Thu, 01 Jan 2026 00:00:00 GMT\r\n", "Range: bytes=1-3\r\n",
			"X-Readthru-Mode: raw\r\n", "X-Readthru-Session: s\r\n", "Proxy-Connection: Keep-Alive\r\n",
			"X-Pad: " + strings.Repeat("x", 100+r.IntN(9000)) + "\r\n",
			"Accept: text/html\r\nSec-Fetch-Dest: document\r\nSec-Fetch-Mode: navigate\r\n", "Accept: text/markdown\r\n",
			"Accept: text/plain\r\n", "TE: trailers\r\n", "Expect: 100-continue\r\n", "X-Api-Key: k\r\n",
		}[r.IntN(17)]
	}
	if strings.Contains(head, "Expect") && body == "" {
		method, body = "POST", "x"
		head += "Content-Length: 1\r\n"
	}
	if strings.Contains(head, "Accept: text/html") || strings.Contains(head, "Accept: text/plain") {
		head = strings.Replace(head, path, "/text/1", 1) // pages become visits in the background, too late to be compared
	}
	if method == "POST" && r.IntN(5) > 0 { // else it invalidates what others get
		head = strings.Replace(head, path, "/post/1", 1)
	}
	return asked{method, method + " " + head + "\r\n" + body}
}

// Every answer of a proxy that gives answers again must be that of one that does not, whatever requests come, however
// they are cut, and whatever changes between them. READTHRU_FAST_REQUESTS sets the number of requests, and
// READTHRU_FAST_SEED what is drawn.
func TestAnswersGivenAgainAreThoseOfTheSlowPath(t *testing.T) {
	number := func(name string, or int) int {
		if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
			return n
		}
		return or
	}
	const workers, lines = 8, 50 // lines of each kind a worker
	few := 2640
	if needs.Brief() {
		few = 240
	}
	requests, seed := number("READTHRU_FAST_REQUESTS", few), number("READTHRU_FAST_SEED", 1)
	origin := &rotating{date: time.Now().UTC().Format(http.TimeFormat)}
	var bypassed [workers]atomic.Bool
	fast, slow := newTwins(t, origin, func(u *url.URL) cache.Rule {
		return cache.Rule{Bypass: bypassed[hostNumber(u.Hostname())].Load()}
	})
	fast.parking, _ = park(t, fast.proxy)
	var sent atomic.Int64
	work := func(w int) error {
		r := rand.New(rand.NewPCG(uint64(seed), uint64(w)))
		host := fmt.Sprintf("h%d.test", w)
		var pairs [2 * lines][2]*line
		for n := 0; n < requests/workers; {
			i := r.IntN(len(pairs))
			tunnel, target := host, ""
			if i >= lines {
				tunnel, target = "", "http://"+host
			}
			for side, tw := range []*twin{fast, slow} {
				if l := pairs[i][side]; l == nil || time.Since(l.used) > 30*time.Second { // idle ones are closed after a while
					l, err := tw.open(t, tunnel)
					if err != nil {
						return err
					}
					defer func() { _ = l.Close() }()
					pairs[i][side] = l
				}
				pairs[i][side].used = time.Now()
			}
			switch r.IntN(120) {
			case 0: // the source changes, and is purged
				origin.versions[w].Add(1)
				fallthrough
			case 1:
				for _, tw := range []*twin{fast, slow} {
					if _, err := tw.store.DeleteHostResponses(host); err != nil {
						return err
					}
				}
			case 2: // a rule changes
				if r.IntN(workers) > 0 {
					break // it drops the answers of all
				}
				bypassed[w].Store(!bypassed[w].Load())
				fast.proxy.DropAnswers()
			}
			batch := []asked{randomRequest(r, target, host)}
			for r.IntN(12) == 0 {
				batch = append(batch, randomRequest(r, target, host)) // pipelined
			}
			var cuts []int
			if r.IntN(8) == 0 {
				at := 0
				for at < 400 {
					at += 1 + r.IntN(1+r.IntN(60))
					cuts = append(cuts, at)
				}
			}
			n += len(batch)
			sent.Add(int64(len(batch)))
			want, err := pairs[i][1].send(batch, cuts)
			if err != nil {
				return fmt.Errorf("slow: %w", err)
			}
			got, err := pairs[i][0].send(batch, cuts)
			if err != nil {
				return fmt.Errorf("fast: %w", err)
			}
			if r.IntN(10) == 0 { // many requests end the giving on a connection
				_ = pairs[i][0].Close()
				_ = pairs[i][1].Close()
				pairs[i] = [2]*line{}
			}
			for k := range want {
				if got[k] != want[k] {
					return fmt.Errorf("the answer to %.200q (%d of %d) is\n%.700s\nwant\n%.700s", batch[k].text, k+1, len(want),
						got[k], want[k])
				}
			}
		}
		return nil
	}
	var group sync.WaitGroup
	for w := range workers {
		group.Go(func() {
			if err := work(w); err != nil {
				t.Errorf("seed %d, worker %d: %v", seed, w, err)
			}
		})
	}
	group.Wait()
	stats := fast.proxy.Repeats()
	t.Logf("%d requests, %+v", sent.Load(), stats)
	if stats.Repeated < sent.Load()/50 || stats.Read == 0 && !needs.Brief() {
		t.Errorf("of %d requests too few were answered again: %+v", sent.Load(), stats)
	}
	if n := slow.proxy.Stats(); n.Total != fast.proxy.Stats().Total {
		t.Errorf("%d requests were counted, want %d", fast.proxy.Stats().Total, n.Total)
	}
	if got, want := fast.store.Totals(), slow.store.Totals(); got.Visits != want.Visits ||
		got.MarkdownTokens != want.MarkdownTokens || got.HTMLTokens != want.HTMLTokens {
		t.Errorf("totals %+v, want %+v", got, want)
	}
}
