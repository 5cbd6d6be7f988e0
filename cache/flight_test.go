package cache_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/readthru/readthru/cache"
	"github.com/readthru/readthru/internal/fault/faulttest"
	"github.com/readthru/readthru/store"
)

// A pipeListener is a network of one address, in memory: synctest can wait on it.
type pipeListener struct {
	conns chan net.Conn
	done  chan struct{}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error {
	close(l.done)
	return nil
}

func (l *pipeListener) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "unix"} }

func (l *pipeListener) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case l.conns <- server:
		return client, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-l.done:
		return nil, net.ErrClosed
	}
}

// A bubble is a cache before a real origin, in a synctest bubble.
type bubble struct {
	t     *testing.T
	cache *cache.Cache
	asked atomic.Int64
}

// inBubble runs test in a synctest bubble, with a cache before an origin that serves handler.
func inBubble(t *testing.T, handler http.HandlerFunc, test func(b *bubble)) {
	t.Helper()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		b := &bubble{t: t}
		st, err := store.Open(store.Options{Dir: dir, Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		l := &pipeListener{conns: make(chan net.Conn), done: make(chan struct{})}
		origin := &http.Server{
			ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
			Handler: http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
				b.asked.Add(1)
				handler(w, req)
			}),
		}
		go func() { _ = origin.Serve(l) }()
		transport := &http.Transport{DialContext: l.dial, DisableCompression: true}
		b.cache = cache.New(cache.Options{Store: st, Next: transport, Log: slog.New(slog.DiscardHandler)})
		test(b)
		_ = b.cache.Close()
		transport.CloseIdleConnections()
		_ = origin.Close()
		_ = st.Close()
	})
}

func (b *bubble) open(ctx context.Context, fields ...string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://origin.test/", nil)
	if err != nil {
		return nil, err
	}
	for _, field := range fields {
		name, value, _ := strings.Cut(field, ": ")
		req.Header.Add(name, value)
	}
	return b.cache.RoundTrip(req) //nolint:contextcheck // req carries it
}

// together runs n clients at once and waits for them.
func (b *bubble) together(n int, client func(i int)) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { client(i) })
	}
	wg.Wait()
}

// wantAsked fails if more than n requests have reached the origin since the last call.
func (b *bubble) wantAsked(n int64) {
	b.t.Helper()
	if got := b.asked.Swap(0); got > n {
		b.t.Errorf("requests to the origin = %d, want at most %d", got, n)
	}
}

