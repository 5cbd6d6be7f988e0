package wiring

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"github.com/readthru/readthru/internal/clip"
)

const (
	logLines    = 200
	logLineSize = 2000 // characters; what is longer is cut
)

// logEnd keeps the last lines of the log, without those of requests, which the journal has.
type logEnd struct {
	mu    sync.Mutex
	lines []string
}

// handler returns what takes messages from a level on.
func (e *logEnd) handler(level slog.Leveler) slog.Handler {
	return withoutRequests{slog.NewTextHandler(e, &slog.HandlerOptions{Level: level})}
}

// Write implements [io.Writer]. It takes a line.
func (e *logEnd) Write(line []byte) (int, error) {
	text := clip.Ellipsis(strings.TrimSuffix(string(line), "\n"), logLineSize)
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.lines) == logLines {
		e.lines = slices.Delete(e.lines, 0, 1)
	}
	e.lines = append(e.lines, text)
	return len(line), nil
}

// list returns the last lines of the log. A logEnd that is nil has none.
func (e *logEnd) list() []string {
	if e == nil {
		return []string{}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]string{}, e.lines...)
}

// withoutRequests drops the line of each request.
type withoutRequests struct{ slog.Handler }

// Handle implements [slog.Handler].
func (h withoutRequests) Handle(ctx context.Context, r slog.Record) error {
	if r.Message == "request" {
		return nil
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs implements [slog.Handler].
func (h withoutRequests) WithAttrs(list []slog.Attr) slog.Handler {
	return withoutRequests{h.Handler.WithAttrs(list)}
}

// WithGroup implements [slog.Handler].
func (h withoutRequests) WithGroup(name string) slog.Handler {
	return withoutRequests{h.Handler.WithGroup(name)}
}
