package people

import (
	"context"
	"io"
	"net/http"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/api/server/asker"
	"github.com/readthru/readthru/internal/fault"
)

// SessionProxies opens proxies that serve one session each, for clients that do not name their session. The methods
// call opened with the proxy's address.
type SessionProxies interface {
	// Record is Open, and writes what the session is answered to w until EndRecording or ctx ends it. It calls opened once
	// it records, before it writes.
	Record(ctx context.Context, session string, offline bool, w io.Writer, opened func(addr string)) error
	// EndRecording ends a recording and waits until it is written.
	EndRecording(ctx context.Context, session string) error
	// Open serves a session's clients until ctx ends. Offline it answers from what is stored and asks no origin.
	Open(ctx context.Context, session string, offline bool, opened func(addr string)) error
	// Closed waits until the proxy at an address is closed, or ctx ends. One that is not there is closed.
	Closed(ctx context.Context, addr string)
}

// GetSession returns the figures of a session.
func (s *Service) GetSession(ctx context.Context, q api.SessionQuery) (*api.SessionStats, error) {
	if s.o.Session == nil {
		return nil, api.ErrNoProxy
	}
	name, err := asker.OwnSession(ctx, q.Name)
	if err != nil {
		return nil, err
	}
	if q.Closed != "" && s.o.SessionProxies != nil {
		s.o.SessionProxies.Closed(ctx, q.Closed)
	}
	st := s.o.Session(name)
	st.Session = name
	return &st, nil
}

// ListSessions lists sessions.
func (s *Service) ListSessions(ctx context.Context, _ api.None) (*api.SessionList, error) {
	list := &api.SessionList{Sessions: []api.SessionSummary{}}
	at := map[string]int{}
	if s.o.Sessions != nil {
		for _, st := range s.o.Sessions() {
			if !asker.OwnsSession(ctx, st.Session) {
				continue
			}
			at[st.Session] = len(list.Sessions)
			list.Sessions = append(list.Sessions, api.SessionSummary{SessionStats: st})
		}
	}
	for _, f := range s.o.Store.FetchedSessions() {
		if !asker.OwnsSession(ctx, f.Name) {
			continue
		}
		i, ok := at[f.Name]
		if !ok {
			i = len(list.Sessions)
			list.Sessions = append(list.Sessions, api.SessionSummary{SessionStats: api.SessionStats{Session: f.Name}})
		}
		list.Sessions[i].Fetched = api.FetchedStats{Pages: f.Pages, Bytes: f.Bytes, Dropped: f.Dropped, Last: f.Used}
	}
	return list, nil
}

// EndRecording ends the recording of a session.
func (s *Service) EndRecording(ctx context.Context, ref api.SessionRef) (*api.Deleted, error) {
	if s.o.SessionProxies == nil {
		return nil, api.ErrNoProxy
	}
	name, err := asker.OwnSession(ctx, ref.Name)
	if err != nil {
		return nil, err
	}
	return &api.Deleted{Deleted: true}, s.o.SessionProxies.EndRecording(ctx, name)
}

// ServeRecording writes the recording as it grows. A failure after its start shows in its missing end, and in the
// answer to the request that ends it.
func (s *Service) ServeRecording(w http.ResponseWriter, r *http.Request, q api.OpenQuery) error {
	name, err := asker.OwnSession(r.Context(), q.Name)
	if err != nil {
		return err
	}
	return s.whileOpen(w, r, "application/x-ndjson", func(ctx context.Context, opened func(addr string)) error {
		out := flushing{w, http.NewResponseController(w)}
		return s.o.SessionProxies.Record(ctx, name, q.Offline, out, opened)
	})
}

// ServeSessionProxy holds the request open until the client goes or the server stops.
func (s *Service) ServeSessionProxy(w http.ResponseWriter, r *http.Request, q api.OpenQuery) error {
	name, err := asker.OwnSession(r.Context(), q.Name)
	if err != nil {
		return err
	}
	return s.whileOpen(w, r, "text/plain", func(ctx context.Context, opened func(addr string)) error {
		return s.o.SessionProxies.Open(ctx, name, q.Offline, opened)
	})
}

// whileOpen answers with the address of a session's proxy as soon as it is open, and holds the request open until the
// proxy is closed.
func (s *Service) whileOpen(w http.ResponseWriter, r *http.Request, media string,
	open func(ctx context.Context, opened func(addr string)) error,
) error {
	if s.o.SessionProxies == nil {
		return api.ErrNoProxy
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	go fault.Contain("api: await the end of the daemon", func() {
		s.o.UntilStopping(ctx)
		cancel()
	})()
	sent := false
	err := open(ctx, func(addr string) {
		sent = true
		w.Header().Set("Content-Type", media)
		w.Header().Set(api.ProxyField, addr)
		w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(w).Flush() // a client that has gone shows in ctx
	})
	if sent {
		return nil // the status is sent
	}
	return err
}

// flushing is a response whose content is sent at once: a recording grows with the session, and its reader waits for
// it.
type flushing struct {
	w   io.Writer
	out *http.ResponseController
}

// Write implements [io.Writer].
func (f flushing) Write(p []byte) (int, error) {
	n, err := f.w.Write(p)
	if err == nil {
		err = f.out.Flush()
	}
	return n, err
}
