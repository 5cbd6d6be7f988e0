package fetch

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"sync/atomic"
)

// strictConn checks the heads of HTTP/1 responses while net/http reads them, because net/http tolerates what a cache
// must not store and another parser may read otherwise (RFC 9112 §2.3, §4, §5.1). A read that comes to a bad byte ends
// before it, and the next one fails.
type strictConn struct {
	net.Conn
	due  atomic.Bool // the next byte begins a head
	scan responseScan
	bad  error
}

func (c *strictConn) Read(p []byte) (int, error) {
	if c.bad != nil {
		return 0, c.bad
	}
	n, err := c.Conn.Read(p)
	if n == 0 {
		return n, err
	}
	if c.due.Swap(false) {
		c.scan = responseScan{inside: true}
	}
	if c.scan.inside {
		var good int
		if good, c.bad = c.scan.read(p[:n]); good == 0 {
			return 0, c.bad
		} else if good < n {
			return good, nil
		}
	}
	return n, err
}

// unchecked returns the connection below a strictConn, and c itself if it is none.
func unchecked(c net.Conn) net.Conn {
	if s, ok := c.(*strictConn); ok {
		return s.Conn
	}
	return c
}

// maxInterim is how many interim responses an origin may send before its answer.
const maxInterim = 50

var errInterim = errors.New("malformed response: too many interim responses")

// watched returns a context whose request tells its connection when a response is due, and ends after too many interim
// ones. It replaces the caller's trace and calls it.
func watched(ctx context.Context) context.Context {
	var trace httptrace.ClientTrace
	callers := httptrace.ContextClientTrace(ctx)
	if callers != nil {
		trace = *callers
	}
	trace.GotConn = func(info httptrace.GotConnInfo) {
		if c, ok := info.Conn.(*strictConn); ok {
			c.due.Store(true)
		}
		if callers != nil && callers.GotConn != nil {
			callers.GotConn(info)
		}
	}
	interim := 0 // the responses of a request come one after another
	trace.Got1xxResponse = func(code int, h textproto.MIMEHeader) error {
		if interim++; interim > maxInterim {
			return errInterim
		}
		if callers != nil && callers.Got1xxResponse != nil {
			return callers.Got1xxResponse(code, h)
		}
		return nil
	}
	if callers == nil {
		return httptrace.WithClientTrace(ctx, &trace)
	}
	return &watchedContext{ctx, &trace}
}

// watchedContext has another trace than the context that it is made of.
type watchedContext struct {
	context.Context
	trace *httptrace.ClientTrace
}

func (c *watchedContext) Value(key any) any {
	v := c.Context.Value(key)
	if _, ok := v.(*httptrace.ClientTrace); ok {
		return c.trace
	}
	return v
}

// What a responseScan refuses. net/http's own errors say "malformed", too.
var (
	errStatusLine = errors.New("malformed response: its first line is not one of HTTP/1.1 or HTTP/1.0")
	errFieldName  = errors.New("malformed response: a field has no name, or one with spaces")
	errCR         = errors.New("malformed response: a carriage return stands alone in its head")
)

// responseScan follows the head of a response, and those of the interim responses before it.
type responseScan struct {
	inside bool
	fields bool // after the status line
	later  bool // after the first field
	colon  bool
	cr     bool
	n      int // bytes of this line so far
	status int
}

// read follows p. It returns how many of its bytes are good, and what is wrong with the next one. It stops at the end
// of the head.
func (s *responseScan) read(p []byte) (good int, err error) {
	for i, c := range p {
		switch {
		case s.cr && c != '\n':
			return i, errCR
		case c == '\r':
			s.cr = true
			continue
		case c == '\n':
			if err := s.endLine(); err != nil {
				return i, err
			}
			if !s.inside {
				return len(p), nil
			}
			continue
		case !s.fields:
			if !s.statusByte(c) {
				return i, errStatusLine
			}
		case s.colon:
		case c == ':' && s.n > 0:
			s.colon = true
		case s.n == 0 && (c == ' ' || c == '\t') && s.later:
			s.colon = true // goes on with the value of the line before (RFC 9112 §5.2)
		case c <= ' ', c == ':', c == 0x7f:
			return i, errFieldName
		}
		s.n++
	}
	return len(p), nil
}

// statusByte reports whether c may stand here in a status line.
func (s *responseScan) statusByte(c byte) bool {
	const begin = "HTTP/1."
	switch {
	case s.n < len(begin):
		return c == begin[s.n]
	case s.n == len(begin):
		return c == '0' || c == '1'
	case s.n == len(begin)+1, s.n == len(begin)+5:
		return c == ' '
	case s.n < len(begin)+5:
		s.status = s.status*10 + int(c-'0')
		return '0' <= c && c <= '9'
	}
	return true
}

func (s *responseScan) endLine() error {
	switch {
	case !s.fields && s.n < len("HTTP/1.1 200"):
		return errStatusLine
	case !s.fields:
		s.fields = true
	case s.n > 0 && !s.colon:
		return errFieldName
	case s.n > 0:
		s.later = true
	case s.status >= 100 && s.status < 200 && s.status != http.StatusSwitchingProtocols:
		*s = responseScan{inside: true}
		return nil
	default:
		s.inside = false
	}
	s.n, s.colon, s.cr = 0, false, false
	return nil
}
