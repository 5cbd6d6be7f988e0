package server_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/api/server"
	"github.com/readthru/readthru/internal/fault/faulttest"
)

// taker stands for the proxy: it records one line at the start of a recording and one at its end.
type taker struct {
	end, ended chan struct{}
	closed     chan string // addresses of proxies whose end was awaited
}

func newTaker() *taker { return &taker{make(chan struct{}), make(chan struct{}), make(chan string, 1)} }

func (f *taker) Record(ctx context.Context, session string, _ bool, w io.Writer, begun func(string)) error {
	if session == "busy" {
		return &api.Error{Status: 409, Detail: "recorded already"}
	}
	defer close(f.ended)
	begun("127.0.0.1:7")
	if _, err := io.WriteString(w, "begun "+session+"\n"); err != nil {
		return err
	}
	select {
	case <-f.end:
	case <-ctx.Done():
		return ctx.Err()
	}
	_, err := io.WriteString(w, "ended\n")
	return err
}

func (f *taker) EndRecording(_ context.Context, session string) error {
	if session == "broken" {
		return errors.New("an answer is not in it")
	}
	close(f.end)
	<-f.ended
	return nil
}

func (f *taker) Closed(_ context.Context, addr string) { f.closed <- addr }

func (f *taker) Open(ctx context.Context, session string, offline bool, begun func(string)) error {
	if session == "busy" {
		return errors.New("no port is free")
	}
	begun(map[bool]string{false: "127.0.0.1:8", true: "127.0.0.1:9"}[offline])
	<-ctx.Done()
	return nil
}

func TestSessionsAreCountedAndRecordedThroughServerAndClient(t *testing.T) {
	for _, over := range []string{"in process", "over HTTP"} {
		t.Run(over, func(t *testing.T) {
			proxies := newTaker()
			w := newWorld(t, func(o *server.Options) {
				o.SessionProxies = proxies
				o.Session = func(name string) api.SessionStats { return api.SessionStats{Requests: int64(len(name))} }
				o.Sessions = func() []api.SessionStats { return []api.SessionStats{{Session: "run/1 ü?", Recording: true}} }
			})
			ops := w.client
			if over == "over HTTP" {
				c := api.NewClient(w.listen(t), "", "agent/1")
				t.Cleanup(c.Close)
				ops = c
			}
			name := "run/1 ü?"
			if st, err := ops.Session(t.Context(), name); err != nil || st.Session != name || st.Requests != int64(len(name)) {
				t.Errorf("session: %+v, %v", st, err)
			}
			if st, err := ops.SessionAfter(t.Context(), name, "127.0.0.1:7"); err != nil || st.Session != name {
				t.Errorf("session, after its proxy: %+v, %v", st, err)
			} else if addr := <-proxies.closed; addr != "127.0.0.1:7" {
				t.Errorf("the end of the proxy at %q is awaited", addr)
			}
			if l, err := ops.Sessions(t.Context()); err != nil || len(l.Sessions) != 1 || l.Sessions[0].Session != name ||
				!l.Sessions[0].Recording {
				t.Errorf("sessions: %+v, %v", l, err)
			}
			err := ops.Record(t.Context(), "busy", false, io.Discard, func(string) { t.Error("begun") })
			if statusOf(err) != 409 {
				t.Errorf("a session that is recorded: %v, want 409", err)
			}
			if err := ops.EndRecording(t.Context(), "broken"); err == nil || err.Error() != "an answer is not in it" {
				t.Errorf("the end of a recording that is not whole: %v", err)
			}
			var out bytes.Buffer
			begun, done := make(chan struct{}), make(chan error, 1)
			go func() {
				done <- ops.Record(t.Context(), name, false, &out, func(addr string) {
					if addr != "127.0.0.1:7" {
						t.Errorf("the proxy of the session is at %q", addr)
					}
					close(begun)
				})
			}()
			<-begun
			if err := errors.Join(ops.EndRecording(t.Context(), name), <-done); err != nil ||
				out.String() != "begun "+name+"\nended\n" {
				t.Errorf("recording %q, %v", out.String(), err)
			}
		})
	}
}

