package main

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// visitsWithin is how long a visit may wait to be written.
	visitsWithin = 200 * time.Millisecond
	// pageBytes is about how large a page of kill is, so that a small store always evicts.
	pageBytes = 60 << 10
)

// answered is a page that was read, and when its answer had come.
type answered struct {
	url string
	at  time.Time
}

// kill kills the daemon in the middle of reading pages, with a store so small that it evicts all the time. What was
// read 200 ms before is among the visits afterwards, and no body is wrong.
func kill(ctx context.Context, s settings) (string, error) {
	w, err := newWeb(ctx, s.dir, http.HandlerFunc(tomes), nil)
	if err != nil {
		return "", err
	}
	defer w.Close()
	read, lost, wrong := 0, 0, int64(0)
	var stats struct {
		Cache struct{ Entries, Bytes int64 }
	}
	var oldest time.Duration // the longest time before a kill of a visit that is lost
	for round := range s.rounds {
		d, err := serve(ctx, s, w, "READTHRU_CACHE_MAX_SIZE=12MiB", "READTHRU_CONVERT_FRONT_MATTER=false")
		if err != nil {
			return "", err
		}
		last := time.Duration(500+rand.IntN(2500)) * time.Millisecond //nolint:gosec // only a time
		answers, bad, killed := readUntilKilled(ctx, d, s, round, last)
		wrong += bad
		if d, err = serve(ctx, s, w, "READTHRU_CACHE_MAX_SIZE=12MiB", "READTHRU_CONVERT_FRONT_MATTER=false"); err != nil {
			return "", fmt.Errorf("after kill %d: %w", round, err)
		}
		visits, err := d.visits(ctx, fmt.Sprintf("/%d/", round))
		if err == nil {
			_, err = d.Ask(ctx, "/api/v1/stats", "", &stats)
		}
		d.kill()
		if err != nil {
			return "", err
		}
		for _, a := range answers {
			if read++; !visits[a.url] {
				lost++
				oldest = max(oldest, killed.Sub(a.at))
			}
		}
	}
	seen := fmt.Sprintf("%d kills, %d pages read, %d of them kept in %d MB, %d wrong bodies, %d visits lost, the oldest "+
		"%v before a kill",
		s.rounds, read, stats.Cache.Entries, stats.Cache.Bytes/1e6, wrong, lost, oldest.Round(time.Millisecond))
	switch {
	case s.timed && int64(read) < 2*stats.Cache.Entries:
		return seen, errors.New("too little was read for the store to evict")
	case wrong > 0:
		return seen, errors.New("a body was wrong")
	case s.timed && oldest > visitsWithin:
		return seen, errors.New("an older visit was lost")
	}
	return seen, nil
}

// readUntilKilled reads new pages, and now and then one again, until it kills the daemon after a while.
func readUntilKilled(ctx context.Context, d *daemon, s settings, round int,
	last time.Duration,
) (answers []answered, wrong int64, killed time.Time) {
	var mu sync.Mutex
	var over atomic.Bool
	var bad, next atomic.Int64
	ended := make(chan struct{})
	time.AfterFunc(last, func() {
		defer close(ended)
		over.Store(true)
		killed = time.Now()
		d.Cmd.Process.Kill() //nolint:errcheck // it runs
	})
	all(s.clients, func(int) error { //nolint:errcheck // they do not fail
		c := d.client(false)
		for !over.Load() {
			n := next.Add(1)
			if n%10 == 0 {
				n /= 2
			}
			path := fmt.Sprintf("/%d/%d", round, n)
			resp, body, err := get(ctx, c, "http://h.faults.test"+path, "*/*") //nolint:bodyclose // get closes it
			if over.Load() {
				return nil
			}
			if err != nil {
				bad.Add(1)
				continue
			}
			if resp.StatusCode != http.StatusOK || !isTome(body, path, "*/*") {
				bad.Add(1)
			}
			at := time.Now()
			mu.Lock()
			answers = append(answers, answered{"http://h.faults.test" + path, at})
			mu.Unlock()
		}
		return nil
	})
	<-ended
	d.kill()
	return answers, bad.Load(), killed
}

// tomes answers every path with its tome.
func tomes(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/html")
	w.Header().Set("Cache-Control", "max-age=600")
	io.WriteString(w, tome(r.URL.Path))
}

// tome is a page of pageBytes, different for each path, that compresses as text does.
func tome(path string) string {
	hash := fnv.New64a()
	io.WriteString(hash, path)
	rnd := rand.New(rand.NewPCG(hash.Sum64(), 0)) //nolint:gosec // only words
	var b strings.Builder
	b.WriteString("<!doctype html><title>" + path + "</title><main>")
	for b.Len() < pageBytes {
		b.WriteString("<p>This is what page " + path + " says")
		for range 40 {
			b.WriteString(" " + strconv.FormatUint(uint64(rnd.Uint32()), 36))
		}
	}
	return b.String() + "<p>the end of " + path + "</main>"
}

// isTome reports whether a body is that of a path, whole.
func isTome(body, path, accept string) bool {
	if accept == "text/html" {
		return body == tome(path)
	}
	return strings.Contains(body, "what page "+path+" says") &&
		strings.HasSuffix(strings.TrimSpace(body), "the end of "+path)
}

// visits returns the URLs of all visits whose path contains a text.
func (d *daemon) visits(ctx context.Context, part string) (map[string]bool, error) {
	urls := map[string]bool{}
	for cursor := ""; ; {
		var list struct {
			Visits []struct{ URL string }
			Next   string
		}
		if _, err := d.Ask(ctx, "/api/v1/visits?limit=500&cursor="+cursor, "", &list); err != nil {
			return nil, err
		}
		found := false
		for _, v := range list.Visits {
			if strings.Contains(v.URL, "test"+part) {
				urls[v.URL], found = true, true
			}
		}
		if cursor = list.Next; cursor == "" || !found && len(urls) > 0 {
			return urls, nil
		}
	}
}
