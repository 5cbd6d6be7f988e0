package proxy_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/readthru/readthru/cache"
	"github.com/readthru/readthru/certs"
	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/proxy"
	"github.com/readthru/readthru/store"
)

// still is a proxy with its store and origin in a bubble of synctest. Its connections are pipes, which hold no byte: a
// client that stops reading stops the proxy at once.
type still struct {
	proxy *proxy.Proxy
	net   *memoryNet
	roots *x509.CertPool
	asked atomic.Int64 // requests to the origin
	stop  func()
}

// newStill starts a proxy whose origin answers with as many bytes of text as a path says, fresh for a minute.
func newStill(t *testing.T, dir string, memory int64) *still {
	t.Helper()
	authority, err := certs.Open(certs.Options{Dir: dir + "/ca"})
	if err != nil {
		t.Fatal(err)
	}
	st, err := store.Open(store.Options{Dir: dir + "/store"})
	if err != nil {
		t.Fatal(err)
	}
	s := &still{
		net: &memoryNet{conns: make(chan net.Conn), done: make(chan struct{})}, roots: x509.NewCertPool(),
	}
	s.roots.AddCert(authority.Certificate())
	origin := roundTrip(func(r *http.Request) (*http.Response, error) {
		s.asked.Add(1)
		n, err := strconv.Atoi(r.URL.Path[1:])
		return &http.Response{
			StatusCode: http.StatusOK, ProtoMajor: 1, ProtoMinor: 1, Request: r, ContentLength: int64(n),
			Body: io.NopCloser(strings.NewReader(strings.Repeat("x", n))),
			Header: http.Header{
				"Content-Type": {"text/plain"}, "Cache-Control": {"max-age=60"}, "Content-Length": {strconv.Itoa(n)},
				"Date": {time.Now().UTC().Format(http.TimeFormat)},
			},
		}, err
	})
	c := cache.New(cache.Options{Page: page.IsPage, Markdown: page.IsMarkdown, Store: st, Next: origin})
	f := fetch.New(fetch.Options{Client: c, Direct: origin, Store: st, MarkdownNew: fetch.MarkdownNew{Mode: "off"}})
	s.proxy, err = proxy.New(proxy.Options{
		Client: c, Fetch: f, Transport: origin, Authority: authority, Store: st, Memory: memory,
		Dial: func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("no tunnels") },
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error)
	go func() { served <- s.proxy.Serve(ctx, s.net) }()
	s.stop = func() {
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
		for _, closed := range []io.Closer{f, c, st} {
			if err := closed.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	return s
}

// dial opens a connection to the proxy, with TLS in a tunnel to a.test by the way "intercepted". It returns what
// precedes the path of a request there.
func (s *still) dial(t *testing.T, way string) (c net.Conn, r *bufio.Reader, target string) {
	t.Helper()
	c, err := s.net.dial(t.Context(), "", "")
	if err != nil {
		t.Fatal(err)
	}
	if way == "plain" {
		return c, bufio.NewReader(c), "http://a.test"
	}
	io.WriteString(c, "CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n\r\n")
	resp, err := http.ReadResponse(bufio.NewReader(c), &http.Request{Method: http.MethodConnect})
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatal(resp, err)
	}
	resp.Body.Close()
	secure := tls.Client(c, &tls.Config{RootCAs: s.roots, ServerName: "a.test", Time: time.Now})
	return secure, bufio.NewReader(secure), ""
}

// requestFor returns a request for a path behind the target.
func requestFor(target string, path any) string {
	return fmt.Sprintf("GET %s/%v HTTP/1.1\r\nHost: a.test\r\nAccept: text/plain\r\n\r\n", target, path)
}

// heap returns the bytes of the heap that are in use.
func heap() int64 {
	for range 2 { // the first moves what pools hold to where the second frees it
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// A client that stops reading an answer that is given again holds its connection and a buffer, not a copy of the
// answer. It is cut off as any other, and others get their answers meanwhile.
func TestClientsThatStopReadingAnAnswerGivenAgainAreCutOff(t *testing.T) {
	const clients, size, bound = 20, 800_000, 80_000
	for _, way := range ways[:2] {
		t.Run(way, func(t *testing.T) {
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				s := newStill(t, dir, 16<<20)
				defer s.stop()
				conns := make([]net.Conn, clients)
				var target string
				for i := range conns {
					var r *bufio.Reader
					conns[i], r, target = s.dial(t, way)
					for range 2 { // the second answer comes from the store, and is kept
						answerTo(t, conns[i], r, requestFor(target, size))
					}
				}
				before, repeated := heap(), s.proxy.Repeats().Repeated
				for _, c := range conns {
					io.WriteString(c, requestFor(target, size))
				}
				synctest.Wait()
				if got := s.proxy.Repeats().Repeated - repeated; got != clients {
					t.Errorf("%d answers are being given again, want %d", got, clients)
				}
				if each := (heap() - before) / clients; each > bound {
					t.Errorf("a client that does not read holds %d bytes, want at most %d", each, bound)
				}
				other, r, _ := s.dial(t, way)
				if head, body := answerTo(t, other, r, requestFor(target, size)); len(body) != size {
					t.Errorf("another client gets %d bytes: %s", len(body), head)
				}
				time.Sleep(95 * time.Second)
				synctest.Wait()
				for _, c := range conns {
					if n, err := io.Copy(io.Discard, c); err == nil && n >= size {
						t.Errorf("the client got %d bytes", n)
					}
					_ = c.Close()
				}
				_ = other.Close()
			})
		})
	}
}

// Clients that take a large answer at once, before it is one that is given again, have copies of it made in no more
// memory than was configured. The copies go when the clients have left, and make place for the next one.
func TestCopiesOfAnswersAreMadeInTheirMemory(t *testing.T) {
	const clients, size, memory = 20, 900_000, 8 << 20
	for _, way := range ways[:2] {
		t.Run(way, func(t *testing.T) {
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				s := newStill(t, dir, memory)
				defer s.stop()
				conns, readers := make([]net.Conn, clients), make([]*bufio.Reader, clients)
				var target string
				for i := range conns {
					conns[i], readers[i], target = s.dial(t, way)
					answerTo(t, conns[i], readers[i], requestFor(target, 100+i%2)) // with what a server holds for it
				}
				answerTo(t, conns[0], readers[0], requestFor(target, size)) // stored, and not yet kept
				before := heap()
				bodies := make([]io.ReadCloser, clients)
				for i, c := range conns[1:] {
					io.WriteString(c, requestFor(target, size))
					resp, err := http.ReadResponse(readers[i+1], nil) //nolint:bodyclose // the connection is closed in its middle
					if err != nil {
						t.Fatal(err)
					}
					bodies[i+1] = resp.Body
					if _, err := io.CopyN(io.Discard, resp.Body, size*3/4); err != nil {
						t.Fatal(err)
					}
				}
				synctest.Wait()
				if got := s.proxy.Repeats(); got.Making == 0 || got.Making > memory/4 || got.Bytes > memory {
					t.Errorf("%+v, want something in the making, and at most a quarter of %d bytes", got, memory)
				}
				if grown := heap() - before; grown > memory {
					t.Errorf("%d clients take %d bytes, want at most %d", clients, grown, memory)
				}
				for i, c := range conns[1:] { // all leave in the middle
					_ = c.Close()
					_ = bodies[i+1].Close()
				}
				synctest.Wait()
				if got := s.proxy.Repeats(); got.Making != 0 {
					t.Errorf("%+v after the clients have left", got)
				}
				for range 2 {
					answerTo(t, conns[0], readers[0], requestFor(target, size))
				}
				if got := s.proxy.Repeats(); got.Repeated == 0 || got.Making != 0 {
					t.Errorf("%+v, want that who takes all of the answer gets it again", got)
				}
				_ = conns[0].Close()
			})
		})
	}
}

