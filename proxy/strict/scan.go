package strict

import (
	"bytes"
	"errors"
)

// What a scan of a client's bytes refuses.
var (
	errBareCR    = errors.New("a carriage return stands alone (RFC 9112 §2.2)")
	errBareLF    = errors.New("a line of a chunked body ends without a carriage return (RFC 9112 §7.1)")
	errFold      = errors.New("a field is continued on a second line (RFC 9112 §5.2)")
	errTrailer   = errors.New("a trailer field has no name, or white space behind it (RFC 9112 §5.1)")
	errTwoFrames = errors.New("the request has Content-Length and Transfer-Encoding (RFC 9112 §6.1)")
	errLength    = errors.New("Content-Length is not one number (RFC 9112 §6.3)")
	errOldCoding = errors.New("a request of HTTP/1.0 has Transfer-Encoding (RFC 9112 §6.1)")
	errHost      = errors.New("the Host field is not a host (RFC 9112 §3.2)")
	errChunk     = errors.New("a chunk is malformed (RFC 9112 §7.1)")
	errChunkSize = errors.New("a chunk of 4 GiB or more, which a parser of 32 bits reads as a shorter one (RFC 9112 §7.1)")
)

// scanState says in which part of a client's requests a [Scan] is.
type scanState uint8

const (
	inHead      scanState = iota
	inFixed               // content of a known length
	inSize                // the line before a chunk
	inExtension           // the rest of that line
	inChunk
	inChunkEnd // the end of line behind a chunk
	inTrailer
	inUpgrade // what follows may not be HTTP: all passes
)

// Scan follows the bytes of a client of HTTP/1 through its requests, and finds what net/http tolerates and another
// parser may read otherwise. It keeps no bytes but those of the fields that frame or route a request. The zero value is
// at the beginning of a connection. net/http gets the bytes that passed and decides what the request is. The scan only
// ends the connection where another parser could differ from it.
type Scan struct {
	state scanState
	cr    bool  // the byte before was a carriage return
	left  int64 // bytes of content or chunk still to come
	n     int   // bytes of this line so far; in a chunk's size 1 once there is a digit

	head headScan
}

// headScan is what a scan knows of the present head.
type headScan struct {
	started  bool // after the empty lines that may precede the request line
	last     byte // of the request line, the minor version; in a trailer, of the line
	colon    bool
	field    fieldName
	name     [len("transfer-encoding") + 1]byte
	value    [288]byte // of fields that count; a host has at most 253 bytes
	used     int       // bytes in value
	connect  bool
	upgrade  bool
	coding   bool
	measured bool // a Content-Length
	length   int64
}

// fieldName is a field of a head that says how the request is framed or for whom it is.
type fieldName uint8

const (
	otherField fieldName = iota
	lengthField
	codingField
	hostField
	upgradeField
)

// Between reports whether the next byte begins a request.
func (s *Scan) Between() bool { return s.state == inHead && s.n == 0 && !s.cr && !s.head.started }

// Resume goes on with requests behind one whose upgrade was declined: its bytes passed unread as those of another
// protocol, and the client goes on in HTTP. It does nothing in any other state.
func (s *Scan) Resume() {
	if s.state == inUpgrade {
		*s = Scan{}
	}
}

// Read follows p, the next bytes of the client. It returns how many of them are good, and what is wrong with the byte
// after them.
// The bytes after the good ones must not reach net/http. After an error the scan is of no further use.
func (s *Scan) Read(p []byte) (good int, err error) {
	for i := 0; i < len(p); {
		switch s.state {
		case inUpgrade:
			return len(p), nil
		case inFixed, inChunk:
			// The most bytes are content: they are counted, not looked at.
			n := int(min(s.left, int64(len(p)-i)))
			i += n
			if s.left -= int64(n); s.left > 0 {
				continue
			}
			if s.state == inFixed {
				*s = Scan{}
			} else {
				s.state = inChunkEnd
			}
			continue
		case inHead:
			if n := s.wholeLine(p[i:]); n > 0 {
				i += n
				continue
			}
			err = s.inHead(p[i])
		default:
			err = s.inChunked(p[i])
		}
		if err != nil {
			return i, err
		}
		i++
	}
	return len(p), nil
}