func (b *bubble) get(ctx context.Context, fields ...string) (body, status string, err error) {
	resp, err := b.open(ctx, fields...)
	if err != nil {
		return "", "", err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	return string(data), cache.OutcomeOf(resp).String(), err
}

func TestHundredMissesAreOneRequestToTheOrigin(t *testing.T) {
	inBubble(t, func(w http.ResponseWriter, _ *http.Request) {
		time.Sleep(time.Second)
		respond(w, 200, "hello", "Cache-Control: max-age=60")
	}, func(b *bubble) {
		var wg sync.WaitGroup
		var shared atomic.Int64
		for range 100 {
			wg.Go(func() {
				body, status, err := b.get(b.t.Context())
				if err != nil || body != "hello" {
					b.t.Errorf("body %q, error %v", body, err)
				}
				if strings.HasSuffix(status, "; stored; collapsed") || strings.HasPrefix(status, "readthru; hit;") {
					shared.Add(1)
				}
			})
		}
		wg.Wait()
		if n := b.asked.Load(); n != 1 || shared.Load() != 99 {
			b.t.Errorf("%d requests to the origin and %d shared answers, want 1 and 99", n, shared.Load())
		}
	})
}

func TestALeaderThatLeavesLeavesTheOthersTheAnswer(t *testing.T) {
	for _, when := range []string{"before the head", "mid-body"} {
		t.Run(when, func(t *testing.T) {
			inBubble(t, func(w http.ResponseWriter, _ *http.Request) {
				time.Sleep(time.Second)
				w.Header().Set("Cache-Control", "max-age=60")
				io.WriteString(w, "hel")
				w.(http.Flusher).Flush()
				time.Sleep(time.Second)
				io.WriteString(w, "lo")
			}, func(b *bubble) {
				wait := 500 * time.Millisecond
				if when == "mid-body" {
					wait += time.Second
				}
				ctx, cancel := context.WithTimeout(b.t.Context(), wait)
				defer cancel()
				var wg sync.WaitGroup
				wg.Go(func() {
					if _, _, err := b.get(ctx); !errors.Is(err, context.DeadlineExceeded) {
						b.t.Errorf("the leader's error = %v, want %v", err, context.DeadlineExceeded)
					}
				})
				synctest.Wait()
				for range 99 {
					wg.Go(func() {
						if body, _, err := b.get(b.t.Context()); err != nil || body != "hello" {
							b.t.Errorf("follower: %q, %v", body, err)
						}
					})
				}
				wg.Wait()
				if n := b.asked.Load(); n != 1 {
					b.t.Errorf("requests to the origin = %d, want 1", n)
				}
			})
		})
	}
}

func TestAnAgentThatGaveUpFindsTheAnswerStored(t *testing.T) {
	inBubble(t, func(w http.ResponseWriter, _ *http.Request) {
		time.Sleep(5 * time.Second)
		respond(w, 200, "hello", "Cache-Control: max-age=60")
	}, func(b *bubble) {
		ctx, cancel := context.WithTimeout(b.t.Context(), time.Second)
		defer cancel()
		if _, _, err := b.get(ctx); !errors.Is(err, context.DeadlineExceeded) {
			b.t.Errorf("error = %v, want %v", err, context.DeadlineExceeded)
		}
		time.Sleep(10 * time.Second)
		if body, status, err := b.get(b.t.Context()); err != nil || body != "hello" || !strings.Contains(status, "hit") {
			b.t.Errorf("again: %q, %q, %v", body, status, err)
		}
		if n := b.asked.Load(); n != 1 {
			b.t.Errorf("requests to the origin = %d, want 1", n)
		}
	})
}

func TestNobodysRequestEndsAfterAWhile(t *testing.T) {
	var let atomic.Bool
	inBubble(t, func(_ http.ResponseWriter, req *http.Request) {
		<-req.Context().Done()
		let.Store(true)
	}, func(b *bubble) {
		ctx, cancel := context.WithTimeout(b.t.Context(), time.Second)
		defer cancel()
		if _, _, err := b.get(ctx); !errors.Is(err, context.DeadlineExceeded) {
			b.t.Errorf("a client that left got %v", err)
		}
		time.Sleep(20 * time.Second)
		if let.Load() {
			b.t.Error("the origin was let go although the answer could still be stored")
		}
		time.Sleep(20 * time.Second)
		if !let.Load() {
			b.t.Error("the origin is held for nobody")
		}
	})
}

func TestASlowClientSlowsNobody(t *testing.T) {
	body := strings.Repeat("x", 4<<20)
	inBubble(t, fixed(body, "Cache-Control: max-age=60"), func(b *bubble) {
		slow, err := b.open(b.t.Context()) // reads nothing
		if err != nil {
			b.t.Fatal(err)
		}
		if got, _, err := b.get(b.t.Context()); err != nil || got != body {
			b.t.Errorf("another client: %d bytes, %v", len(got), err)
		}
		if got, status, err := b.get(b.t.Context()); err != nil || got != body || !strings.Contains(status, "hit") {
			b.t.Errorf("a later one: %d bytes, %q, %v", len(got), status, err)
		}
		got, err := io.ReadAll(slow.Body)
		slow.Body.Close()
		if err != nil || string(got) != body {
			b.t.Errorf("the slow client: %d bytes, %v", len(got), err)
		}
	})
}

func TestAnswersThatCannotBeSharedDoNotQueue(t *testing.T) {
	for name, fields := range map[string][]string{
		"no-store":  {"Cache-Control: no-store"},
		"no-cache":  {"Cache-Control: no-cache", `ETag: "a"`},
		"other one": {"Cache-Control: max-age=60", "Vary: X"},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(w http.ResponseWriter, req *http.Request) {
				time.Sleep(time.Second)
				respond(w, 200, "for "+req.Header.Get("X"), fields...)
			}, func(b *bubble) {
				begin := time.Now()
				var wg sync.WaitGroup
				for i := range 20 {
					wg.Go(func() {
						body, _, err := b.get(b.t.Context(), fmt.Sprintf("X: %d", i))
						if want := fmt.Sprintf("for %d", i); err != nil || body != want {
							b.t.Errorf("body %q, error %v; want %q", body, err, want)
						}
					})
				}
				wg.Wait()
				if took := time.Since(begin); took > 3*time.Second {
					b.t.Errorf("20 requests took %v, want about two exchanges of 1 s", took)
				}
			})
		})
	}
}

