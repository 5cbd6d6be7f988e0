package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"readthru/journal"
)

// eventQuery asks for events.
type eventQuery struct {
	Filter string `query:"q" doc:"only requests that match, as in the list of requests"`
	Limit  int    `query:"limit" range:"1,500" doc:"how many requests an event has at most, the last ones; default 100"`
}

// RequestEvent is an event of the stream: requests since the last one, oldest first. Dropped are those that were too
// many.
type RequestEvent struct {
	Requests []journal.Entry `json:"requests"`
	Dropped  int             `json:"dropped,omitempty"`
}

// Times of the stream of events.
const (
	eventEvery = 500 * time.Millisecond // how often new requests are looked for
	eventPulse = 15 * time.Second       // how often a stream without events shows that it lives
)

// serveEvents writes events as they happen (text/event-stream), until the client goes or the server stops. It looks for
// them at intervals: a request costs the same however many clients watch.
func (s *Server) serveEvents(w http.ResponseWriter, r *http.Request, q eventQuery) error {
	f, err := parseFilter(q.Filter)
	if err != nil {
		return err
	}
	limit := q.Limit
	if limit == 0 {
		limit = 100
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodHead {
		return nil
	}
	out := http.NewResponseController(w)
	if _, err := fmt.Fprintf(w, "retry: 2000\nevent: hello\ndata: {\"instance\":%q}\n\n", s.o.Instance); err != nil {
		return nil // the client has gone
	}
	last, quiet := s.o.Journal.Last(), time.Duration(0)
	tick := time.NewTicker(eventEvery)
	defer tick.Stop()
	for {
		if out.Flush() != nil {
			return nil
		}
		select {
		case <-r.Context().Done():
			return nil
		case <-s.jobs.ctx.Done():
			return nil
		case <-tick.C:
		}
		var event RequestEvent
		if event.Requests, last, event.Dropped = s.o.Journal.After(last, f, limit); len(event.Requests) == 0 {
			if quiet += eventEvery; quiet >= eventPulse {
				quiet = 0
				if _, err := fmt.Fprint(w, ": \n\n"); err != nil {
					return nil // the client has gone
				}
			}
			continue
		}
		quiet = 0
		text, err := json.Marshal(event)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(w, "event: requests\ndata: %s\n\n", text); err != nil {
			return nil // the client has gone
		}
	}
}
