package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// lateness is how late events may be, all but one of a hundred.
const lateness = 50 * time.Millisecond

// events follows streams of server-sent events by every door while other clients load pages. The origin sends an event
// only after the client has told of the one before, so that one that is held back ends the test.
func events(ctx context.Context, s settings) (string, error) {
	var mu sync.Mutex
	heard := map[string]chan struct{}{}
	channel := func(name string) chan struct{} {
		mu.Lock()
		defer mu.Unlock()
		if heard[name] == nil {
			heard[name] = make(chan struct{}, 1)
		}
		return heard[name]
	}
	number := 20 * s.rounds
	d, end, err := start(ctx, s, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, "/stream/") {
			site(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for range number {
			_, _ = fmt.Fprintf(w, "data: %d\n\n", time.Now().UnixNano())
			w.(http.Flusher).Flush()
			select {
			case <-channel(r.URL.Path):
			case <-r.Context().Done():
				return
			}
		}
	}), nil)
	if err != nil {
		return "", err
	}
	defer end()
	loading, stop := context.WithCancel(ctx)
	var others sync.WaitGroup
	var done atomic.Int64
	for n := range max(1, s.clients/8) {
		l := newLoad(d, [2]uint64{uint64(n), 0}, &done, func(error) {})
		others.Go(func() { l.run(loading) })
	}
	var lags []time.Duration
	err = all(6, func(i int) error {
		path := fmt.Sprintf("/stream/%d", i)
		c, base := d.client(i%3 == 0), "https://h.faults.test"
		if i%3 == 1 {
			base = "http://h.faults.test"
		}
		ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
		defer cancel()
		late, err := follow(ctx, c, base+path, channel(path))
		mu.Lock()
		defer mu.Unlock()
		lags = append(lags, late...)
		if err == nil && len(late) != number {
			err = fmt.Errorf("%d events of %d", len(late), number)
		}
		return err
	})
	stop()
	others.Wait()
	if err != nil {
		return "", err
	}
	slices.Sort(lags)
	median, p99 := lags[len(lags)/2], lags[len(lags)*99/100]
	seen := fmt.Sprintf("%d events beside %d requests: %v late in the median, 99 of 100 at most %v, the last %v",
		len(lags), done.Load(), median.Round(10*time.Microsecond), p99.Round(10*time.Microsecond),
		lags[len(lags)-1].Round(10*time.Microsecond))
	if s.timed && p99 > lateness {
		return seen, errors.New("events come late")
	}
	return seen, d.stop()
}

// follow reads a stream of events, each with the time at which it was sent, and tells of each that it came.
func follow(ctx context.Context, c *http.Client, target string,
	came chan<- struct{},
) (late []time.Duration, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, target, http.NoBody)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "text/event-stream")
	stream := &http.Client{Transport: c.Transport} // without a limit
	resp, err := stream.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if status := resp.Header.Get("Cache-Status"); strings.Contains(status, "stored") || strings.Contains(status, "hit") {
		return nil, fmt.Errorf("a stream is %s", status)
	}
	lines := bufio.NewReader(resp.Body)
	for {
		line, err := lines.ReadString('\n')
		if errors.Is(err, io.EOF) {
			return late, nil
		}
		if err != nil {
			return late, err
		}
		if sent, ok := strings.CutPrefix(line, "data: "); ok {
			n, err := strconv.ParseInt(strings.TrimSpace(sent), 10, 64)
			if err != nil {
				return late, err
			}
			late = append(late, time.Since(time.Unix(0, n)))
			came <- struct{}{}
		}
	}
}