func TestASessionsProxyIsOpenWhileItsRequestIs(t *testing.T) {
	for _, over := range []string{"in process", "over HTTP"} {
		t.Run(over, func(t *testing.T) {
			w := newWorld(t, func(o *server.Options) { o.SessionProxies = newTaker() })
			ops := w.client
			if over == "over HTTP" {
				c := api.NewClient(w.listen(t), "", "agent/1")
				t.Cleanup(c.Close)
				ops = c
			}
			for offline, want := range map[bool]string{false: "127.0.0.1:8", true: "127.0.0.1:9"} {
				ctx, leave := context.WithCancel(t.Context())
				begun, done := make(chan string, 1), make(chan error, 1)
				go func() { done <- ops.Open(ctx, "s", offline, func(addr string) { begun <- addr }) }()
				if addr := <-begun; addr != want {
					t.Errorf("the proxy is at %q, want %q", addr, want)
				}
				leave()
				if err := <-done; err != nil {
					t.Error(err)
				}
			}
			if err := ops.Open(t.Context(), "busy", false, func(string) { t.Error("begun") }); err == nil ||
				!strings.Contains(err.Error(), "no port is free") {
				t.Errorf("a proxy that cannot be opened: %v", err)
			}
		})
	}
}

func TestAMalformedOfflineFlagOpensNoProxy(t *testing.T) {
	w := newWorld(t, func(o *server.Options) { o.SessionProxies = newTaker() })
	resp := ask(t, w.listen(t), "POST", "/api/v1/sessions/s/listener?offline=yes", "", "Content-Type: application/json")
	if resp.StatusCode != http.StatusBadRequest || resp.Header.Get("X-Readthru-Proxy") != "" {
		t.Errorf("status %d, a proxy at %q", resp.StatusCode, resp.Header.Get("X-Readthru-Proxy"))
	}
}

func TestWithoutAProxyNoSessionIsKnown(t *testing.T) {
	w := newWorld(t, nil)
	_, err := w.client.Session(t.Context(), "s")
	for _, err := range []error{
		err, w.client.Record(t.Context(), "s", false, io.Discard, func(string) {}),
		w.client.EndRecording(t.Context(), "s"), w.client.Open(t.Context(), "s", false, func(string) {}),
	} {
		if statusOf(err) != 409 {
			t.Errorf("got %v, want 409", err)
		}
	}
}

func TestAServerThatStopsEndsItsRecordings(t *testing.T) {
	w := newWorld(t, func(o *server.Options) { o.SessionProxies = newTaker() })
	l := httptest.NewUnstartedServer(nil).Listener
	serving, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- w.server.Serve(serving, l) }()
	c := api.NewClient(l.Addr().String(), "", "agent/1")
	defer c.Close()
	begun, done := make(chan struct{}), make(chan error, 1)
	var out bytes.Buffer
	go func() {
		done <- c.Record(t.Context(), "s", false, &out, func(addr string) {
			if addr != "127.0.0.1:7" {
				t.Errorf("the proxy of the session is at %q", addr)
			}
			close(begun)
		})
	}()
	<-begun
	stop()
	if err := errors.Join(<-served, <-done); err != nil || out.String() != "begun s\n" {
		t.Errorf("recording %q, %v, want its begin alone", out.String(), err)
	}
}

// A session whose wait for the end of the daemon panics ends when its client goes, or when the daemon has waited for
// it.
func TestASessionWhoseWaitPanicsEndsWithItsClient(t *testing.T) {
	faulttest.Once(t, "api: await the end of the daemon")
	w := newWorld(t, func(o *server.Options) { o.SessionProxies = newTaker() })
	ctx, leave := context.WithCancel(t.Context())
	if err := w.client.Open(ctx, "s", false, func(string) { leave() }); err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("open: %v", err)
	}
}