// wholeLine follows the first line of p and returns its length, if it is a whole line of a head whose value does not
// count, as most are. It returns 0 if the line needs a closer look.
// It makes the scan of a usual head a search for line ends instead of a step for each byte.
func (s *Scan) wholeLine(p []byte) int {
	if s.n > 0 || s.cr {
		return 0
	}
	end := bytes.IndexByte(p, '\n')
	if end < 2 || bytes.IndexByte(p[:end], '\r') != end-1 {
		return 0
	}
	line, h := p[:end-1], &s.head
	if !h.started {
		h.started, h.last, h.connect = true, line[len(line)-1], bytes.HasPrefix(line, []byte("CONNECT "))
		return end + 1
	}
	// A name as long as one of the four that count may be it; the closer look decides.
	switch bytes.IndexByte(line, ':') {
	case len("Host"), len("Upgrade"), len("Content-Length"), len("Transfer-Encoding"):
		return 0
	}
	if line[0] == ' ' || line[0] == '\t' {
		return 0
	}
	return end + 1
}

// inHead follows one byte of a request's head, where wholeLine could not take the line: the line is split over two
// reads, its field counts, or it is odd.
func (s *Scan) inHead(c byte) error {
	h := &s.head
	if s.cr && c != '\n' {
		return errBareCR
	}
	switch {
	case c == '\r':
		s.cr = true
		return nil
	case c == '\n':
		s.cr = false
		return s.endLine()
	case !h.started:
		if s.n < len(h.name) {
			h.name[s.n] = c
		}
		h.last = c
	case h.colon:
		if h.field != otherField && h.used < len(h.value) {
			h.value[h.used] = c
			h.used++
		}
	case c == ':':
		h.colon, h.used = true, 0
		h.field = fieldOf(h.name[:min(s.n, len(h.name))])
	case s.n == 0 && (c == ' ' || c == '\t'):
		return errFold
	case s.n < len(h.name):
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		h.name[s.n] = c
	}
	s.n++
	return nil
}

// fieldOf returns which of the fields that count a name in lower case is. A name that is longer than all of them is cut
// to one byte more than the longest, and so equals none.
func fieldOf(name []byte) fieldName {
	switch string(name) {
	case "content-length":
		return lengthField
	case "transfer-encoding":
		return codingField
	case "host":
		return hostField
	case "upgrade":
		return upgradeField
	}
	return otherField
}

// endLine follows the end of a line of a request's head: an empty one ends the head, and is skipped before a request
// line, where RFC 9112 §2.2 lets clients send some.
func (s *Scan) endLine() error {
	h := &s.head
	switch {
	case s.n == 0 && h.started:
		s.endHead()
		return nil
	case s.n == 0:
		return nil
	case !h.started:
		h.started = true
		h.connect = bytes.HasPrefix(h.name[:min(s.n, len(h.name))], []byte("CONNECT "))
	case h.field != otherField:
		if err := h.endField(bytes.Trim(h.value[:h.used], " \t")); err != nil {
			return err
		}
	}
	s.n, h.colon, h.field = 0, false, otherField
	return nil
}

// endField takes the value of a field of a head that counts, and refuses what frames the request in two ways.
func (h *headScan) endField(value []byte) error {
	switch h.field {
	case lengthField:
		n, ok := contentLength(value)
		if !ok || h.measured && n != h.length {
			return errLength
		}
		h.measured, h.length = true, n
	case codingField:
		if h.last == '0' {
			return errOldCoding
		}
		h.coding = true // which, net/http decides: it knows chunked alone
	case hostField:
		// A request whose target names no host has an empty Host field (RFC 9112 §3.2).
		if len(value) > 0 && !plainName(value) {
			if _, _, err := SplitAuthority(string(value), "80"); err != nil {
				return errHost
			}
		}
	case upgradeField:
		h.upgrade = true
	}
	if h.measured && h.coding {
		return errTwoFrames
	}
	return nil
}

