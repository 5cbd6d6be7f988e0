package requests

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/api/server/asker"
	"github.com/readthru/readthru/internal/journal"
	"github.com/readthru/readthru/knowledge"
)

// RequestEvent is an event of the stream: requests since the last one, oldest first. Dropped are those that were too
// many: over the limit, or so many at once that they were forgotten, whether the filter matches them or not.
type RequestEvent struct {
	Requests []journal.Entry `json:"requests"`
	Dropped  int             `json:"dropped,omitempty"`
}

// WorkEvent is an event of the stream: what is in progress, and how many pages wait to be indexed.
type WorkEvent struct {
	api.Work
	Queued int64 `json:"queued"`
}

// Times of the stream of events.
const (
	eventEvery = 500 * time.Millisecond // how often new requests are looked for
	eventPulse = 15 * time.Second       // how often a stream without events shows that it lives
	workPulse  = 2 * time.Second        // how often jobs that run are told of, since they go on
)

// ServeEvents writes events as they happen (text/event-stream), until the client goes or the server stops. It looks for
// them at intervals: a request costs the same however many clients watch.
func (s *Service) ServeEvents(w http.ResponseWriter, r *http.Request, q api.EventQuery) error {
	f, err := parseFilter(q.Filter)
	if err != nil {
		return err
	}
	f = asker.OwnRequests(r.Context(), f)
	limit := cmp.Or(q.Limit, 100)
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
	var before WorkEvent
	if q.Work {
		before = s.busy()
	}
	pause := time.Duration(0)
	tick := time.NewTicker(eventEvery)
	defer tick.Stop()
	for {
		if out.Flush() != nil {
			return nil
		}
		select {
		case <-r.Context().Done():
			return nil
		case <-s.o.Stopping:
			return nil
		case <-tick.C:
		}
		if q.Work {
			pause += eventEvery
			if now := s.busy(); now != before || now.Jobs > 0 && pause >= workPulse {
				before, pause, quiet = now, 0, 0
				if err := sendEvent(w, "work", now); err != nil {
					return nil // the client has gone
				}
			}
		}
		var event RequestEvent
		event.Requests, last, event.Dropped = s.o.Journal.After(last, f, limit)
		if len(event.Requests) == 0 && event.Dropped == 0 {
			if quiet += eventEvery; quiet >= eventPulse {
				quiet = 0
				if _, err := fmt.Fprint(w, ": \n\n"); err != nil {
					return nil // the client has gone
				}
			}
			continue
		}
		quiet = 0
		if err := sendEvent(w, "requests", event); err != nil {
			return nil // the client has gone
		}
	}
}

// sendEvent writes an event of the stream (text/event-stream, as the HTML standard defines it). An error is a client
// that has gone.
func sendEvent(w io.Writer, name string, event any) error {
	text, err := json.Marshal(event)
	if err == nil {
		_, err = fmt.Fprintf(w, "event: %s\ndata: %s\n\n", name, text)
	}
	return err
}

// busyFor is how long streams share what one of them found in progress: the queue is counted in the store.
const busyFor = eventEvery / 4

// lastBusy is what was last found in progress, which all streams of events share for a moment.
type lastBusy struct {
	mu    sync.Mutex
	at    time.Time
	found WorkEvent
}

// busy returns what is in progress, and how many pages wait to be indexed, as of now or a moment ago.
func (s *Service) busy() WorkEvent {
	b := &s.lastBusy
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.at.IsZero() || time.Since(b.at) >= busyFor {
		b.found = WorkEvent{s.o.Work(), s.o.Store.QueuedJobs(knowledge.Consumer)}
		b.at = time.Now()
	}
	return b.found
}
