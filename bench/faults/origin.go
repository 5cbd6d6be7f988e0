package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// all runs n clients at once and returns the first error of one.
func all(n int, client func(i int) error) error {
	var wg sync.WaitGroup
	failed := make(chan error, n)
	for i := range n {
		wg.Go(func() {
			if err := client(i); err != nil {
				failed <- err
			}
		})
	}
	wg.Wait()
	close(failed)
	return <-failed
}

// echoed asks an origin that answers with the path for one, on a host below faults.test. It returns the major version
// of HTTP of the answer.
func echoed(ctx context.Context, c *http.Client, host, path string) (version int, err error) {
	//nolint:bodyclose // get closes it
	resp, body, err := get(ctx, c, "https://"+host+".faults.test"+path, "text/css")
	if err != nil || resp.StatusCode != http.StatusOK || body != path {
		return 0, fmt.Errorf("%s: %w %v %q", path, err, resp, body)
	}
	return resp.ProtoMajor, nil
}

// goingAway is an origin that speaks HTTP/2 in frames: it answers every request with its path, ends each connection
// after some requests, and leaves unanswered what came on it later, as GOAWAY allows (RFC 9113 §6.8).
type goingAway struct {
	connections, answered, left atomic.Int64
}

// perConnection is how many requests it answers on a connection.
const perConnection = 20

func (o *goingAway) serve(c net.Conn) {
	defer c.Close() //nolint:errcheck // its client knows
	preface := make([]byte, len(http2.ClientPreface))
	if _, err := io.ReadFull(c, preface); err != nil {
		return
	}
	o.connections.Add(1)
	framer := http2.NewFramer(c, c)
	framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	var block bytes.Buffer
	enc := hpack.NewEncoder(&block)
	if framer.WriteSettings() != nil {
		return
	}
	var last uint32
	for n := 0; ; {
		frame, err := framer.ReadFrame()
		if err != nil {
			return
		}
		switch frame := frame.(type) {
		case *http2.SettingsFrame:
			if !frame.IsAck() {
				framer.WriteSettingsAck() //nolint:errcheck // the next frame tells
			}
		case *http2.PingFrame:
			framer.WritePing(true, frame.Data) //nolint:errcheck // the next frame tells
		case *http2.MetaHeadersFrame:
			if n++; n > perConnection {
				o.left.Add(1)
				continue
			}
			last = frame.StreamID
			block.Reset()
			for _, f := range [][2]string{{":status", "200"}, {"content-type", "text/plain"}, {"cache-control", "no-store"}} {
				enc.WriteField(hpack.HeaderField{Name: f[0], Value: f[1]}) //nolint:errcheck // into memory
			}
			//nolint:errcheck // the next frame tells
			framer.WriteHeaders(http2.HeadersFrameParam{StreamID: last, BlockFragment: block.Bytes(), EndHeaders: true})
			//nolint:errcheck // the next frame tells
			framer.WriteData(last, true, []byte(frame.PseudoValue("path")))
			o.answered.Add(1)
			if n == perConnection {
				framer.WriteGoAway(last, http2.ErrCodeNo, nil)    //nolint:errcheck // the next frame tells
				time.AfterFunc(time.Second, func() { c.Close() }) //nolint:errcheck // its client knows
			}
		}
	}
}

// goaway asks an origin that ends its connections of HTTP/2 all the time. No client may notice.
func goaway(ctx context.Context, s settings) (string, error) {
	o := &goingAway{}
	d, end, err := start(ctx, s, http.NotFoundHandler(), o.serve)
	if err != nil {
		return "", err
	}
	defer end()
	err = all(s.clients, func(i int) error {
		c := d.client(i%2 == 0)
		for n := range 10 * s.rounds {
			path := fmt.Sprintf("/%d/%d", i, n)
			if _, err := echoed(ctx, c, "h", path); err != nil {
				return err
			}
		}
		return nil
	})
	seen := fmt.Sprintf("%d connections ended, %d requests answered, %d left unanswered there and sent again",
		o.connections.Load(), o.answered.Load(), o.left.Load())
	if err == nil && o.connections.Load() < int64(s.clients*s.rounds*10/perConnection) {
		err = errors.New("the origin was not asked by HTTP/2")
	}
	return seen, errors.Join(err, d.stop())
}

// streams sends a thousand requests at once through one tunnel, by HTTP/2, or fewer if the machine is busy.
func streams(ctx context.Context, s settings) (string, error) {
	many := 1000
	if !s.timed {
		many = 300 // more than a connection takes; Go's HTTP/2 server ends one that it cannot serve within two seconds
	}
	var most, now atomic.Int64
	d, end, err := start(ctx, s, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		most.Store(max(most.Load(), now.Add(1)))
		defer now.Add(-1)
		select {
		case <-time.After(50 * time.Millisecond):
		case <-r.Context().Done():
		}
		w.Header().Set("Cache-Control", "no-store")
		io.WriteString(w, r.URL.Path)
	}), nil)
	if err != nil {
		return "", err
	}
	defer end()
	c := d.client(true)
	if _, err := echoed(ctx, c, "h", "/first"); err != nil {
		return "", err
	}
	before := d.memory()
	err = all(many, func(i int) error {
		version, err := echoed(ctx, c, "h", fmt.Sprintf("/%d", i))
		if err == nil && version != 2 {
			err = fmt.Errorf("request %d was answered by HTTP/%d", i, version)
		}
		return err
	})
	seen := fmt.Sprintf("%d at once at the origin, memory from %d to %d MB", most.Load(), before/1e6, d.memory()/1e6)
	return seen, errors.Join(err, d.stop())
}

