package api

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
)

// SessionStats counts what the proxy answered to a session since its first request. Hits and pages are of the requests;
// tunnels are connections whose content nobody looked at.
type SessionStats struct {
	Session  string     `json:"session"`
	Requests int64      `json:"requests"`
	Pages    int64      `json:"pages"`
	Hits     int64      `json:"hits"`
	Errors   int64      `json:"errors"`
	Tunnels  int64      `json:"tunnels"`
	Tokens   TokenStats `json:"tokens"`
}

// SessionDoors are proxies of one session each: not every client names its own. Their methods call begun with the
// proxy's address.
type SessionDoors interface {
	// Record writes what a session is answered to w until EndRecording or ctx ends it. It calls begun once it records,
	// before it writes.
	Record(ctx context.Context, session string, w io.Writer, begun func(addr string)) error
	// EndRecording ends a recording and waits until it is written.
	EndRecording(ctx context.Context, session string) error
	// Open serves a session's clients until ctx ends; offline it answers from what is stored, and asks no origin.
	Open(ctx context.Context, session string, offline bool, begun func(addr string)) error
}

// errNoProxy answers what only a proxy can.
var errNoProxy = problem(http.StatusConflict, "no proxy runs here")

// Session returns the figures of a session.
func (s *Server) Session(_ context.Context, name string) (*SessionStats, error) {
	if s.o.Session == nil {
		return nil, errNoProxy
	}
	st := s.o.Session(name)
	st.Session = name
	return &st, nil
}

// Record is [SessionDoors]'s.
func (s *Server) Record(ctx context.Context, session string, w io.Writer, begun func(addr string)) error {
	if s.o.SessionDoors == nil {
		return errNoProxy
	}
	return s.o.SessionDoors.Record(ctx, session, w, begun)
}

// EndRecording is [SessionDoors]'s.
func (s *Server) EndRecording(ctx context.Context, session string) error {
	if s.o.SessionDoors == nil {
		return errNoProxy
	}
	return s.o.SessionDoors.EndRecording(ctx, session)
}

// Open is [SessionDoors]'s.
func (s *Server) Open(ctx context.Context, session string, offline bool, begun func(addr string)) error {
	if s.o.SessionDoors == nil {
		return errNoProxy
	}
	return s.o.SessionDoors.Open(ctx, session, offline, begun)
}

func (s *Server) serveSession(w http.ResponseWriter, r *http.Request) error {
	st, err := s.Session(r.Context(), r.PathValue("name"))
	return reply(w, st, err)
}

// serveRecord writes the recording as it grows. What fails once it has begun shows in its missing end, and in the
// answer to whoever ends it.
func (s *Server) serveRecord(w http.ResponseWriter, r *http.Request) error {
	return s.serveDoor(w, r, "application/x-ndjson", func(ctx context.Context, begun func(addr string)) error {
		return s.Record(ctx, r.PathValue("name"), flushing{w, http.NewResponseController(w)}, begun)
	})
}

// serveOpen holds the request open until the client goes or the server stops.
func (s *Server) serveOpen(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	if err := known(q, "offline"); err != nil {
		return err
	}
	offline, err := flag(q, "offline")
	if err != nil {
		return err
	}
	return s.serveDoor(w, r, "text/plain", func(ctx context.Context, begun func(addr string)) error {
		return s.Open(ctx, r.PathValue("name"), offline, begun)
	})
}

// serveDoor answers with a door's address as soon as it is open, and holds the request open until the door is closed.
func (s *Server) serveDoor(w http.ResponseWriter, r *http.Request, media string,
	open func(ctx context.Context, begun func(addr string)) error,
) error {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	go func() {
		s.untilStopping(ctx)
		cancel()
	}()
	begun := false
	err := open(ctx, func(addr string) {
		begun = true
		w.Header().Set("Content-Type", media)
		w.Header().Set(proxyField, addr)
		w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(w).Flush() // a client that has gone shows in ctx
	})
	if begun {
		return nil // the status is out
	}
	return err
}

// proxyField tells the address of a session's door.
const proxyField = "X-Readthru-Proxy"

// flushing is a response whose content leaves at once.
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

func (s *Server) serveEndRecording(w http.ResponseWriter, r *http.Request) error {
	err := s.EndRecording(r.Context(), r.PathValue("name"))
	return reply(w, deleted{true}, err)
}

func sessionPath(name string) string { return "/api/v1/sessions/" + url.PathEscape(name) }

// Session returns the figures of a session.
func (c *Client) Session(ctx context.Context, name string) (*SessionStats, error) {
	return call[SessionStats](ctx, c, http.MethodGet, sessionPath(name), nil)
}

// Record is [SessionDoors]'s. What the daemon could not write, EndRecording tells.
func (c *Client) Record(ctx context.Context, session string, w io.Writer, begun func(addr string)) error {
	return c.door(ctx, sessionPath(session)+"/recording", nil, w, begun)
}

// Open is [SessionDoors]'s.
func (c *Client) Open(ctx context.Context, session string, offline bool, begun func(addr string)) error {
	var q url.Values
	if offline {
		q = url.Values{"offline": {"1"}}
	}
	if err := c.door(ctx, sessionPath(session)+"/door", q, io.Discard, begun); ctx.Err() == nil {
		return err
	}
	return nil
}

// door opens a session's door, and copies what comes to w until it is closed.
func (c *Client) door(ctx context.Context, path string, q url.Values, w io.Writer, begun func(addr string)) error {
	resp, err := c.do(ctx, http.MethodPost, path, q, nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return refusal(resp)
	}
	begun(resp.Header.Get(proxyField))
	if _, err := io.Copy(w, resp.Body); err != nil {
		return fmt.Errorf("a session's door at the daemon: %w", err)
	}
	return nil
}

// EndRecording is [SessionDoors]'s.
func (c *Client) EndRecording(ctx context.Context, session string) error {
	_, err := call[deleted](ctx, c, http.MethodDelete, sessionPath(session)+"/recording", nil)
	return err
}
