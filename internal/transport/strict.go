package transport

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"strconv"
	"sync/atomic"
)

// strictConn checks HTTP/1 responses while net/http reads them, because net/http tolerates heads that a cache must not
// store and another parser may read otherwise (RFC 9112 §2.3, §4, §5.1), and may take what an origin sends behind a
// response for the answer to the next request. A read that comes to a bad byte ends before it, and the next one fails.
type strictConn struct {
	net.Conn
	due  atomic.Int32 // the next byte begins a head: 1; that of an answer to HEAD: 2; otherwise 0
	head bool         // the present response is the answer to HEAD
	scan responseScan
	left int64 // bytes of the present response still to come behind its head; -1: not known
	bad  error

	chunked bool // the content comes in chunks
	chunks  chunks
	wide    []byte // to read into while chunks are small; nil: they are not
	joined  []byte // of wide, to be given out
	late    error  // follows joined
}

// Read reads from an origin's connection, and checks how each response is framed before net/http sees it. After a
// malformed one it returns the same error for ever.
func (c *strictConn) Read(p []byte) (int, error) {
	if c.bad != nil {
		return 0, c.bad
	}
	if c.wide != nil {
		return c.readWide(p)
	}
	n, err := c.Conn.Read(p)
	if n == 0 {
		return n, err
	}
	if due := c.due.Swap(0); due > 0 {
		c.head, c.scan, c.chunked = due == 2, responseScan{inside: true, length: -1}, false
	}
	good := 0
	if c.scan.inside {
		if good, c.bad = c.scan.read(p[:n]); c.bad == nil && !c.scan.inside {
			c.left = c.scan.content(c.head)
			c.chunked, c.chunks = c.left < 0 && c.scan.coded, chunks{}
		}
	}
	if c.bad == nil && !c.scan.inside {
		if c.chunked {
			n = c.joinBehind(p[:n], good)
		}
		good = n - c.surplus(int64(n-good))
	}
	if good == 0 {
		return 0, c.bad
	}
	if good < n {
		return good, nil
	}
	return n, err
}

// CloseWrite half-closes the connection, where that is possible.
func (c *strictConn) CloseWrite() error {
	if h, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return h.CloseWrite()
	}
	return errors.ErrUnsupported
}

// joinBehind joins the chunks in p after its head and returns how many bytes that leaves. If they are small, more is
// read at a time from now on.
func (c *strictConn) joinBehind(p []byte, head int) int {
	n := c.chunks.join(p[head:])
	if len(p)-head > 1024 && n < (len(p)-head)/2 && c.chunks.state != afterLast {
		c.wide = make([]byte, joinBuffer)
	}
	return head + n
}

// readWide gives out chunks that were joined, or reads more.
func (c *strictConn) readWide(p []byte) (int, error) {
	if len(c.joined) == 0 && c.late == nil {
		var n int
		n, c.late = c.Conn.Read(c.wide)
		c.joined = c.wide[:c.chunks.join(c.wide[:n])]
	}
	n := copy(p, c.joined)
	c.joined = c.joined[n:]
	if len(c.joined) > 0 {
		return n, nil
	}
	err := c.late
	if err != nil || c.chunks.state == afterLast {
		c.wide, c.joined, c.late = nil, nil, nil
	}
	return n, err
}

// surplus takes n bytes of content and returns how many of them belong to no response.
func (c *strictConn) surplus(n int64) int {
	if c.scan.status == 0 || c.left < 0 { // not HTTP yet, or up to the end of the connection or the last chunk
		return 0
	}
	own := min(n, c.left)
	c.left -= own
	if own < n {
		c.bad = errSurplus
	}
	return int(n - own)
}

// unchecked returns the connection below c if c is a strictConn, else c.
func unchecked(c net.Conn) net.Conn {
	if s, ok := c.(*strictConn); ok {
		return s.Conn
	}
	return c
}

// maxInterim is how many interim responses an origin may send before its answer.
const maxInterim = 50

var errInterim = errors.New("malformed response: too many interim responses")

// watched returns a context whose request tells its strictConn when a response is due, and ends after too many interim
// ones. It replaces the caller's trace and calls it.
func watched(ctx context.Context, method string) context.Context {
	due := int32(1)
	if method == http.MethodHead {
		due = 2
	}
	var trace httptrace.ClientTrace
	callers := httptrace.ContextClientTrace(ctx)
	if callers != nil {
		trace = *callers
	}
	trace.GotConn = func(info httptrace.GotConnInfo) {
		if c, ok := info.Conn.(*strictConn); ok {
			c.due.Store(due)
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

// Value returns the value of a key, but for the trace of the client, in whose place is one that also tells this
// connection of requests.
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
	errSurplus    = errors.New("malformed response: more bytes than its length")
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
	name   [len("transfer-encoding") + 1]byte
	value  [20]byte
	used   int   // bytes in value
	length int64 // Content-Length; -1 if there is none
	coded  bool  // Transfer-Encoding
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
				return i + 1, nil
			}
			continue
		case !s.fields:
			if !s.statusByte(c) {
				return i, errStatusLine
			}
		case s.colon:
			if s.used < len(s.value) {
				s.value[s.used] = c
				s.used++
			}
		case c == ':' && s.n > 0:
			s.colon = true
		case s.n == 0 && (c == ' ' || c == '\t') && s.later:
			s.colon = true // goes on with the value of the line before (RFC 9112 §5.2)
		case c <= ' ', c == ':', c == 0x7f:
			return i, errFieldName
		case s.n < len(s.name):
			s.name[s.n] = c
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

// endLine takes the end of a line of a response's head. The error says what of the line is malformed.
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
		s.endField()
	case s.status >= 100 && s.status < 200 && s.status != http.StatusSwitchingProtocols:
		*s = responseScan{inside: true, length: -1}
		return nil
	default:
		s.inside = false
	}
	s.n, s.colon, s.cr, s.used = 0, false, false, 0
	clear(s.name[:])
	return nil
}

// endField takes the value of a field that frames the response. net/http judges it.
func (s *responseScan) endField() {
	name, value := bytes.TrimRight(s.name[:], "\x00"), s.value[:s.used]
	switch {
	case bytes.EqualFold(name, []byte("Transfer-Encoding")):
		s.coded = true
	case bytes.EqualFold(name, []byte("Content-Length")):
		if n, err := strconv.ParseUint(string(bytes.Trim(value, " \t")), 10, 62); err == nil && len(value) < len(s.value) {
			s.length = int64(n)
		}
	}
}

// content returns how many bytes follow the head of a response (RFC 9112 §6.3), -1 if it does not tell.
func (s *responseScan) content(head bool) int64 {
	switch {
	case s.status == http.StatusSwitchingProtocols:
		return -1
	case head, s.status == http.StatusNoContent, s.status == http.StatusNotModified:
		return 0
	case s.coded:
		return -1
	}
	return s.length
}
