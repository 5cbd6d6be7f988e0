package pace_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/readthru/readthru/internal/pace"
)

// pipes is a listener of one connection, which synctest can wait on.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
}

func (p pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p pipes) Close() error {
	close(p.done)
	return nil
}

func (p pipes) Addr() net.Addr { return &net.TCPAddr{} }

// serve answers one client with handler, and runs test as that client after it has asked.
func serve(t *testing.T, handler http.HandlerFunc, test func(t *testing.T, conn net.Conn)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		l := pipes{make(chan net.Conn), make(chan struct{})}
		server := &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute}
		ended := make(chan error)
		go func() { ended <- server.Serve(pace.Listener(l)) }()
		ours, theirs := net.Pipe()
		l.conns <- theirs
		if _, err := io.WriteString(ours, "GET / HTTP/1.1\r\nHost: a.test\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		test(t, ours)
		if err := ours.Close(); err != nil {
			t.Error(err)
		}
		if err := server.Close(); err != nil {
			t.Error(err)
		}
		<-ended //nolint:errcheck // it is http.ErrServerClosed
	})
}

func TestAListenersClientThatTakesNothingIsCutOff(t *testing.T) {
	var after time.Duration
	began := time.Now()
	endless := func(w http.ResponseWriter, _ *http.Request) {
		began = time.Now()
		for {
			if _, err := w.Write(make([]byte, 32<<10)); err != nil {
				after = time.Since(began)
				return
			}
		}
	}
	serve(t, endless, func(_ *testing.T, _ net.Conn) {
		time.Sleep(2 * time.Minute)
		synctest.Wait()
	})
	if after < pace.Strike || after > (pace.Strikes+1)*pace.Strike {
		t.Errorf("cut off after %v, want 30 s to 90 s", after)
	}
}

// net/http clears the deadline after each request.
func TestASecondAnswerKeepsThePace(t *testing.T) {
	asked, cut := 0, false
	handler := func(w http.ResponseWriter, _ *http.Request) {
		if asked++; asked == 1 {
			return
		}
		for !cut {
			_, err := w.Write(make([]byte, 32<<10))
			cut = err != nil
		}
	}
	serveTwice := func(t *testing.T, conn net.Conn) {
		t.Helper()
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: a.test\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
	}
	serve(t, handler, serveTwice)
	if asked != 2 || !cut {
		t.Errorf("%d requests, cut off: %v; want the second one's answer cut off", asked, cut)
	}
}

func TestDeadlinesOfOthersStandAboveThePace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		defer func() { _ = ours.Close() }()
		defer func() { _ = theirs.Close() }()
		var p pace.Pace
		write := func() time.Duration {
			began := time.Now()
			if _, err := p.Write(theirs, []byte("x")); err == nil {
				t.Fatal("written although nobody reads")
			}
			return time.Since(began)
		}
		if err := p.SetWriteDeadline(theirs, time.Now().Add(time.Second)); err != nil {
			t.Fatal(err)
		}
		if after := write(); after != time.Second {
			t.Errorf("ended after %v, want a second", after)
		}
		if err := p.SetWriteDeadline(theirs, time.Time{}); err != nil {
			t.Fatal(err)
		}
		if after := write(); after != pace.Strikes*pace.Strike {
			t.Errorf("ended after %v, want %v", after, pace.Strikes*pace.Strike)
		}
		p.Stop(theirs)
		if err := p.SetWriteDeadline(theirs, time.Time{}); err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(time.Hour, func() { _ = theirs.Close() })
		if after := write(); after != time.Hour {
			t.Errorf("ended after %v although the pace was stopped", after)
		}
	})
}

func TestAListenersSilentStreamGoesOn(t *testing.T) {
	events := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Connection", "close")
		for range 3 {
			time.Sleep(time.Hour)
			if _, err := io.WriteString(w, "data: x\n\n"); err != nil {
				return
			}
			_ = http.NewResponseController(w).Flush() // the client's end of the stream shows it
		}
		_, _ = io.WriteString(w, "data: end\n\n")
	}
	serve(t, events, func(t *testing.T, conn net.Conn) {
		t.Helper()
		all, err := io.ReadAll(conn)
		if err != nil || len(all) < 12 || string(all[len(all)-18:len(all)-7]) != "data: end\n\n" {
			t.Errorf("read %q, %v; want the stream to its end", all, err)
		}
	})
}
