package proxy_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"regexp"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/readthru/readthru/proxy"
)

var bubble = regexp.MustCompile(`synctest bubble \d+`)

// running counts the goroutines of this test's bubble that are in a function.
func running(function string) (n int) {
	text := make([]byte, 1<<20)
	mine := bubble.Find(text[:runtime.Stack(text, false)])
	for stack := range strings.SplitSeq(string(text[:runtime.Stack(text, true)]), "\n\n") {
		head, _, _ := strings.Cut(stack, "\n")
		if strings.Contains(head+"]", string(mine)+"]") && strings.Contains(stack, function) {
			n++
		}
	}
	return n
}

// An idle connection holds no buffers of net/http, and is served like any other when its client asks again.
func TestAnIdleConnectionLeavesItsServer(t *testing.T) {
	for _, way := range ways[:2] { // HTTP/2 has a server of its own
		t.Run(way, func(t *testing.T) {
			body := &timedBody{size: 10}
			inMemory(t, way, "text/plain", body, func(t *testing.T, get func() *http.Response) {
				t.Helper()
				held := func(when string, servers, parked int) {
					t.Helper()
					synctest.Wait()
					s, p := running("net/http.(*conn).serve("), running("proxy.(*serving).park(")
					if s != servers || p != parked {
						t.Errorf("%s: a server holds %d connections and %d are parked, want %d and %d", when, s, p, servers, parked)
					}
				}
				for range 3 {
					body.pieces = 1
					resp := get()
					if _, err := io.Copy(io.Discard, resp.Body); err != nil {
						t.Fatal(err)
					}
					resp.Body.Close()
					held("after an answer", 1, 0)
					time.Sleep(6 * time.Second)
					held("idle", 0, 1)
				}
				time.Sleep(85 * time.Second)
				held("idle for too long", 0, 0)
			})
		})
	}
}

func TestParkedConnectionsEndWithTheListener(t *testing.T) {
	b, _ := newSiteBench(t, giveAgain)
	addr, stop := park(t, b.proxy)
	for range 8 { // when the listener ends, some may be on their way
		c, err := new(net.Dialer).DialContext(t.Context(), "tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Close() }()
		answerTo(t, c, bufio.NewReader(c), "GET http://a.test/text HTTP/1.1\r\nHost: a.test\r\n\r\n")
		defer func() {
			if _, err := c.Read(make([]byte, 1)); err == nil {
				t.Error("the connection is open after its listener ended")
			}
		}()
	}
	stop()
}

// parking is a listener whose connections are idle for long at once.
type parking struct{ net.Listener }

func (l parking) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return hastyConn{c}, nil
}

type hastyConn struct{ net.Conn }

// SetReadDeadline implements [net.Conn]. All other limits are longer.
func (c hastyConn) SetReadDeadline(t time.Time) error {
	if left := time.Until(t); left > 0 && left < 6*time.Second {
		t = time.Now()
	}
	return c.Conn.SetReadDeadline(t)
}

// park serves p on a listener of its own that parks connections after each request, until stop is called.
func park(t *testing.T, p *proxy.Proxy) (addr string, stop func()) {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return serveOn(t, p, parking{l})
}

// A request whose first byte comes when its connection is about to be parked has as long for the rest as any other.
func TestARequestThatBeginsAtTheLastMomentIsAnswered(t *testing.T) {
	b, _ := newSiteBench(t, giveAgain)
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr, _ := serveOn(t, b.proxy, lastMoments{l})
	c, err := new(net.Dialer).DialContext(t.Context(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	answers := bufio.NewReader(c)
	for range 3 {
		answerTo(t, c, answers, "GET http://a.test/text HTTP/1.1\r\nHost: a.test\r\n\r\n")
	}
}

// lastMoments is a listener on whose idle connections one byte comes before the time of idleness is over, and the rest
// after it.
type lastMoments struct{ net.Listener }

func (l lastMoments) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &lateConn{Conn: c}, nil
}

type lateConn struct {
	net.Conn
	idle atomic.Bool
}

// SetReadDeadline implements [net.Conn]. All other limits are longer.
func (c *lateConn) SetReadDeadline(t time.Time) error {
	if left := time.Until(t); left > 0 && left < 6*time.Second {
		c.idle.Store(true)
		t = time.Time{}
	}
	return c.Conn.SetReadDeadline(t)
}

// Read implements [net.Conn].
func (c *lateConn) Read(p []byte) (int, error) {
	if !c.idle.Swap(false) {
		return c.Conn.Read(p)
	}
	n, err := c.Conn.Read(p[:1])
	if err == nil {
		err = c.Conn.SetReadDeadline(time.Now())
	}
	return n, err
}
