package journal

import (
	"context"
	"net/http"
	"strings"

	"github.com/readthru/readthru/internal/clip"
)

// Doors by which pages are read.
const (
	DoorProxy     = "proxy"
	DoorPrefix    = "prefix" // GET /https://host/path at the proxy's port
	DoorMCP       = "mcp"
	DoorHook      = "hook"
	DoorCommand   = "cli"
	DoorAPI       = "api"
	DoorFirecrawl = "firecrawl"
	DoorCrawl     = "crawl"
	DoorDashboard = "dashboard"
)

// Doors are all doors.
var Doors = []string{
	DoorProxy, DoorPrefix, DoorMCP, DoorHook, DoorCommand, DoorAPI, DoorFirecrawl, DoorCrawl, DoorDashboard,
}

// Asker says who asks this program, other than the proxy, to read a page.
type Asker struct {
	Door   string
	Client string // the address that the request came from; empty: none, as in a job
	Trace  string // what the client calls the request
	Agent  string // User-Agent, shortened
}

type askerKey struct{}

// With returns a context for what is done for an asker.
func With(ctx context.Context, a Asker) context.Context { return context.WithValue(ctx, askerKey{}, a) }

// By returns a context for what is done for the same asker by a door.
func By(ctx context.Context, door string) context.Context {
	a, _ := AskerOf(ctx)
	a.Door = door
	return With(ctx, a)
}

// AskerOf returns for whom something is done; ok is false if nobody says so.
func AskerOf(ctx context.Context) (a Asker, ok bool) {
	a, ok = ctx.Value(askerKey{}).(Asker)
	return a, ok
}

// TraceOf returns what a client calls its request: X-Request-Id, or the trace of a traceparent (W3C Trace Context
// §3.2).
func TraceOf(h http.Header) string {
	if id := h.Get("X-Request-Id"); id != "" {
		return clip.Line(id, 200)
	}
	parts := strings.Split(h.Get("Traceparent"), "-")
	if len(parts) < 4 || len(parts[0]) != 2 || len(parts[1]) != 32 || strings.Trim(parts[1], "0123456789abcdef") != "" ||
		strings.Trim(parts[1], "0") == "" {
		return ""
	}
	return parts[1]
}
