package proxy

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"github.com/readthru/readthru/internal/journal"
)

// Keys of the canonical log line. Each request or tunnel writes one when it ends, at level info with the message
// "request".
const (
	KeyID       = "id" // of the request's story, in the dashboard and "readthru log"; none for answers given again
	KeyMethod   = "method"
	KeyURL      = "url" // masked
	KeyStatus   = "status"
	KeyOutcome  = "outcome"
	KeyWhy      = "why"    // the outcome
	KeyCache    = "cache"  // hit, miss, revalidated, stale or bypass
	KeySource   = "source" // how the markdown was obtained
	KeyBytesIn  = "bytes_in"
	KeyBytesOut = "bytes_out"
	KeyDuration = "dur_ms"
	KeyUser     = "user"
	KeySession  = "session"
	KeyAgent    = "agent"
	KeyTrace    = "trace"  // what the client calls the request
	KeyTunnel   = "tunnel" // why it is one, as in X-Readthru-Tunnel
	KeyError    = "error"
	KeyCount    = "count" // of answers like this since the last line about them, if more than one
)

// logMessage is the message of the canonical log line.
const logMessage = "request"

// writeLog logs a request that has ended, with the id of its story.
func writeLog(log *slog.Logger, id string, r *journal.Entry) {
	if log.Enabled(context.Background(), slog.LevelInfo) {
		var room [17]slog.Attr // not on the heap: every request comes here
		log.LogAttrs(context.Background(), slog.LevelInfo, logMessage, addAttrs(room[:0], id, r)...)
	}
}

// addAttrs adds the attributes of a request's log line, 17 at most. Empty ones are left out, and a reason that only
// repeats the error.
func addAttrs(attrs []slog.Attr, id string, r *journal.Entry) []slog.Attr {
	if id != "" {
		attrs = append(attrs, slog.String(KeyID, id))
	}
	attrs = append(attrs,
		slog.String(KeyMethod, r.Method), slog.String(KeyURL, r.URL), slog.Int(KeyStatus, r.Status),
		slog.Int64(KeyBytesIn, r.BytesIn), slog.Int64(KeyBytesOut, r.BytesOut), slog.Int64(KeyDuration, r.MS),
	)
	for _, a := range []struct{ key, value string }{
		{KeyOutcome, r.Outcome},
		{KeyWhy, r.Why},
		{KeyCache, r.Cache},
		{KeySource, r.Source},
		{KeyUser, r.User},
		{KeySession, r.Session},
		{KeyAgent, r.Agent},
		{KeyTrace, r.Trace},
		{KeyTunnel, r.Tunnel},
		{KeyError, r.Error},
	} {
		if a.value != "" && (a.key != KeyWhy || a.value != r.Error) {
			attrs = append(attrs, slog.String(a.key, a.value))
		}
	}
	return attrs
}

// dispatcherLog logs goproxy's messages at level debug.
type dispatcherLog struct{ log *slog.Logger }

// Printf implements goproxy's Logger.
func (l dispatcherLog) Printf(format string, args ...any) {
	if l.log.Enabled(context.Background(), slog.LevelDebug) {
		l.log.Debug("dispatcher", "text", strings.TrimSpace(fmt.Sprintf(format, args...)))
	}
}
