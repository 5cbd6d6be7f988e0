package transport

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// upload counts how often it is read, and tells that it is closed.
type upload struct {
	io.Reader
	reads  atomic.Int32
	closed chan struct{}
}

func (u *upload) Read(p []byte) (int, error) {
	u.reads.Add(1)
	return u.Reader.Read(p)
}

func (u *upload) Close() error {
	close(u.closed)
	return nil
}

func TestContentThatTheOriginDoesNotAskForIsNotRead(t *testing.T) {
	for _, tt := range []struct {
		name, first, last string // what the origin says before and after it has read the content, if it does
		silent            time.Duration
		wanted            bool
	}{
		{"refused with content", "", "HTTP/1.1 413 Content Too Large\r\nContent-Length: 5\r\n\r\nlarge", 0, false},
		{"refused without", "", "HTTP/1.1 417 Expectation Failed\r\nContent-Length: 0\r\n\r\n", 0, false},
		{
			"refused behind hints", "",
			"HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 307 Temporary Redirect\r\nContent-Length: 0\r\n\r\n",
			0, false,
		},
		{"wanted", "HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", 0, true},
		{"nothing is said", "", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", 2 * time.Second, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ours, theirs := net.Pipe()
				go func() {
					defer func() { _ = theirs.Close() }()
					r := bufio.NewReader(theirs)
					if _, err := http.ReadRequest(r); err != nil {
						t.Error(err)
						return
					}
					io.WriteString(theirs, tt.first)
					if time.Sleep(tt.silent); tt.wanted {
						_, _ = io.ReadFull(r, make([]byte, 5))
					}
					io.WriteString(theirs, tt.last)
					_, _ = r.ReadByte() // until the connection is given up
				}()
				tr := &http.Transport{
					ExpectContinueTimeout: continueTimeout,
					DialContext:           func(context.Context, string, string) (net.Conn, error) { return ours, nil },
				}
				u := &upload{Reader: strings.NewReader("hello"), closed: make(chan struct{})}
				req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, "http://a.test/", u)
				if err != nil {
					t.Fatal(err)
				}
				req.ContentLength = 5
				req.Header.Set("Expect", "100-continue")
				req, expected := expecting(req)
				resp, err := tr.RoundTrip(req)
				expected.answered(resp, err)
				if err != nil {
					t.Fatal(err)
				}
				want := tt.last[strings.LastIndex(tt.last, "\n")+1:]
				if got, err := io.ReadAll(resp.Body); string(got) != want || err != nil {
					t.Errorf("%s %q, %v, want %q", resp.Status, got, err, want)
				}
				_ = resp.Body.Close()
				<-u.closed
				if got := u.reads.Load() > 0; got != tt.wanted {
					t.Errorf("the content was read: %v, want %v", got, tt.wanted)
				}
				tr.CloseIdleConnections()
			})
		})
	}
}
