package cache_test

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/readthru/readthru/cache"
)

// A client that stops reading a body that is complete and stored holds no memory of the spools: it goes on in the
// store.
func TestAStalledClientGoesOnInTheStore(t *testing.T) {
	body := strings.Repeat("0123456789abcdef", 40<<10) // of several parts in the store
	inBubble(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Cache-Control", "max-age=60")
		w.Header().Set("Trailer", "X-Sum")
		io.WriteString(w, body)
		w.Header().Set("X-Sum", "1")
	}, func(b *bubble) {
		resp, err := b.open(b.t.Context())
		if err != nil {
			b.t.Fatal(err)
		}
		defer resp.Body.Close()
		begin := make([]byte, 1000)
		if _, err := io.ReadFull(resp.Body, begin); err != nil {
			b.t.Fatal(err)
		}
		if b.cache.Held() == 0 {
			b.t.Error("nothing is held while a client reads")
		}
		time.Sleep(2 * time.Second)
		if n := b.cache.Held(); n != 0 {
			b.t.Errorf("%d bytes held for a client that stalls", n)
		}
		rest, err := io.ReadAll(resp.Body)
		if err != nil || string(begin)+string(rest) != body {
			b.t.Errorf("read %d bytes, %v; want %d", len(begin)+len(rest), err, len(body))
		}
		if got := resp.Trailer.Get("X-Sum"); got != "1" {
			b.t.Errorf("trailer X-Sum = %q, want 1", got)
		}
	})
}

func TestAStalledClientThatLeavesLetsGoOfTheStore(t *testing.T) {
	inBubble(t, func(w http.ResponseWriter, _ *http.Request) {
		respond(w, 200, strings.Repeat("x", 300<<10), "Cache-Control: max-age=60")
	}, func(b *bubble) {
		resp, err := b.open(b.t.Context())
		if err != nil {
			b.t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		if err := resp.Body.Close(); err != nil {
			b.t.Error(err)
		}
		if _, err := resp.Body.Read(make([]byte, 1)); err == nil {
			b.t.Error("a closed body can be read")
		}
	})
}

func TestFollowersGetTrailersAndTheirAnnouncement(t *testing.T) {
	begun, finish := make(chan struct{}), make(chan struct{})
	r := newRig(t, cache.Options{}, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Trailer", "X-Sum")
		w.Header().Set("Cache-Control", "max-age=60")
		io.WriteString(w, "hello")
		w.(http.Flusher).Flush()
		close(begun)
		<-finish
		w.Header().Set("X-Sum", "1")
	})
	leader, err := r.cache.RoundTrip(r.request("GET", "/"))
	if err != nil {
		t.Fatal(err)
	}
	defer leader.Body.Close()
	<-begun
	follower, err := r.cache.RoundTrip(r.request("GET", "/"))
	if err != nil {
		t.Fatal(err)
	}
	defer follower.Body.Close()
	close(finish)
	if o := cache.OutcomeOf(follower); !o.Collapsed {
		t.Fatalf("second request did not follow: %v", o)
	}
	for who, resp := range map[string]*http.Response{"leader": leader, "follower": follower} {
		if _, announced := resp.Trailer["X-Sum"]; !announced {
			t.Errorf("%s: trailer not announced with the head: %v", who, resp.Trailer)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		if got := resp.Trailer.Get("X-Sum"); got != "1" {
			t.Errorf("%s: trailer X-Sum = %q, want 1", who, got)
		}
	}
}

// A client that stops reading a body too large to be stored loses its place, and the others get all of it.
func TestAStalledClientOfALargeBodyStopsNobody(t *testing.T) {
	block := strings.Repeat("0123456789abcdef", 64<<10)
	const blocks = 40 // of 1 MiB, without Content-Length: the spool learns late that they are not stored
	inBubble(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Cache-Control", "max-age=60")
		for range blocks {
			if _, err := io.WriteString(w, block); err != nil {
				return
			}
		}
	}, func(b *bubble) {
		stalled, err := b.open(b.t.Context()) // reads nothing
		if err != nil {
			b.t.Fatal(err)
		}
		defer stalled.Body.Close()
		begin := time.Now()
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				resp, err := b.open(b.t.Context())
				if err != nil {
					b.t.Error(err)
					return
				}
				defer resp.Body.Close()
				if n, err := io.Copy(io.Discard, resp.Body); n != blocks<<20 || err != nil {
					b.t.Errorf("another client: %d bytes, %v", n, err)
				}
			})
		}
		wg.Wait()
		if took := time.Since(begin); took > 5*time.Second {
			b.t.Errorf("the others waited %v", took)
		}
		if n, err := io.Copy(io.Discard, stalled.Body); err == nil || n == blocks<<20 {
			b.t.Errorf("the stalled client: %d bytes, %v; want an error", n, err)
		}
		if n := b.asked.Load(); n != 1 {
			b.t.Errorf("requests to the origin = %d, want 1", n)
		}
	})
}
