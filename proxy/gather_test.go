package proxy_test

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/readthru/readthru/cache"
	"github.com/readthru/readthru/proxy"
)

// memory is content at hand, as the store has it.
type memory struct{ *bytes.Reader }

func (memory) Close() error { return nil }

func (memory) Outcome() cache.Outcome { return cache.Outcome{Hit: true, TTL: 9 * time.Second} }

// fromMemory answers with as many bytes as the path says, as a cache does on a hit.
func fromMemory(r *http.Request) (*http.Response, error) {
	n, err := strconv.Atoi(r.URL.Path[1:])
	if err != nil {
		return nil, err
	}
	content := bytes.Repeat([]byte("0123456789abcdef"), n/16+1)[:n]
	return &http.Response{
		StatusCode: http.StatusOK, ProtoMajor: 1, ProtoMinor: 1, Body: memory{bytes.NewReader(content)},
		ContentLength: int64(n), Request: r,
		Header: http.Header{
			"Content-Type": {"text/plain"},
			"X-Pad":        {strings.Repeat("p", n%97)},
		},
	}, nil
}

// fromOrigin answers as a cache does with content that the origin has just sent.
func fromOrigin(r *http.Request) (*http.Response, error) {
	resp, err := fromMemory(r)
	if err == nil {
		resp.Body = io.NopCloser(resp.Body)
	}
	return resp, err
}

// The sizes lie around every bound at which net/http or TLS begin another write. One connection takes them all: a byte
// too many or held back shows in the next answer.
func TestAnswersOfAnySizeArriveWhole(t *testing.T) {
	for name, answer := range map[string]tripper{"memory": fromMemory, "origin": fromOrigin} {
		t.Run(name, func(t *testing.T) { arriveWhole(t, answer) })
	}
}

func arriveWhole(t *testing.T, answer tripper) {
	t.Helper()
	b := newBench(t, nil, func(o *proxy.Options) { o.Client = answer })
	var sizes []int
	for _, bound := range []int{0, 2048, 4096, 2 * 4096, 16 << 10, 64 << 10} {
		for d := -700; d <= 700; d += 7 {
			if bound+d >= 0 {
				sizes = append(sizes, bound+d)
			}
		}
	}
	for n := 3500; n < 4200; n++ {
		sizes = append(sizes, n)
	}
	for name, dial := range map[string]func() net.Conn{
		"http://a.test": func() net.Conn { return b.dial() },
		"":              func() net.Conn { return b.secure("a.test:443", "a.test") },
	} {
		c := dial() // now: a connection that is opened before the other one is done waits too long for its first request
		r := bufio.NewReader(c)
		for _, n := range sizes {
			io.WriteString(c, "GET "+name+"/"+strconv.Itoa(n)+" HTTP/1.1\r\nHost: a.test\r\n\r\n")
			resp, err := http.ReadResponse(r, nil)
			if err != nil {
				t.Fatalf("%q, %d bytes: %v", name, n, err)
			}
			got, err := read(resp)
			if err != nil || len(got.Body) != n || got.ContentLength != int64(n) ||
				strings.Trim(got.Body, "0123456789abcdef") != "" {
				t.Fatalf("%q: %d bytes of %d, %v", name, len(got.Body), n, err)
			}
		}
	}
}

// counted counts the writes of the connections it accepts.
type counted struct {
	net.Listener
	writes *atomic.Int64
}

func (l counted) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	return countedConn{c, l.writes}, err
}

type countedConn struct {
	net.Conn
	writes *atomic.Int64
}

func (c countedConn) Write(p []byte) (int, error) {
	c.writes.Add(1)
	return c.Conn.Write(p)
}

func TestHeadAndSmallContentLeaveInOneWrite(t *testing.T) {
	for name, answer := range map[string]tripper{"memory": fromMemory, "origin": fromOrigin} {
		t.Run(name, func(t *testing.T) { leaveInOneWrite(t, answer) })
	}
}

func leaveInOneWrite(t *testing.T, answer tripper) {
	t.Helper()
	b := newBench(t, nil, func(o *proxy.Options) { o.Client = answer })
	inner, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var writes atomic.Int64
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- b.proxy.Serve(ctx, counted{inner, &writes}) }()
	b.addr = inner.Addr().String()
	for _, tt := range []struct {
		name string
		dial func() net.Conn
	}{
		{"http://a.test", func() net.Conn { return b.dial() }},
		{"", func() net.Conn { return b.secure("a.test:443", "a.test") }},
	} {
		name, c := tt.name, tt.dial()
		r := bufio.NewReader(c)
		for i, n := range []int{1, 1, 2000, 3000, 5000, 10 << 10, 12 << 10} {
			before := writes.Load()
			io.WriteString(c, "GET "+name+"/"+strconv.Itoa(n)+" HTTP/1.1\r\nHost: a.test\r\n\r\n")
			resp, err := http.ReadResponse(r, nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := read(resp); err != nil {
				t.Fatal(err)
			}
			if took := writes.Load() - before; took != 1 && i > 0 { // before the first answer session tickets may go out
				t.Errorf("%q, %d bytes: %d writes, want 1", name, n, took)
			}
		}
		_ = c.Close()
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
