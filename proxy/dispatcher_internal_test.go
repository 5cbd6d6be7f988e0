package proxy

import (
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
)

// goproxy's own request handling has defects: it answers errors with 500 and makes truncated bodies look complete. Only
// requests that our handler passes to it may reach it.
func TestDispatcherRefusesRequestsNotFromTheHandler(t *testing.T) {
	s := &serving{p: &Proxy{log: slog.New(slog.DiscardHandler)}, open: map[net.Conn]struct{}{}}
	dispatcher := s.newDispatcher()
	origin := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter,
		*http.Request,
	) {
		t.Error("an origin was reached")
	}))
	defer origin.Close()
	front := httptest.NewServer(dispatcher)
	defer front.Close()
	for _, request := range []string{
		"GET " + origin.URL + "/ HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n",
		"CONNECT " + origin.Listener.Addr().String() + " HTTP/1.1\r\nHost: a.test\r\n\r\n",
	} {
		c, err := new(net.Dialer).DialContext(t.Context(), "tcp", front.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(c, request)
		got, _ := io.ReadAll(c)
		_ = c.Close()
		if len(got) < 12 || string(got[9:12]) != "400" {
			t.Errorf("%q: %q", request, got)
		}
	}
}
