package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// target is where requests go and how they look on the wire there.
type target struct {
	addr   string                   // the proxy's, or the server's own
	host   string                   // the Host field
	tunnel string                   // authority to CONNECT to first; empty for none
	tls    *tls.Config              // nil: plain
	form   func(path string) string // the request line's target
}

// tally is what a load saw.
type tally struct {
	answers   int
	latencies []time.Duration
}

// load asks for paths in turn over conns keep-alive connections until the time is over.
func load(ctx context.Context, t target, conns int, length time.Duration, path func(n int) string) (tally, error) {
	ctx, cancel := context.WithTimeout(ctx, length)
	defer cancel()
	var (
		wg    sync.WaitGroup
		mu    sync.Mutex
		total tally
		first error
	)
	for c := range conns {
		wg.Go(func() {
			got, err := one(ctx, t, c, path)
			mu.Lock()
			defer mu.Unlock()
			total.answers += got.answers
			total.latencies = append(total.latencies, got.latencies...)
			if first == nil {
				first = err
			}
		})
	}
	wg.Wait()
	return total, first
}

// one keeps one connection busy. Requests and answers are handled as bytes, so that the load costs little beside the
// server.
func one(ctx context.Context, t target, c int, path func(n int) string) (tally, error) {
	conn, err := connect(ctx, t)
	if err != nil {
		return tally{}, err
	}
	defer conn.Close() //nolint:errcheck // what it carried has been counted
	r := bufio.NewReaderSize(conn, 64<<10)
	var got tally
	for n := 0; ctx.Err() == nil; n++ {
		p := path(c*7919 + n)
		sent := time.Now()
		if _, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: bench\r\nAccept: */*\r\n\r\n", t.form(p),
			t.host); err != nil {
			return got, err
		}
		resp, err := http.ReadResponse(r, nil)
		if err != nil {
			return got, fmt.Errorf("read the answer to %s: %w", p, err)
		}
		if resp.StatusCode != http.StatusOK {
			said, _ := io.ReadAll(io.LimitReader(resp.Body, 500))
			return got, fmt.Errorf("GET %s: %s: %s", p, resp.Status, said)
		}
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			return got, err
		}
		resp.Body.Close()
		got.answers++
		got.latencies = append(got.latencies, time.Since(sent))
	}
	return got, nil
}

func connect(ctx context.Context, t target) (net.Conn, error) {
	conn, err := (&net.Dialer{Timeout: 5 * time.Second}).DialContext(context.WithoutCancel(ctx), "tcp", t.addr)
	if err != nil {
		return nil, err
	}
	if t.tunnel != "" {
		if _, err := fmt.Fprintf(conn, "CONNECT %[1]s HTTP/1.1\r\nHost: %[1]s\r\n\r\n", t.tunnel); err != nil {
			return nil, fmt.Errorf("CONNECT %s: %w", t.tunnel, err)
		}
		resp, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: http.MethodConnect})
		if err != nil {
			return nil, fmt.Errorf("CONNECT %s: %w", t.tunnel, err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			return nil, fmt.Errorf("CONNECT %s: %s", t.tunnel, resp.Status)
		}
	}
	if t.tls == nil {
		return conn, nil
	}
	secure := tls.Client(conn, t.tls)
	return secure, secure.HandshakeContext(context.WithoutCancel(ctx))
}

func readOne(conn net.Conn) (*http.Response, error) {
	return http.ReadResponse(bufio.NewReader(conn), nil)
}
