package fetch

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
)

const (
	tunnelHead  = 10 * time.Second // for the head of a CONNECT
	tunnelConns = 8                // at once
)

// tunnel is a proxy on loopback for one run of one program: it opens tunnels to one host, for who knows its password,
// by the guarded way to origins. TLS is between the program and that host.
type tunnel struct {
	to       string // host:port
	password string
	dial     func(ctx context.Context, network, addr string) (net.Conn, error)
	limit    int64 // bytes that may come from the host, over all connections

	listener net.Listener
	cancel   context.CancelFunc
	running  sync.WaitGroup
	mu       sync.Mutex
	received int64
	refused  error // the first error of dialling
}

// openTunnel begins to listen. Close the tunnel when done.
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
	t.running.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			select {
			case slots <- struct{}{}:
				t.running.Go(func() {
					defer func() { <-slots }()
					t.serve(ctx, conn)
				})
			default:
				_ = conn.Close()
			}
		}
	})
	return t, nil
}

// Close ends all connections and waits for them.
func (t *tunnel) Close() error {
	t.cancel()
	err := t.listener.Close()
	t.running.Wait()
	return err
}

// url is the proxy's address, with the password.
func (t *tunnel) url() string {
	u := url.URL{Scheme: "http", User: url.UserPassword("readthru", t.password), Host: t.listener.Addr().String()}
	return u.String()
}

// serve answers one connection.
func (t *tunnel) serve(ctx context.Context, conn net.Conn) {
	defer conn.Close() //nolint:errcheck // either side may have closed it
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	_ = conn.SetReadDeadline(time.Now().Add(tunnelHead))
	r := bufio.NewReader(io.LimitReader(conn, 16<<10))
	req, err := http.ReadRequest(r)
	if err != nil {
		return
	}
	status := t.judge(req)
	var host net.Conn
	if status == http.StatusOK {
		if host, err = t.dial(ctx, "tcp", t.to); err != nil {
			t.note(err)
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
	early, _ := r.Peek(r.Buffered()) // a client that does not wait for the answer
	t.relay(conn, host, early)
}

// judge returns the status that a request is answered with.
func (t *tunnel) judge(req *http.Request) int {
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

// relay copies both ways until one side ends, or more came than is allowed.
func (t *tunnel) relay(conn, host net.Conn, early []byte) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		if _, err := host.Write(early); err == nil {
			_, _ = io.Copy(host, conn)
		}
		_ = host.Close()
	}()
	_, _ = io.Copy(conn, &meter{host, 0, func() func(n int64) error {
		before := int64(0)
		return func(n int64) error {
			came := n - before
			before = n
			return t.came(came)
		}
	}()})
	_ = conn.Close()
	<-done
}

// came counts what came from the host.
func (t *tunnel) came(n int64) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.received += n; t.received > t.limit {
		t.refused = limitError("compressed size")
		return t.refused
	}
	return nil
}

func (t *tunnel) note(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.refused = errors.Join(t.refused, err)
}

// failure returns why the tunnel ended what went through it; nil if it did not.
func (t *tunnel) failure() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.refused
}
