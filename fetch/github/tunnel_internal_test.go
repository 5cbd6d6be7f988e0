package github

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/readthru/readthru/internal/fault"
	"github.com/readthru/readthru/internal/fault/faulttest"
)

func TestTunnelIsForOneHostAndWhoKnowsThePassword(t *testing.T) {
	dialled := 0
	tun, err := openTunnel(t.Context(), "github.com:443", 1<<20, func(context.Context, string, string) (net.Conn, error) {
		dialled++
		return nil, errors.New("guarded")
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tun.Close() }()
	good := "Proxy-Authorization: " + basic("readthru", tun.password) + "\r\n"
	for request, want := range map[string]string{
		"CONNECT github.com:443 HTTP/1.1\r\nHost: github.com:443\r\n":                                    "407",
		"CONNECT github.com:443 HTTP/1.1\r\nHost: github.com:443\r\nProxy-Authorization: Basic eDp5\r\n": "407",
		"CONNECT 127.0.0.1:22 HTTP/1.1\r\nHost: 127.0.0.1:22\r\n" + good:                                 "403",
		"CONNECT github.com:22 HTTP/1.1\r\nHost: github.com:22\r\n" + good:                               "403",
		"GET http://github.com:443/ HTTP/1.1\r\nHost: github.com:443\r\n" + good:                         "405",
		"CONNECT github.com:443 HTTP/1.1\r\nHost: github.com:443\r\n" + good:                             "502",
	} {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", tun.listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(conn, request+"\r\n")
		answer, _ := io.ReadAll(conn)
		_ = conn.Close()
		if !strings.HasPrefix(string(answer), "HTTP/1.1 "+want) {
			t.Errorf("%q: answer %.40q, want %s", request, answer, want)
		}
	}
	if dialled != 1 || tun.failure() == nil {
		t.Errorf("dialled %d times, failure %v", dialled, tun.failure())
	}
}

func basic(user, password string) string {
	r := http.Request{Header: http.Header{}}
	r.SetBasicAuth(user, password)
	return r.Header.Get("Authorization")
}

// Git is not left waiting when what serves it panics: it is refused, or its connection ends, and the cause is told.
func TestATunnelThatPanicsLeavesNobodyWaiting(t *testing.T) {
	for _, work := range []string{"github: accept git", "github: serve git", "github: relay git"} {
		faulttest.Once(t, work)
		host, far := net.Pipe()
		tun, err := openTunnel(t.Context(), "github.com:443", 1<<20, func(context.Context, string, string) (net.Conn, error) {
			return host, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", tun.listener.Addr().String())
		if err == nil {
			_, _ = io.WriteString(conn, "CONNECT github.com:443 HTTP/1.1\r\nHost: github.com:443\r\nProxy-Authorization: "+
				basic("readthru", tun.password)+"\r\n\r\n")
			_, _ = io.ReadAll(conn)
			_ = conn.Close()
		}
		if err := tun.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			t.Error(err)
		}
		_ = far.Close()
		if !fault.Is(tun.failure()) {
			t.Errorf("%s panics: %v, want the fault", work, tun.failure())
		}
	}
}
