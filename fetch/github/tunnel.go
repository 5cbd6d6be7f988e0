package github

import (
	"bufio"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/readthru/readthru/internal/fault"
)

// Bounds of the tunnel for git.
const (
	tunnelHead  = 10 * time.Second // to send the head of a CONNECT
	tunnelConns = 8                // open at once
)

// tunnel is a proxy on loopback for one run of git: it opens tunnels to one host, by dial, for clients that send its
// password, which other programs of the machine do not know. TLS is between git and that host. So git connects by the
// same guard of addresses as all of us, and what it may receive is bounded.
type tunnel struct {
	to       string // host:port
	password string
	dial     func(ctx context.Context, network, addr string) (net.Conn, error)
	limit    int64 // bytes received from the host, over all connections

	listener net.Listener
	cancel   context.CancelFunc
	running  sync.WaitGroup
	mu       sync.Mutex
	received int64
	err      error // of dial, or for exceeding limit
}

// openTunnel opens a tunnel for git that listens on loopback, for as long as ctx lasts. The caller closes it.
func openTunnel(ctx context.Context, to string, limit int64,
	dial func(ctx context.Context, network, addr string) (net.Conn, error),
) (*tunnel, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for git: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	t := &tunnel{to: to, password: rand.Text(), dial: dial, limit: limit, listener: l, cancel: cancel}
	slots := make(chan struct{}, tunnelConns)
	t.running.Go(fault.ContainTo(t.giveUp, "github: accept git", func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			select {
			case slots <- struct{}{}:
				t.running.Go(fault.Contain("github: end a connection of git", func() {
					defer func() { <-slots }()
					defer conn.Close() //nolint:errcheck // again, unless serving it panicked
					if err := fault.Catch("github: serve git", func() error { t.serve(ctx, conn); return nil }); err != nil {
						t.addError(err)
					}
				}))
			default:
				_ = conn.Close()
			}
		}
	}))
	return t, nil
}

// Close closes the listener and all connections, and waits until they have ended.
func (t *tunnel) Close() error {
	t.cancel()
	err := t.listener.Close()
	t.running.Wait()
	return err
}

// giveUp has git get no connection any more, and keeps why.
func (t *tunnel) giveUp(err error) {
	t.addError(err)
	_ = t.listener.Close() // it is closed again in the end
}

// url returns the URL of git's proxy with the password. It goes into git's environment and must not be logged.
func (t *tunnel) url() string {
	u := url.URL{Scheme: "http", User: url.UserPassword("readthru", t.password), Host: t.listener.Addr().String()}
	return u.String()
}

// serve answers one connection of git: a CONNECT with the password, and then the bytes of the host.
func (t *tunnel) serve(ctx context.Context, conn net.Conn) {
	defer conn.Close() //nolint:errcheck // either side may have closed it
	// A deadline in the past ends reads and writes that are under way.
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	_ = conn.SetReadDeadline(time.Now().Add(tunnelHead))
	r := bufio.NewReader(io.LimitReader(conn, 16<<10))
	req, err := http.ReadRequest(r)
	if err != nil {
		return
	}
	status := t.statusOf(req)
	var host net.Conn
	if status == http.StatusOK {
		if host, err = t.dial(ctx, "tcp", t.to); err != nil {
			t.addError(err)
			status = http.StatusBadGateway
		}
	}
	head := fmt.Sprintf("HTTP/1.1 %d %s\r\n", status, http.StatusText(status))
	if status != http.StatusOK {
		_, _ = io.WriteString(conn, head+
			"Proxy-Authenticate: Basic realm=\"readthru\"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
		return
	}
	defer host.Close() //nolint:errcheck // either side may have closed it
	defer context.AfterFunc(ctx, func() { _ = host.SetDeadline(time.Unix(1, 0)) })()
	_ = conn.SetReadDeadline(time.Time{})
	if ctx.Err() != nil {
		return
	}
	if _, err := io.WriteString(conn, head+"\r\n"); err != nil {
		return
	}
	early, _ := r.Peek(r.Buffered()) // the client may not have waited for the answer
	t.relay(conn, host, early)
}

// statusOf returns the status to answer a request of git to its proxy with; 200 opens the tunnel.
func (t *tunnel) statusOf(req *http.Request) int {
	want := "Basic " + base64.StdEncoding.EncodeToString([]byte("readthru:"+t.password))
	switch {
	case subtle.ConstantTimeCompare([]byte(req.Header.Get("Proxy-Authorization")), []byte(want)) != 1:
		return http.StatusProxyAuthRequired
	case req.Method != http.MethodConnect:
		return http.StatusMethodNotAllowed
	case req.Host != t.to:
		return http.StatusForbidden
	}
	return http.StatusOK
}

// relay copies both ways between git and the host until one side ends or the limit is exceeded.
func (t *tunnel) relay(conn, host net.Conn, early []byte) {
	var sending sync.WaitGroup
	broken := func(err error) {
		t.addError(err)
		_ = host.Close() // git must not wait for an answer
	}
	sending.Go(fault.ContainTo(broken, "github: relay git", func() {
		if _, err := host.Write(early); err == nil {
			_, _ = io.Copy(host, conn)
		}
		_ = host.Close()
	}))
	_, _ = io.Copy(conn, &meter{host, 0, func() func(n int64) error {
		before := int64(0)
		return func(n int64) error {
			received := n - before
			before = n
			return t.count(received)
		}
	}()})
	_ = conn.Close()
	sending.Wait()
}

// count adds n bytes received from the host, over all connections of git, and fails beyond the limit.
func (t *tunnel) count(n int64) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.received += n; t.received > t.limit {
		t.err = limitError("compressed size")
		return t.err
	}
	return nil
}

// addError keeps an error of the tunnel, for failure.
func (t *tunnel) addError(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.err = errors.Join(t.err, err)
}

// failure returns why the tunnel of git failed; nil if it did not. git itself says only that the proxy refused.
func (t *tunnel) failure() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.err
}
