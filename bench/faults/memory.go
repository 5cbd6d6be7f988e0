package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	memoryLimit = 128 << 20 // bytes, of the daemon's heap
	overLimit   = 256 << 20 // what it may hold beside: stacks, buffers of the engine, what the collector is late for
)

// memory gives a daemon little memory, and many large pages to convert beside all else. It may become slow, and must
// not end; what it answers is right.
func memory(ctx context.Context, s settings) (string, error) {
	return largePages(ctx, s, func(h http.Handler) (*daemon, func(), error) {
		return start(ctx, s, h, nil, fmt.Sprintf("GOMEMLIMIT=%d", memoryLimit), "READTHRU_FETCH_TIMEOUT=2m")
	}, memoryLimit, overLimit)
}

// largePages has clients ask for large pages beside all else. begin starts the daemon, which has a limit in bytes, and
// may hold so much more.
func largePages(ctx context.Context, s settings, begin func(http.Handler) (*daemon, func(), error),
	limit, over int64,
) (string, error) {
	const paragraphs = 8000 // some 2 MB
	d, end, err := begin(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, "/huge/") {
			site(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		w.Write([]byte(article(r.URL.Path, 0, paragraphs))) //nolint:errcheck // the client may leave
	}))
	if err != nil {
		return "", err
	}
	defer end()
	measuring, stop := context.WithCancel(ctx)
	var most atomic.Int64
	var beside sync.WaitGroup
	beside.Go(func() {
		for measuring.Err() == nil {
			most.Store(max(most.Load(), d.memory()))
			time.Sleep(10 * time.Millisecond)
		}
	})
	var done, wrong atomic.Int64
	l := newLoad(d, [2]uint64{1, 1}, &done, func(error) { wrong.Add(1) })
	beside.Go(func() { l.run(measuring) })
	last := fmt.Sprintf("Part %d", paragraphs+4)
	err = all(s.clients, func(i int) error {
		c := d.client(false)
		c.Timeout = 3 * time.Minute
		for n := range max(1, s.rounds/5) {
			target := fmt.Sprintf("http://h.faults.test/huge/%d-%d", i, n)
			resp, body, err := get(ctx, c, target, "*/*") //nolint:bodyclose // get closes it
			if err != nil || resp.StatusCode != http.StatusOK || !strings.Contains(body, last) {
				return fmt.Errorf("%s: %w %v, %d bytes", target, err, resp, len(body))
			}
		}
		return nil
	})
	stop()
	beside.Wait()
	seen := fmt.Sprintf("%d pages of 2 MB and %d other requests with a limit of %d MiB: at most %d MiB",
		s.clients*max(1, s.rounds/5),
		done.Load(), limit>>20, most.Load()>>20)
	switch {
	case err != nil:
		return seen, err
	case wrong.Load() > 0:
		return seen, fmt.Errorf("%d other requests went wrong", wrong.Load())
	case s.timed && most.Load() > limit+over:
		return seen, errors.New("it held more")
	}
	return seen, d.stop()
}