// weather is an origin that answers an error to everything while one is set.
type weather struct {
	status, asked atomic.Int64
	lifetime      atomic.Int64 // of its pages, in seconds
}

func (o *weather) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	o.asked.Add(1)
	if code := int(o.status.Load()); code != http.StatusOK {
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(code)
		return
	}
	w.Header().Set("Content-Type", "text/html")
	w.Header().Set("Cache-Control", fmt.Sprintf("max-age=%d", o.lifetime.Load()))
	io.WriteString(w, article(r.URL.Path, 0, 3))
}

// errorsTold is longer than an error is told to those who did not cause it.
const errorsTold = 3 * time.Second

// storm has an origin answer nothing but errors for a while. Who has read a page still gets it, the origin is not asked
// by everybody, and when it recovers everybody gets what it has.
func storm(ctx context.Context, s settings) (string, error) {
	const pages = 10
	o := &weather{}
	o.status.Store(http.StatusOK)
	o.lifetime.Store(1)
	d, end, err := start(ctx, s, o, nil)
	if err != nil {
		return "", err
	}
	defer end()
	c := d.client(false)
	// read asks for each page of a kind by many clients and counts the answers other than want.
	read := func(kind string, want int) error {
		return all(4*s.clients, func(i int) error {
			for n := range pages {
				//nolint:bodyclose // get closes it
				resp, _, err := get(ctx, c, fmt.Sprintf("http://h.faults.test/%s/%d", kind, (i+n)%pages), "*/*")
				if err != nil {
					return err
				}
				if resp.StatusCode != want {
					return fmt.Errorf("a %s page: %d, want %d", kind, resp.StatusCode, want)
				}
			}
			return nil
		})
	}
	if err := read("known", http.StatusOK); err != nil {
		return "", err
	}
	time.Sleep(time.Second) // until they are stale
	var seen string
	for _, code := range []int{500, 503, 429} {
		o.status.Store(int64(code))
		time.Sleep(errorsTold)
		o.asked.Store(0)
		answers := 0
		began := time.Now()
		for time.Since(began) < s.last/3 {
			if err := errors.Join(read("known", http.StatusOK), read("strange", code)); err != nil {
				return seen, fmt.Errorf("while the origin answers %d: %w", code, err)
			}
			answers += 2 * 4 * s.clients * pages
		}
		seconds := time.Since(began).Seconds()
		seen += fmt.Sprintf("%d for %.0f s: %d answers of %d requests to the origin; ", code, seconds, answers,
			o.asked.Load())
		if limit := 2 * 2 * pages * (seconds + 1); s.timed && code >= 500 && float64(o.asked.Load()) > limit {
			return seen, fmt.Errorf("the origin was asked more than twice a second for a page")
		}
	}
	o.lifetime.Store(600)
	o.status.Store(http.StatusOK)
	time.Sleep(errorsTold)
	o.asked.Store(0)
	if err := errors.Join(read("known", http.StatusOK), read("strange", http.StatusOK)); err != nil {
		return seen, fmt.Errorf("after the storm: %w", err)
	}
	seen += fmt.Sprintf("after it %d requests for %d pages", o.asked.Load(), 2*pages)
	if s.timed && o.asked.Load() > 5*2*pages {
		return seen, errors.New("the origin was asked by everybody when it had recovered")
	}
	return seen, d.stop()
}

// rotate changes the origin's certificate all the time, and its connections with it.
func rotate(ctx context.Context, s settings) (string, error) {
	d, end, err := start(ctx, s, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("Connection", "close")
		io.WriteString(w, r.URL.Path)
	}), nil)
	if err != nil {
		return "", err
	}
	defer end()
	done := make(chan struct{})
	renewed := 0
	var renewing sync.WaitGroup
	renewing.Go(func() {
		for {
			select {
			case <-done:
				return
			case <-time.After(20 * time.Millisecond):
				renewed++
				if d.web.renew() != nil {
					return
				}
			}
		}
	})
	err = all(s.clients, func(i int) error {
		c := d.client(i%2 == 0)
		for n := range 5 * s.rounds {
			path := fmt.Sprintf("/%d/%d", i, n)
			if _, err := echoed(ctx, c, fmt.Sprintf("h%d", n%3), path); err != nil {
				return err
			}
		}
		return nil
	})
	close(done)
	renewing.Wait()
	return fmt.Sprintf("%d certificates, %d requests", renewed, s.clients*5*s.rounds), errors.Join(err, d.stop())
}