// A client that reads slowly gets the whole answer.
func TestClientsThatReadAnAnswerGivenAgainSlowlyGetAllOfIt(t *testing.T) {
	const size = 300_000
	for _, way := range ways[:2] {
		t.Run(way, func(t *testing.T) {
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				s := newStill(t, dir, 16<<20)
				defer s.stop()
				c, r, target := s.dial(t, way)
				for range 2 {
					answerTo(t, c, r, requestFor(target, size))
				}
				io.WriteString(c, requestFor(target, size))
				resp, err := http.ReadResponse(r, nil)
				if err != nil {
					t.Fatal(err)
				}
				defer resp.Body.Close()
				total, piece := 0, make([]byte, 16<<10)
				for {
					time.Sleep(20 * time.Second)
					n, err := io.ReadFull(resp.Body, piece)
					if total += n; err != nil {
						break
					}
				}
				if total != size || s.proxy.Repeats().Repeated != 1 {
					t.Errorf("%d bytes of %d; %d answers given again", total, size, s.proxy.Repeats().Repeated)
				}
				_ = c.Close()
			})
		})
	}
}

// Each of many connections asks once, some stay, and some have sent only a part of a request.
func TestManyConnectionsThatAskOnceGetTheirAnswers(t *testing.T) {
	const clients = 100
	for _, way := range ways[:2] {
		t.Run(way, func(t *testing.T) {
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				s := newStill(t, dir, 1<<20)
				defer s.stop()
				var want string
				for i := range clients {
					c, r, target := s.dial(t, way)
					request := requestFor(target, 5000)
					head, body := answerTo(t, c, r, request)
					synctest.Wait() // until the answer is kept
					if head = varying.ReplaceAllString(head, ""); i == 1 {
						want = head
					}
					if len(body) != 5000 || i > 0 && head != want {
						t.Fatalf("client %d: %d bytes\n%s\nwant\n%s", i, len(body), head, want)
					}
					switch i % 3 {
					case 0:
						_ = c.Close()
					case 1: // stays
						defer func() { _ = c.Close() }()
					case 2: // begins another request
						io.WriteString(c, request[:i%len(request)])
						defer func() { _ = c.Close() }()
					}
				}
				synctest.Wait()
				got := s.proxy.Repeats()
				if got.Repeated != clients-2 || got.Answers != 1 || s.asked.Load() != 1 {
					t.Errorf("%+v; the origin was asked %d times", got, s.asked.Load())
				}
				time.Sleep(2 * time.Minute) // idle ones and those that began a request are closed
				synctest.Wait()
				if n := s.proxy.Open(); n != 0 {
					t.Errorf("%d requests are open", n)
				}
			})
		})
	}
}

