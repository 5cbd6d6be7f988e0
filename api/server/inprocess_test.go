package server_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/readthru/readthru/api"
)

// pieces answers /api/v1/backup with lines, one for each element of more, until that is closed.
func pieces(more <-chan string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for line := range more {
			_, _ = io.WriteString(w, line+"\n")
		}
	}
}

func TestAnswersInProcessStream(t *testing.T) {
	more := make(chan string)
	c := api.NewLocalClient(pieces(more), "", "agent/1", slog.New(slog.DiscardHandler))
	in, out := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- c.Backup(t.Context(), out) }()
	lines := bufio.NewReader(in)
	for _, line := range []string{"one", "two"} {
		more <- line // read before the next is written
		if got, err := lines.ReadString('\n'); err != nil || got != line+"\n" {
			t.Errorf("read %q, %v, want %q", got, err, line)
		}
	}
	close(more)
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestAnswersThatBreakOffAreErrors has handlers fail in every way.
func TestAnswersThatBreakOffAreErrors(t *testing.T) {
	for _, tt := range []struct {
		name   string
		handle func(w http.ResponseWriter, cancel context.CancelFunc)
		want   error // nil: any
	}{
		{"panic before the answer", func(http.ResponseWriter, context.CancelFunc) { panic(http.ErrAbortHandler) }, nil},
		{"a fault before the answer", func(http.ResponseWriter, context.CancelFunc) { panic("fault") }, nil},
		{"panic within it", func(w http.ResponseWriter, _ context.CancelFunc) {
			_, _ = io.WriteString(w, strings.Repeat("x", 1<<20))
			panic(http.ErrAbortHandler)
		}, nil},
		{
			"the context ends before the answer",
			func(_ http.ResponseWriter, cancel context.CancelFunc) { cancel() },
			context.Canceled,
		},
		{"the context ends within it", func(w http.ResponseWriter, cancel context.CancelFunc) {
			_, _ = io.WriteString(w, strings.Repeat("x", 1<<20))
			cancel()
		}, context.Canceled},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			ended := false
			c := api.NewLocalClient(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				defer func() { ended = true }()
				tt.handle(w, cancel)
			}), "", "agent/1", slog.New(slog.DiscardHandler))
			err := c.Backup(ctx, io.Discard)
			if err == nil || tt.want != nil && !errors.Is(err, tt.want) {
				t.Errorf("error %v, want one that is %v", err, tt.want)
			}
			if !ended {
				t.Error("the handler still runs")
			}
		})
	}
}

// TestAHandlerEndsWithItsReader has a handler write on until its reader has gone.
func TestAHandlerEndsWithItsReader(t *testing.T) {
	var last error
	c := api.NewLocalClient(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for last == nil {
			_, last = io.WriteString(w, `{"id":"j","state":"running"}`)
		}
		<-r.Context().Done()
	}), "", "agent/1", slog.New(slog.DiscardHandler))
	enough := errors.New("enough")
	if err := c.WatchJob(t.Context(), "j", func(api.Job) error { return enough }); !errors.Is(err, enough) {
		t.Errorf("error %v, want that of the reader", err)
	}
	if last == nil {
		t.Error("the handler could write on")
	}
}

// TestLocalCallersMeetNoLimitOfTheNetwork sends more than a request over HTTP may hold.
func TestLocalCallersMeetNoLimitOfTheNetwork(t *testing.T) {
	eachClient(t, nil, func(t *testing.T, w *world, ops *api.Client) {
		t.Helper()
		_, err := ops.Detect(t.Context(), "https://example.com/ "+strings.Repeat("x ", 1<<20))
		want := map[bool]api.Code{true: "", false: api.CodeTooLarge}[ops == w.client]
		if api.CodeOf(err) != want {
			t.Errorf("%v, want code %q", err, want)
		}
	})
}

// TestStrangeNamesReachTheOperation names pages so that a path made of them without care would lead elsewhere.
func TestStrangeNamesReachTheOperation(t *testing.T) {
	eachClient(t, nil, func(t *testing.T, _ *world, ops *api.Client) {
		t.Helper()
		for _, doc := range []string{".", "..", "../../stats", "a/b", "%2e%2e", "ü?x=1#y"} {
			if _, err := ops.Page(t.Context(), doc); api.CodeOf(err) != api.CodeInvalid ||
				!strings.Contains(err.Error(), "a page is named by its URL") {
				t.Errorf("page %q: %v", doc, err)
			}
		}
		if _, err := ops.Page(t.Context(), ""); api.CodeOf(err) != api.CodeInvalid {
			t.Errorf("a page without a name: %v", err)
		}
	})
}
