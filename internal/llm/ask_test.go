package llm_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/readthru/readthru/internal/llm"
)

const chatAnswer = `{"choices":[{"message":{"content":"Paris"},"finish_reason":"stop"}]}`

// bubble is a test in virtual time, with a client of an endpoint that counts its requests.
type bubble struct {
	*testing.T
	client *llm.Client
	asked  atomic.Int64
}

// inBubble asks handlers, one a request and the last for all further ones, in virtual time.
func inBubble(t *testing.T, f func(b *bubble), handlers ...http.HandlerFunc) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := &bubble{T: t}
		transport := inMemory(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			n := int(b.asked.Add(1))
			handlers[min(n, len(handlers))-1](w, r)
		}))
		b.client = client(t, llm.OpenAI, "http://model.test/v1", func(o *llm.Options) { o.Transport = transport })
		f(b)
	})
}

func TestTemporaryFailuresAreRetried(t *testing.T) {
	for name, first := range map[string]http.HandlerFunc{
		"500":         answer(500, `{"error":{"message":"oops"}}`),
		"overloaded":  answer(529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`),
		"HTML of 502": answer(502, `<html><h1>Bad gateway</h1></html>`),
		"429":         answer(429, `{"error":{"message":"slow down"}}`),
		"cut body":    answer(200, `{"choices":[{"mess`, "Content-Length: 500"),
		"reset":       func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(b *bubble) {
				a, err := b.client.Chat(b.Context(), llm.Prompt{User: "?"})
				if err != nil || a.Text != "Paris" || b.asked.Load() != 2 {
					b.Errorf("Chat = %v, %v after %d requests, want Paris after 2", a, err, b.asked.Load())
				}
			}, first, answer(200, chatAnswer))
		})
	}
}

func TestTheEndpointsLimitsAreObeyed(t *testing.T) {
	// A synctest bubble starts in the year 2000.
	date := time.Date(2000, 1, 1, 0, 0, 7, 0, time.UTC).Format(http.TimeFormat)
	for _, fields := range [][]string{
		{"Retry-After: 7"},
		{"Retry-After: " + date},
		{"X-RateLimit-Remaining-Tokens: 0", "X-RateLimit-Reset-Tokens: 7s"},
		{"Retry-After: 7", "X-RateLimit-Remaining-Requests: 0", "X-RateLimit-Reset-Requests: 6m0s"},
	} {
		t.Run(fields[0], func(t *testing.T) {
			inBubble(t, func(b *bubble) {
				begun := time.Now()
				if _, err := b.client.Chat(b.Context(), llm.Prompt{User: "?"}); err != nil {
					b.Fatal(err)
				}
				if took := time.Since(begun); took < 7*time.Second || took > 8*time.Second || b.asked.Load() != 2 {
					b.Errorf("answered after %v and %d requests, want 7 s and 2", took, b.asked.Load())
				}
			}, answer(429, `{"error":{"message":"slow down"}}`, fields...), answer(200, chatAnswer))
		})
	}
}

func TestLongRetryAfterFailsEveryCallUntilThen(t *testing.T) {
	inBubble(t, func(b *bubble) {
		for range 3 {
			_, err := b.client.Chat(b.Context(), llm.Prompt{User: "?"})
			e, ok := errors.AsType[*llm.Error](err)
			if !ok || e.Kind != llm.Limited || e.RetryAfter < 9*time.Minute || e.RetryAfter > 10*time.Minute || !e.Temporary() {
				b.Fatalf("error = %v, want a limit of 10 minutes", err)
			}
			time.Sleep(10 * time.Second)
		}
		if b.asked.Load() != 1 {
			b.Errorf("%d requests, want 1", b.asked.Load())
		}
		time.Sleep(10 * time.Minute)
		if _, err := b.client.Chat(b.Context(), llm.Prompt{User: "?"}); err != nil {
			b.Errorf("after the wait: %v", err)
		}
	}, answer(429, `{}`, "Retry-After: 600"), answer(200, chatAnswer))
}

func TestFailingEndpointIsLeftAlone(t *testing.T) {
	inBubble(t, func(b *bubble) {
		for range 100 { // ten minutes
			_, err := b.client.Chat(b.Context(), llm.Prompt{User: "?"})
			if k := kind(b.T, err); k != llm.Trouble && k != llm.Limited {
				b.Fatalf("kind = %q (%v)", k, err)
			}
			time.Sleep(6 * time.Second)
		}
		if n := b.asked.Load(); n < 5 || n > 60 {
			b.Errorf("%d requests in ten minutes, want a few", n)
		}
	}, answer(500, `{}`))
}

func TestSlowEndpointTimesOut(t *testing.T) {
	slow := func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, `{"choices":`)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}
	inBubble(t, func(b *bubble) {
		begun := time.Now()
		_, err := b.client.Chat(b.Context(), llm.Prompt{User: "?"})
		if k := kind(b.T, err); k != llm.TimedOut || time.Since(begun) != time.Minute {
			b.Errorf("%v after %v, want a timeout after a minute", err, time.Since(begun))
		}
		ctx, cancel := context.WithTimeout(b.Context(), 300*time.Millisecond)
		defer cancel()
		if _, err := b.client.Chat(ctx, llm.Prompt{User: "?"}); !errors.Is(err, context.DeadlineExceeded) {
			b.Errorf("with the caller's own deadline: %v, want that", err)
		}
	}, slow)
}