// Time that passes at once, as on a machine that slept, ends answers; their age is that of the clock.
func TestAnswersGivenAgainFollowAClockThatJumps(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := newStill(t, dir, 1<<20)
		defer s.stop()
		for _, tt := range []struct {
			jump     time.Duration
			again    bool
			age, ttl string
		}{
			{0, false, "", ""}, // stored
			{0, false, "0", "60"},
			{0, true, "0", "60"},
			{30 * time.Second, true, "30", "30"},
			{29 * time.Second, true, "59", "1"},
			{time.Second, false, "", ""}, // stale
			{0, false, "0", "60"},
			{10 * time.Minute, false, "", ""},
			{0, false, "0", "60"},
			{10 * time.Second, true, "10", "50"},
		} {
			time.Sleep(tt.jump)
			before := s.proxy.Repeats().Repeated
			c, r, target := s.dial(t, "plain") // one that was idle for long is closed
			head, body := answerTo(t, c, r, requestFor(target, 100))
			_ = c.Close()
			synctest.Wait() // until the answer is kept
			if again := s.proxy.Repeats().Repeated > before; again != tt.again || len(body) != 100 ||
				tt.age != "" && (!strings.Contains(head, "\r\nAge: "+tt.age+"\r\n") ||
					!strings.Contains(head, "; ttl="+tt.ttl)) {
				t.Errorf("after %v: given again %v, want %v, aged %s with %s left:\n%s", tt.jump, again, tt.again, tt.age,
					tt.ttl, head)
			}
		}
	})
}

