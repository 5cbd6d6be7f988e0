package proxy_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"sync"
)

// logBuffer keeps what is logged, as JSON lines.
type logBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *logBuffer) logger() *slog.Logger {
	return slog.New(slog.NewJSONHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// requests returns the canonical lines.
func (l *logBuffer) requests() (lines []map[string]any) {
	for line := range bytes.Lines([]byte(l.String())) {
		var m map[string]any
		if json.Unmarshal(line, &m) == nil && m["msg"] == "request" {
			lines = append(lines, m)
		}
	}
	return lines
}