func TestLastingFailuresAreNotRetried(t *testing.T) {
	for name, tt := range map[string]struct {
		first http.HandlerFunc
		want  llm.Kind
	}{
		"wrong key":     {answer(401, `{"error":{"message":"Incorrect API key provided: `+key+`."}}`), llm.Denied},
		"no such model": {answer(404, `{"error":"model \"m\" not found, try pulling it first"}`), llm.BadRequest},
		"redirect":      {answer(302, ``, "Location: http://169.254.169.254/"), llm.BadRequest},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(b *bubble) {
				_, err := b.client.Chat(b.Context(), llm.Prompt{User: "?"})
				if k := kind(b.T, err); k != tt.want || b.asked.Load() != 1 {
					b.Errorf("kind = %q (%v) after %d requests, want %q after 1", k, err, b.asked.Load(), tt.want)
				}
			}, tt.first)
		})
	}
}

func TestEndlessAnswerIsAnError(t *testing.T) {
	d := newDouble(t, func(w http.ResponseWriter, _ *http.Request) {
		block := strings.Repeat(" ", 1<<20)
		for range 70 {
			if _, err := io.WriteString(w, block); err != nil {
				return
			}
		}
	})
	_, err := client(t, llm.OpenAI, base(llm.OpenAI, d)).Chat(t.Context(), llm.Prompt{User: "?"})
	if k := kind(t, err); k != llm.Malformed {
		t.Errorf("kind = %q (%v), want %q", k, err, llm.Malformed)
	}
}

func TestRunningCallsAreBounded(t *testing.T) {
	var under, most atomic.Int64
	slow := func(w http.ResponseWriter, r *http.Request) {
		for n := under.Add(1); ; {
			if m := most.Load(); n <= m || most.CompareAndSwap(m, n) {
				break
			}
		}
		time.Sleep(7 * time.Second) // all turns fit into the minute of a call
		under.Add(-1)
		answer(200, chatAnswer)(w, r)
	}
	inBubble(t, func(b *bubble) {
		errs := make(chan error, 60)
		for range cap(errs) {
			go func() {
				_, err := b.client.Chat(b.Context(), llm.Prompt{User: "?"})
				errs <- err
			}()
		}
		for range cap(errs) {
			if err := <-errs; err != nil {
				b.Error(err)
			}
		}
		if m := most.Load(); m != 8 {
			b.Errorf("%d calls at once, want 8", m)
		}
	}, slow)
}

func TestUnreachableEndpointIsAnError(t *testing.T) {
	d := newDouble(t)
	d.Close()
	_, err := client(t, llm.Ollama, d.URL, func(o *llm.Options) { o.Attempts = 1 }).Chat(t.Context(),
		llm.Prompt{User: "?"})
	if k := kind(t, err); k != llm.Unreachable {
		t.Errorf("kind = %q (%v), want %q", k, err, llm.Unreachable)
	}
}