// Heads that nobody will send again take the place of each other, and of nothing else.
func TestAFloodOfHeadsForOnePageTakesLittleMemory(t *testing.T) {
	b, _ := newSiteBench(t, giveAgain)
	c := b.dial()
	_ = c.SetDeadline(time.Time{})
	r := bufio.NewReader(c)
	ask := func(path, agent string) string {
		_, body := answerTo(t, c, r, "GET http://a.test"+path+" HTTP/1.1\r\nHost: a.test\r\nUser-Agent: "+agent+"\r\n\r\n")
		return body
	}
	want := ask("/page", "one")
	for range 2 {
		ask("/text", "one")
	}
	for n := range 300 {
		if got := ask("/page", strings.Repeat("x", 3000)+strconv.Itoa(n)); got != want {
			t.Fatalf("head %d: %q", n, got)
		}
	}
	answers := b.proxy.Repeats().Answers
	for range 2 {
		ask("/text", "two\r\nX-Request-Id: job-7")
	}
	if got := b.proxy.Repeats().Answers; got != answers {
		t.Errorf("a head that names its request is kept: %d answers, then %d", answers, got)
	}
	if got := b.proxy.Repeats(); got.Answers < 2 || got.Answers > 20 || got.Bytes > 120_000 {
		t.Errorf("after the flood: %+v", got)
	}
	before := b.proxy.Repeats().Repeated
	if ask("/text", "one"); b.proxy.Repeats().Repeated != before+1 {
		t.Error("the flood took the place of another page's answer")
	}
}

// editions is an origin of text that states its edition, which only grows.
type editions struct{ now atomic.Int64 }

func (e *editions) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain")
	w.Header().Set("Cache-Control", "max-age=600")
	fmt.Fprintf(w, "edition %d", e.now.Load()) //nolint:errcheck // the client may leave
}

// While an address is purged all the time, nobody who asks after a purge gets what was there before it.
func TestAnswersGivenAgainEndWithAPurge(t *testing.T) {
	const purges, readers = 50, 4
	e := &editions{}
	var st *store.Store
	b := newBenchOf(t, e, func(o *proxy.Options) {
		giveAgain(o)
		st = o.Store
	})
	var purged atomic.Int64 // the edition that every later request must get
	done := make(chan struct{})
	var group sync.WaitGroup
	for range readers {
		c := b.dial()
		_ = c.SetDeadline(time.Time{}) // purges wait for two answers each, which a loaded machine takes long for
		group.Go(func() {
			r := bufio.NewReader(c)
			for {
				select {
				case <-done:
					return
				default:
				}
				least := purged.Load()
				io.WriteString(c, "GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\nAccept: text/plain\r\n\r\n")
				resp, err := http.ReadResponse(r, nil)
				if err != nil {
					t.Error(err)
					return
				}
				body, err := io.ReadAll(resp.Body)
				resp.Body.Close()
				var got int64
				if _, scanErr := fmt.Sscanf(string(body), "edition %d", &got); err != nil || scanErr != nil || got < least {
					t.Errorf("edition %q %v after %d was purged", body, err, least)
					return
				}
			}
		})
	}
	for n := int64(1); n <= purges; n++ {
		for before := b.proxy.Repeats().Repeated; b.proxy.Repeats().Repeated < before+2 && !t.Failed(); {
			runtime.Gosched() // until it is given again
		}
		e.now.Store(n)
		if _, err := st.DeleteHostResponses("a.test"); err != nil {
			t.Fatal(err)
		}
		purged.Store(n)
	}
	close(done)
	group.Wait()
	if got := b.proxy.Repeats(); got.Answers > 1 {
		t.Errorf("%+v", got)
	}
}

// More answers than the memory takes: each answer is right, and the memory is never exceeded.
func TestAnswersGivenAgainKeepToTheirMemory(t *testing.T) {
	const memory, pages = 64 << 10, 40
	for _, way := range ways[:2] {
		t.Run(way, func(t *testing.T) {
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				s := newStill(t, dir, memory)
				defer s.stop()
				c, r, target := s.dial(t, way)
				for range 4 {
					for n := range pages {
						size := 100 + n*500 // the largest share no memory with others
						for range 3 {
							if _, body := answerTo(t, c, r, requestFor(target, size)); len(body) != size {
								t.Fatalf("%d bytes, want %d", len(body), size)
							}
							if got := s.proxy.Repeats(); got.Bytes > memory {
								t.Fatalf("%+v, want at most %d bytes", got, memory)
							}
						}
					}
				}
				if got := s.proxy.Repeats(); got.Repeated < 4*pages/4 || s.asked.Load() != pages {
					t.Errorf("%+v; the origin was asked %d times", got, s.asked.Load())
				}
				_ = c.Close()
			})
		})
	}
}
