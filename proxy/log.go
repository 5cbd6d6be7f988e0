package proxy

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"
)

// Keys of the canonical log line. Each request or tunnel writes one when it ends, at level info with the message
// "request".
const (
	KeyMethod   = "method"
	KeyURL      = "url" // masked
	KeyStatus   = "status"
	KeyCache    = "cache"  // hit, miss, revalidated, stale or bypass
	KeySource   = "source" // how the markdown was obtained
	KeyBytesIn  = "bytes_in"
	KeyBytesOut = "bytes_out"
	KeyDuration = "dur_ms"
	KeyUser     = "user"
	KeyAgent    = "agent"
	KeyTunnel   = "tunnel" // why it is one, as in X-Readthru-Tunnel
	KeyError    = "error"
	KeyCount    = "count" // of answers like this since the last line about them, if more than one
)

// logMessage is the message of the canonical log line.
const logMessage = "request"

// Record describes a finished request, as /api/v1/requests shows it. The URL is masked. BytesIn counts the origin's
// content and BytesOut the bytes written to the client; for a tunnel (method CONNECT) they count the bytes that the
// client and the origin sent.
type Record struct {
	Time     time.Time `json:"time"`
	Method   string    `json:"method"`
	URL      string    `json:"url"`
	Status   int       `json:"status"`
	Cache    string    `json:"cache,omitempty"`
	Source   string    `json:"source,omitempty"`
	BytesIn  int64     `json:"bytes_in"`
	BytesOut int64     `json:"bytes_out"`
	MS       int64     `json:"ms"`
	User     string    `json:"user,omitempty"`
	Agent    string    `json:"agent,omitempty"`
	Tunnel   string    `json:"tunnel,omitempty"` // why the connection was tunnelled, if it was
	Attempts any       `json:"attempts,omitempty"`
	Error    string    `json:"error,omitempty"`
}

// write logs the record.
func (r *Record) write(log *slog.Logger) {
	if log.Enabled(context.Background(), slog.LevelInfo) {
		log.LogAttrs(context.Background(), slog.LevelInfo, logMessage, r.attrs()...)
	}
}

// attrs returns the attributes of the record's log line.
func (r *Record) attrs() []slog.Attr {
	attrs := []slog.Attr{
		slog.String(KeyMethod, r.Method), slog.String(KeyURL, r.URL), slog.Int(KeyStatus, r.Status),
		slog.Int64(KeyBytesIn, r.BytesIn), slog.Int64(KeyBytesOut, r.BytesOut), slog.Int64(KeyDuration, r.MS),
	}
	for _, a := range []struct{ key, value string }{
		{KeyCache, r.Cache},
		{KeySource, r.Source},
		{KeyUser, r.User},
		{KeyAgent, r.Agent},
		{KeyTunnel, r.Tunnel},
		{KeyError, r.Error},
	} {
		if a.value != "" {
			attrs = append(attrs, slog.String(a.key, a.value))
		}
	}
	return attrs
}

// ring keeps the last records.
type ring struct {
	mu   sync.Mutex
	last [500]Record
	n    int // records ever added
}

func (g *ring) add(r Record) {
	g.mu.Lock()
	g.last[g.n%len(g.last)] = r
	g.n++
	g.mu.Unlock()
}

// newestFirst returns a copy of the records, newest first.
func (g *ring) newestFirst() []Record {
	g.mu.Lock()
	defer g.mu.Unlock()
	count := min(g.n, len(g.last))
	records := make([]Record, count)
	for i := range count {
		records[i] = g.last[(g.n-1-i)%len(g.last)]
	}
	return records
}

// dispatcherLog logs goproxy's messages at level debug.
type dispatcherLog struct{ log *slog.Logger }

// Printf implements goproxy's Logger.
func (l dispatcherLog) Printf(format string, args ...any) {
	if l.log.Enabled(context.Background(), slog.LevelDebug) {
		l.log.Debug("dispatcher", "text", strings.TrimSpace(fmt.Sprintf(format, args...)))
	}
}
