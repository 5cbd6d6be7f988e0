package api

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
)

// SessionStats counts what the proxy answered to a session since its first request. Hits and pages are of the requests; tunnels
// are connections whose content nobody looked at.
type SessionStats struct {
	Session  string     `json:"session"`
	Requests int64      `json:"requests"`
	Pages    int64      `json:"pages"`
	Hits     int64      `json:"hits"`
	Errors   int64      `json:"errors"`
	Tunnels  int64      `json:"tunnels"`
	Tokens   TokenStats `json:"tokens"`
}

// Recorder records what sessions are answered.
type Recorder interface {
	// Record writes what a session is answered to w until EndRecording or ctx ends it. Once it records, and before it writes, it
	// calls begun with the address of a proxy all of whose clients are of that session: not every client names its own.
	Record(ctx context.Context, session string, w io.Writer, begun func(proxy string)) error
	// EndRecording ends a recording and waits until it is written.
	EndRecording(ctx context.Context, session string) error
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

// Record is [Recorder]'s.
func (s *Server) Record(ctx context.Context, session string, w io.Writer, begun func(proxy string)) error {
	if s.o.Recorder == nil {
		return errNoProxy
	}
	return s.o.Recorder.Record(ctx, session, w, begun)
}

// EndRecording is [Recorder]'s.
func (s *Server) EndRecording(ctx context.Context, session string) error {
	if s.o.Recorder == nil {
		return errNoProxy
	}
	return s.o.Recorder.EndRecording(ctx, session)
}

func (s *Server) serveSession(w http.ResponseWriter, r *http.Request) error {
	st, err := s.Session(r.Context(), r.PathValue("name"))
	return reply(w, st, err)
}

// serveRecord writes the recording as it grows. The status is out once it has begun: what fails then shows in its missing end, and
// in the answer to whoever ends it.
func (s *Server) serveRecord(w http.ResponseWriter, r *http.Request) error {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	go func() {
		s.untilStopping(ctx)
		cancel()
	}()
	begun := false
	out := flushing{w, http.NewResponseController(w)}
	err := s.Record(ctx, r.PathValue("name"), out, func(proxy string) {
		begun = true
		w.Header().Set("Content-Type", "application/x-ndjson")
		w.Header().Set(proxyField, proxy)
		w.WriteHeader(http.StatusOK)
		_ = out.out.Flush() // a client that has gone shows at the first line
	})
	if begun {
		return nil
	}
	return err
}

// proxyField tells the proxy of a session that is recorded.
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

// Record is [Recorder]'s. What the daemon could not write, EndRecording tells.
func (c *Client) Record(ctx context.Context, session string, w io.Writer, begun func(proxy string)) error {
	resp, err := c.do(ctx, http.MethodPost, sessionPath(session)+"/recording", nil, nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return refusal(resp)
	}
	begun(resp.Header.Get(proxyField))
	if _, err := io.Copy(w, resp.Body); err != nil {
		return fmt.Errorf("take the recording from the daemon: %w", err)
	}
	return nil
}

// EndRecording is [Recorder]'s.
func (c *Client) EndRecording(ctx context.Context, session string) error {
	_, err := call[deleted](ctx, c, http.MethodDelete, sessionPath(session)+"/recording", nil)
	return err
}
