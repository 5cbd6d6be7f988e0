package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// target is where requests go and how they look on the wire there.
type target struct {
	addr string                         // the proxy's, or the server's own
	port string                         // of the origin, in names of hosts; empty for the scheme's
	form func(host, path string) string // the request line's target
	tls  func(host string) *tls.Config  // nil: plain
	// connections begin with CONNECT to the host
	tunnel bool
}

func (t target) authority(host int) string {
	if t.port == "" {
		return hostName(host)
	}
	return hostName(host) + ":" + t.port
}

func originForm(_, path string) string      { return path }
func absoluteForm(host, path string) string { return "http://" + host + path }

// tally is what a load saw.
type tally struct {
	answers   int
	bytes     int64
	length    time.Duration
	latencies []time.Duration // ascending
}

// at returns the latency that a share of the answers did not exceed.
func (t tally) at(share float64) time.Duration {
	if len(t.latencies) == 0 {
		return 0
	}
	return t.latencies[min(len(t.latencies)-1, int(share*float64(len(t.latencies))))]
}

// A limit ends a load: after a time, or after a number of requests, whichever is not zero.
type limit struct {
	length   time.Duration
	requests int64
}

// load asks for the pages of a workload over keep-alive connections until its limit.
func load(ctx context.Context, t target, conns int, end limit, pages workload) (tally, error) {
	stop := func() {}
	if end.length > 0 {
		ctx, stop = context.WithTimeout(ctx, end.length)
	}
	defer stop()
	var (
		wg    sync.WaitGroup
		mu    sync.Mutex
		total tally
		fails []error
		sent  atomic.Int64
	)
	more := func() bool { return ctx.Err() == nil && (end.requests == 0 || sent.Add(1) <= end.requests) }
	begin := time.Now()
	for c := range conns {
		wg.Go(func() {
			got, err := one(ctx, t, c, more, pages)
			mu.Lock()
			defer mu.Unlock()
			total.answers += got.answers
			total.bytes += got.bytes
			total.latencies = append(total.latencies, got.latencies...)
			if err != nil {
				fails = append(fails, err)
			}
		})
	}
	wg.Wait()
	total.length = time.Since(begin)
	slices.Sort(total.latencies)
	if len(fails) > 0 {
		return total, fails[0]
	}
	return total, nil
}

// one keeps one connection busy.
func one(ctx context.Context, t target, c int, more func() bool, pages workload) (tally, error) {
	conn, err := connect(ctx, t, pages(c, 0).host)
	if err != nil {
		return tally{}, err
	}
	defer conn.Close() //nolint:errcheck // what it carried has been counted
	r := bufio.NewReaderSize(conn, 64<<10)
	var got tally
	for n := 0; more(); n++ {
		p := pages(c, n)
		sent := time.Now()
		size, err := get(conn, r, t, p)
		if err != nil {
			return got, fmt.Errorf("GET %s%s: %w", hostName(p.host), p.path, err)
		}
		got.answers++
		got.bytes += size
		got.latencies = append(got.latencies, time.Since(sent))
	}
	return got, nil
}

// get asks for a page and reads the answer. Both are handled as bytes, so that the load costs little beside the server.
func get(w io.Writer, r *bufio.Reader, t target, p page) (size int64, err error) {
	host := t.authority(p.host)
	request := "GET " + t.form(host, p.path) + " HTTP/1.1\r\nHost: " + host +
		"\r\nUser-Agent: bench\r\nAccept: */*\r\n\r\n"
	if _, err := io.WriteString(w, request); err != nil {
		return 0, err
	}
	return answer(r)
}

// answer reads an answer that must be 200.
func answer(r *bufio.Reader) (size int64, err error) {
	status, err := r.ReadSlice('\n')
	if err != nil {
		return 0, err
	}
	if !bytes.HasPrefix(status, []byte("HTTP/1.1 200")) {
		said := string(bytes.TrimSpace(status))
		rest, _ := r.Peek(min(r.Buffered(), 600))
		return 0, fmt.Errorf("%s: %s", said, rest)
	}
	length, chunked := int64(-1), false
	for {
		line, err := r.ReadSlice('\n')
		if err != nil {
			return 0, err
		}
		if line = bytes.TrimSpace(line); len(line) == 0 {
			break
		}
		name, value, _ := strings.Cut(string(line), ":")
		switch {
		case strings.EqualFold(name, "Content-Length"):
			if length, err = strconv.ParseInt(strings.TrimSpace(value), 10, 64); err != nil {
				return 0, err
			}
		case strings.EqualFold(name, "Transfer-Encoding"):
			chunked = true
		}
	}
	switch {
	case chunked:
		if size, err = io.Copy(io.Discard, httputil.NewChunkedReader(r)); err != nil {
			return size, err
		}
		_, err = r.Discard(2) // the empty trailer section
		return size, err
	case length < 0:
		return 0, errors.New("the answer states no length")
	}
	return io.CopyN(io.Discard, r, length)
}

func connect(ctx context.Context, t target, host int) (net.Conn, error) {
	ctx = context.WithoutCancel(ctx)
	if !t.tunnel {
		conn, err := (&net.Dialer{Timeout: 5 * time.Second}).DialContext(ctx, "tcp", t.addr)
		if err != nil || t.tls == nil {
			return conn, err
		}
		secure := tls.Client(conn, t.tls(hostName(host)))
		return secure, secure.HandshakeContext(ctx)
	}
	to := t.authority(host)
	if t.port == "" {
		to += ":443"
	}
	conn, err := tunnelTo(ctx, t, to)
	if err != nil {
		return nil, err
	}
	secure := tls.Client(conn, t.tls(hostName(host)))
	return secure, secure.HandshakeContext(ctx)
}

// tunnelTo opens a connection to a proxy and, by CONNECT, one through it.
func tunnelTo(ctx context.Context, t target, to string) (net.Conn, error) {
	conn, err := (&net.Dialer{Timeout: 5 * time.Second}).DialContext(ctx, "tcp", t.addr)
	if err != nil {
		return nil, err
	}
	if _, err := fmt.Fprintf(conn, "CONNECT %[1]s HTTP/1.1\r\nHost: %[1]s\r\n\r\n", to); err != nil {
		return nil, fmt.Errorf("CONNECT %s: %w", to, err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: http.MethodConnect})
	if err != nil {
		return nil, fmt.Errorf("CONNECT %s: %w", to, err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("CONNECT %s: %s", to, resp.Status)
	}
	return conn, nil
}