// A connection may be lost: where others wait too, the origin is asked a second time, and all get that answer.
func TestAHeadThatDoesNotComeHoldsFollowersForALimitedTime(t *testing.T) {
	var first atomic.Bool
	inBubble(t, func(w http.ResponseWriter, req *http.Request) {
		if first.CompareAndSwap(false, true) {
			<-req.Context().Done()
			return
		}
		respond(w, 200, "hello", "Cache-Control: max-age=60")
	}, func(b *bubble) {
		begin := time.Now()
		b.together(20, func(int) {
			if body, _, err := b.get(b.t.Context()); err != nil || body != "hello" {
				b.t.Errorf("%q, %v", body, err)
			}
		})
		if took := time.Since(begin); took > 11*time.Second {
			b.t.Errorf("they waited %v", took)
		}
		b.wantAsked(2)
	})
}

// The second request to an origin that is slow to answer panics: the first one answers all.
func TestASecondRequestThatPanicsLeavesTheFirst(t *testing.T) {
	faulttest.Once(t, "cache: round trip")
	inBubble(t, func(w http.ResponseWriter, _ *http.Request) {
		time.Sleep(15 * time.Second)
		respond(w, 200, "hello", "Cache-Control: max-age=60")
	}, func(b *bubble) {
		b.together(2, func(int) {
			if body, _, err := b.get(b.t.Context()); err != nil || body != "hello" {
				b.t.Errorf("%q, %v", body, err)
			}
		})
		b.wantAsked(1)
	})
}

func TestAFollowerOfAValidationSharesIt(t *testing.T) {
	inBubble(t, func(w http.ResponseWriter, req *http.Request) {
		time.Sleep(time.Second)
		if req.Header.Get("If-None-Match") != "" {
			respond(w, 304, "", `ETag: "a"`)
			return
		}
		respond(w, 200, "hello", `ETag: "a"`, "Cache-Control: max-age=10")
	}, func(b *bubble) {
		if _, _, err := b.get(b.t.Context()); err != nil {
			b.t.Error(err)
		}
		time.Sleep(time.Hour)
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				if body, _, err := b.get(b.t.Context()); err != nil || body != "hello" {
					b.t.Errorf("%q, %v", body, err)
				}
			})
		}
		wg.Wait()
		if n := b.asked.Load(); n != 2 {
			b.t.Errorf("requests to the origin = %d, want 2", n)
		}
	})
}