// plainName reports, for the scan, whether the value of a Host field is a name without a port in lower case, which most
// are: it saves the parse of SplitAuthority. Anything else is not wrong, but needs that.
func plainName(host []byte) bool {
	dot := true
	for _, c := range host {
		switch {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9', c == '-':
			dot = false
		case c == '.' && !dot:
			dot = true
		default:
			return false
		}
	}
	return !dot && len(host) <= 253
}

// contentLength parses, for the scan, a Content-Length: digits alone, without a sign, at most 18, which is far beyond
// any content and fits an int64.
func contentLength(value []byte) (n int64, ok bool) {
	if len(value) == 0 || len(value) > 18 {
		return 0, false
	}
	for _, c := range value {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	return n, true
}

// endHead sets the scan to what follows the present head: content, chunks, the next head, or another protocol. It
// forgets all of the head, for nothing of one request may frame the next.
func (s *Scan) endHead() {
	h := &s.head
	next := Scan{}
	switch {
	case h.connect || h.upgrade:
		next.state = inUpgrade
	case h.coding:
		next.state = inSize
	case h.length > 0:
		next.state, next.left = inFixed, h.length
	}
	*s = next
}

// inChunked follows one byte of a chunked body that is not a chunk's content: of a size, an extension, the end of a
// chunk, or a trailer.
// Parsers differ about line feeds alone and about continued lines, and so about where the body ends: here each is an
// error.
func (s *Scan) inChunked(c byte) error {
	if s.cr {
		if c != '\n' {
			return errBareCR
		}
		s.cr = false
		return s.endChunkLine()
	}
	switch {
	case c == '\r':
		s.cr = true
	case c == '\n':
		return errBareLF
	case s.state == inChunkEnd:
		return errChunk
	case s.state == inSize:
		digit, ok := hexDigit(c)
		switch {
		// One more digit would be 2^32 or more.
		case ok && s.left >= 1<<28:
			return errChunkSize
		case ok:
			s.left, s.n = s.left<<4|digit, 1
		case s.n > 0 && (c == ';' || c == ' ' || c == '\t'):
			s.state = inExtension
		default:
			return errChunk
		}
	case s.state == inTrailer:
		h := &s.head
		if s.n == 0 && (c == ' ' || c == '\t') {
			return errFold
		}
		if c == ':' && !h.colon {
			if s.n == 0 || h.last == ' ' || h.last == '\t' {
				return errTrailer
			}
			h.colon = true
		}
		h.last = c
		s.n++
	}
	return nil
}

// endChunkLine follows the end of a line of a chunked body, and goes on to what the line announced: a chunk's content,
// the next size, or the trailer. The chunk of size 0 is the last one, and an empty line ends the trailer and the
// request.
func (s *Scan) endChunkLine() error {
	switch {
	case s.state == inChunkEnd:
		s.state = inSize
	case s.state == inTrailer && s.n == 0:
		*s = Scan{}
		return nil
	case s.state == inTrailer && !s.head.colon:
		return errTrailer
	case s.state == inTrailer:
	case s.n == 0:
		return errChunk
	case s.left == 0:
		s.state = inTrailer
	default:
		s.state = inChunk
	}
	s.n, s.head.colon = 0, false
	return nil
}

// hexDigit returns the value of a hexadecimal digit in the size of a chunk.
func hexDigit(c byte) (int64, bool) {
	switch {
	case '0' <= c && c <= '9':
		return int64(c - '0'), true
	case 'a' <= c && c <= 'f':
		return int64(c-'a') + 10, true
	case 'A' <= c && c <= 'F':
		return int64(c-'A') + 10, true
	}
	return 0, false
}
