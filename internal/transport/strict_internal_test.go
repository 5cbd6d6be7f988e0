package transport

import (
	"errors"
	"io"
	"net"
	"strings"
	"testing"
)

// cutConn is a connection that gives its bytes in parts of a size.
type cutConn struct {
	net.Conn
	rest string
	size int
}

func (c *cutConn) Read(p []byte) (int, error) {
	if c.rest == "" {
		return 0, io.EOF
	}
	n := copy(p, c.rest[:min(c.size, len(c.rest))])
	c.rest = c.rest[n:]
	return n, nil
}

func TestResponsesAreCheckedHoweverTheyAreCut(t *testing.T) {
	const ok, five = "HTTP/1.1 200 OK\r\n", "Content-Length: 5\r\n\r\nhello"
	for _, tt := range []struct {
		name string
		due  int32
		good string // what is passed on
		bad  string // what is not
		want error
	}{
		{"a length", 1, ok + five, "", nil},
		{"no reason, bare line feeds", 1, "HTTP/1.0 404\n" + five, "", nil},
		{"a folded field", 1, ok + "X: a\r\n b\r\n" + five, "", nil},
		{"interim responses", 1, "HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\n" + ok + five, "", nil},
		{"chunks", 1, ok + "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n5\r\nhello\r\n0\r\n\r\n", "", nil},
		{"up to the end of the connection", 1, ok + "X: y\r\n\r\nhello\r\r", "", nil},
		{"another protocol", 1, "HTTP/1.1 101 Switching Protocols\r\nContent-Length: 0\r\n\r\nhello", "", nil},
		{"no response is due yet", 0, "anything\r at all", "", nil},
		{"surplus", 1, ok + five, ok, errSurplus},
		{"surplus behind none", 1, "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", "hello", errSurplus},
		{"surplus behind the answer to HEAD", 2, ok + "Content-Length: 5\r\n\r\n", "hello", errSurplus},
		{"HTTP/2", 1, "HTTP/", "2.0 200 OK\r\n\r\n", errStatusLine},
		{"HTTP/1.2", 1, "HTTP/1.", "2 200 OK\r\n\r\n", errStatusLine},
		{"a status that is a word", 1, "HTTP/1.1 ", "OK\r\n\r\n", errStatusLine},
		{"a status of four digits", 1, "HTTP/1.1 200", "0 OK\r\n\r\n", errStatusLine},
		{"no status", 1, "HTTP/1.1\r", "\n\r\n", errStatusLine},
		{"space before the colon", 1, ok + "Content-Length", " : 5\r\n\r\nhello", errFieldName},
		{"space in a name", 1, ok + "X", " Y: z\r\n\r\n", errFieldName},
		{"space before the first field", 1, ok, " X: y\r\n\r\n", errFieldName},
		{"no name", 1, ok, ": y\r\n\r\n", errFieldName},
		{"no colon", 1, ok + "XY\r", "\n\r\n", errFieldName},
		{"a bare carriage return", 1, ok + "X: a\r", "b\r\n\r\n", errCR},
	} {
		for size := 1; size <= len(tt.good+tt.bad); size++ {
			c := &strictConn{Conn: &cutConn{rest: tt.good + tt.bad, size: size}}
			c.due.Store(tt.due)
			var got strings.Builder
			_, err := io.Copy(&got, onlyReader{c})
			if passed := got.String(); passed != tt.good || !errors.Is(err, tt.want) {
				t.Fatalf("%s, in parts of %d: %q, %v, want %q, %v", tt.name, size, got.String(), err, tt.good, tt.want)
			}
		}
	}
}

type onlyReader struct{ io.Reader }