func TestABodyThatProvesTooLargeStreamsOnUnstored(t *testing.T) {
	const size = 64 << 20
	block := make([]byte, 1<<20)
	r := newRig(t, cache.Options{MaxBody: 8 << 20}, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Cache-Control", "max-age=60")
		for range size / len(block) { // no Content-Length
			if _, err := w.Write(block); err != nil {
				return
			}
		}
	})
	defer debug.SetGCPercent(debug.SetGCPercent(100)) // whatever GOGC says: what is not collected yet counts
	for range 2 {
		var before runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		resp, err := r.cache.RoundTrip(r.request("GET", "/"))
		if err != nil {
			t.Fatal(err)
		}
		var peak uint64
		buf := make([]byte, 1<<20)
		var n int64
		for {
			got, err := resp.Body.Read(buf)
			if n += int64(got); n&(4<<20-1) < int64(got) {
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				peak = max(peak, m.HeapInuse)
			}
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		resp.Body.Close()
		if n != size {
			t.Errorf("read %d bytes, want %d", n, size)
		}
		if peak > before.HeapInuse+48<<20 { // 8 MiB kept at first, and what the collector has not taken yet
			t.Errorf("heap in use went from %d to %d MiB", before.HeapInuse>>20, peak>>20)
		}
	}
	r.wantAsked(2)
	if s := r.cache.Stats(); s.Stored != 0 {
		t.Errorf("stored %d responses over MaxBody", s.Stored)
	}
}

func TestAReaderThatLeavesALargeBodyLetsTheOriginGo(t *testing.T) {
	left := make(chan struct{})
	r := newRig(t, cache.Options{MaxBody: 1 << 10}, func(w http.ResponseWriter, _ *http.Request) {
		defer close(left)
		w.Header().Set("Cache-Control", "max-age=60")
		for {
			if _, err := w.Write(make([]byte, 1<<16)); err != nil {
				return
			}
		}
	})
	resp, err := r.cache.RoundTrip(r.request("GET", "/"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.CopyN(io.Discard, resp.Body, 1<<20); err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	<-left
}

func TestNoInterimResponseAfterTheClientLeft(t *testing.T) {
	var late atomic.Int64
	inBubble(t, func(w http.ResponseWriter, _ *http.Request) {
		time.Sleep(2 * time.Second)
		w.WriteHeader(http.StatusEarlyHints)
		respond(w, 200, "x", "Cache-Control: max-age=60")
	}, func(b *bubble) {
		ctx, cancel := context.WithTimeout(b.t.Context(), time.Second)
		defer cancel()
		ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{Got1xxResponse: func(int, textproto.MIMEHeader) error {
			late.Add(1)
			return nil
		}})
		if _, _, err := b.get(ctx); !errors.Is(err, context.DeadlineExceeded) {
			b.t.Errorf("a client that left got %v", err)
		}
		time.Sleep(5 * time.Second)
		if _, status, _ := b.get(b.t.Context()); !strings.Contains(status, "hit") {
			b.t.Errorf("Cache-Status = %q, want a hit", status)
		}
	})
	if late.Load() != 0 {
		t.Error("a hook of a client that left was called")
	}
}

func TestTrailersReachTheClient(t *testing.T) {
	r := newRig(t, cache.Options{}, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Trailer", "X-Sum")
		w.Header().Set("Cache-Control", "max-age=60")
		io.WriteString(w, "hello")
		w.(http.Flusher).Flush()
		w.Header().Set("X-Sum", "1")
	})
	resp, err := r.cache.RoundTrip(r.request("GET", "/"))
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
	if got := resp.Trailer.Get("X-Sum"); got != "1" {
		t.Errorf("trailer X-Sum = %q, want 1", got)
	}
}

func TestAbandonedFlightsDoNotHoldUpClose(t *testing.T) {
	inBubble(t, func(_ http.ResponseWriter, req *http.Request) {
		<-req.Context().Done()
	}, func(b *bubble) {
		ctx, cancel := context.WithTimeout(b.t.Context(), time.Second)
		defer cancel()
		if _, _, err := b.get(ctx); !errors.Is(err, context.DeadlineExceeded) {
			b.t.Errorf("get = %v, want %v", err, context.DeadlineExceeded)
		}
		began := time.Now()
		b.cache.Abandon()
		if err := b.cache.Close(); err != nil || time.Since(began) > 0 {
			b.t.Errorf("Close = %v after %s, want at once", err, time.Since(began))
		}
	})
}
