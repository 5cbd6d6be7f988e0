package proxy

import (
	"bytes"
	"crypto/sha256"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/readthru/readthru/cache"
	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/internal/httpfield"
	"github.com/readthru/readthru/proxy/repeat"
	"github.com/readthru/readthru/store"
)

const (
	// maxFastHead is the longest head of a request or answer that is given again, in bytes. net/http reads into a buffer
	// of this size, so that a longer head comes in pieces.
	maxFastHead = 4096

	// closeTime is how long an answer that is given again may take once its connection is being closed.
	closeTime = 5 * time.Second
	// renewIdle is how often the limit of an idle connection is moved at most: it costs more than the rest of a hit.
	renewIdle = parkTime / 2
)

// fast is the part of a framedConn that gives an answer again before net/http sees the request. It looks at the bytes
// that begin a request. If an equal head got an answer that still holds, it writes that answer. Otherwise net/http gets
// the bytes, and the answer that it writes is kept if the handler offers it.
//
// It decides nothing: an equal head is one with the same bytes, from a connection with the same scope, and what the
// handler decided about the first is repeated. It knows where requests begin because every byte so far was part of a
// head that net/http got alone. As soon as that is not certain, it is off for the rest of the connection.
type fast struct {
	s     *serving
	scope string
	table *repeat.Table // nil: off

	ready   atomic.Bool // the next byte begins a request
	whole   bool        // net/http has a whole head; more bytes are content, or a request before the answer to the last
	line    int         // length of the present line of the head that net/http gets
	read    int         // bytes of that head
	request []byte      // that head, in net/http's buffer; nil if its answer is not kept
	mark    repeat.Mark // before the handler looked at anything
	spoilt  atomic.Bool // bytes came that must not: off from the next request on

	// taking is the answer that is being written; nil: it is not kept. It is atomic because a server that the connection
	// left to be parked says late that it is closed, while another server may serve it.
	taking atomic.Pointer[taking]

	wrote   atomic.Bool // a part of the answer to that head
	mu      sync.Mutex
	changed sync.Cond
	aborted bool // net/http wants no more of the connection for now; guarded by mu
	holding bool
	held    byte // came behind the answer, before net/http was ready for it

	gave  bool      // an answer was given again
	moved time.Time // when the limit of the idle connection was moved; zero: it is net/http's
	state atomic.Int32
}

// States of a fast: what Close has to know.
const (
	waiting int32 = iota
	giving
	closing
	leaving // net/http, which closes the connection; it will be parked
)

// open makes a connection give answers again. inside is nil for one that is not intercepted. The scope holds all that
// the handler's decision depends on beside the bytes of the request: the listener, and of an intercepted connection its
// target, its user and its session.
func (f *fast) open(s *serving, inside *connect) {
	f.s, f.table, f.scope = s, s.p.repeats, s.scope
	f.changed.L = &f.mu
	f.ready.Store(true)
	if inside != nil {
		f.scope = strings.Join([]string{
			s.scope, inside.host, inside.port, inside.named, inside.user.Name(), inside.session,
			strconv.FormatInt(inside.drops, 10),
		},
			"\x00")
	}
}

// readUnanswered reads bytes for net/http, after it has given answers again, the fast way, to the requests before them.
// framedConn.Read calls it.
func (c *framedConn) readUnanswered(p []byte) (n int, err error) {
	f := &c.fast
	switch {
	case f.ready.Load():
		n, err = c.readBegin(p)
	case f.table != nil && f.whole && len(p) == 1:
		return c.readBehind(p)
	default:
		n, err = c.Conn.Read(p)
	}
	if n > 0 {
		c.pass(p[:n], f.ready.Swap(false))
	}
	return n, err
}

// readBegin reads what begins a request, and gives answers again, the fast way, until it is one that net/http must
// answer. If no request comes, it calls leave, by which the connection may be parked.
func (c *framedConn) readBegin(p []byte) (n int, err error) {
	for {
		n, err = c.readFirst(p)
		if n == 0 || err != nil || !c.giveAgain(p[:n]) {
			if n == 0 {
				c.leave(err)
			}
			return n, err
		}
	}
}

// readFirst reads the first bytes of a request that may be answered the fast way, without the empty line that some
// clients send before it (RFC 9112 §2.2). It drops one at most, and none where net/http has the beginning of a
// request, which an empty line may end. A read of one byte is net/http's beside a handler: that byte is passed on.
func (c *framedConn) readFirst(p []byte) (n int, err error) {
	if f := &c.fast; f.holding {
		p[0], n, f.holding = f.held, 1, false
	}
	for drop := len(p) > 1 && c.scan.Between(); ; {
		m, err := c.Conn.Read(p[n:])
		if n > 0 {
			err = nil // the next read returns it again
		}
		n += m
		switch {
		case !drop || err != nil:
			return n, err
		case m > 0 && string(p[:n]) == "\r":
			continue
		case !bytes.HasPrefix(p[:n], []byte("\r\n")):
			return n, nil
		}
		drop = false
		if n = copy(p, p[len("\r\n"):n]); n > 0 {
			return n, nil
		}
	}
}

// readBehind reads, past the fast way, the byte that net/http waits for while a handler runs, to notice that the client
// has gone. A byte that comes after the answer is the first one of the next request: it is held until net/http asks for
// that. net/http ends its wait by a deadline in the past.
func (c *framedConn) readBehind(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n == 0 {
		return n, err
	}
	f := &c.fast
	if !f.wrote.Load() {
		f.spoilt.Store(true) // pipelining
		return n, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.held, f.holding = p[0], true
	for !f.aborted {
		f.changed.Wait()
	}
	return 0, os.ErrDeadlineExceeded
}

// giveAgain answers, the fast way, a request whose head is exactly b, if an equal one got an answer that still holds.
// It reports whether it did: if not, net/http gets the bytes.
func (c *framedConn) giveAgain(b []byte) bool {
	f := &c.fast
	if f.spoilt.Load() || !c.scan.Between() {
		f.off()
	}
	if f.table == nil {
		return false
	}
	now := time.Now()
	a, content := f.table.Find(f.scope, b, now.Round(0))
	// The lock fails once serving has ended, and holds its end back until the answer is written.
	if a == nil || !f.s.giving.TryRLock() {
		return false
	}
	defer f.s.giving.RUnlock()
	if a.May != nil && !a.May(now) {
		return false
	}
	if !f.state.CompareAndSwap(waiting, giving) {
		return false
	}
	if !f.gave {
		f.gave = true
		f.s.connState(c, http.StateActive)
	}
	err := c.writeAgain(a, content, now)
	if now.Sub(f.moved) > renewIdle {
		f.moved = now
		c.Conn.SetReadDeadline(now.Add(parkTime)) //nolint:errcheck // the next read reports it
	}
	// Somebody has closed the connection meanwhile, or the client does not take the answer.
	if !f.state.CompareAndSwap(giving, waiting) || err != nil {
		c.Conn.Close() //nolint:errcheck // the next read fails
	}
	a.Given(now, time.Since(now), err)
	return true
}

// writeAgain writes an answer that is given again, the fast way, with its age as of now, in one write if its content is
// short.
func (c *framedConn) writeAgain(a *repeat.Answer, content repeat.Content, now time.Time) error {
	buf := records.Get().(*[maxRecord]byte)
	defer records.Put(buf)
	head := append(a.AppendHead(buf[:0], now), content.Before...)
	if len(head)+len(content.Rest) <= maxRecord {
		_, err := c.send(append(head, content.Rest...))
		return err
	}
	c.out.held = head
	_, err := c.writeBehind(content.Rest)
	c.out.held = nil
	return err
}

// pass looks at bytes that net/http is about to get, for the fast way of later requests. begins says that a request
// begins with them. It keeps the head for the answer if it is whole, alone, and one whose answer may be given again.
func (c *framedConn) pass(b []byte, begins bool) {
	f := &c.fast
	if f.table == nil {
		return
	}
	if begins {
		f.whole, f.line, f.read, f.request = false, 0, 0, nil
		if c.limited() {
			c.parks, f.moved = false, time.Time{}
			c.Conn.SetReadDeadline(time.Now().Add(headTime)) //nolint:errcheck // the next read reports it
		}
	}
	if f.whole {
		f.spoilt.Store(true) // content, or pipelining; a handler may be running
		return
	}
	end := f.headEnd(b)
	f.read += len(b)
	if end >= 0 && end < len(b) || f.read > 16<<10 {
		f.off()
		return
	}
	f.whole = end >= 0
	f.wrote.Store(false)
	if !f.whole || f.read > len(b) {
		return
	}
	switch judgeHead(b) {
	case keepAnswer:
		f.request, f.mark = b, f.table.Mark() // before the handler looks at anything
	case unframed:
		f.off()
	}
}

// off ends the giving of answers again for the rest of the connection.
func (f *fast) off() {
	f.table, f.request = nil, nil
	f.take(nil)
}

// headEnd returns where the head of a request ends in b, -1 if it does not. Heads in pieces continue where the last
// call ended.
func (f *fast) headEnd(b []byte) int {
	for i, ch := range b {
		switch {
		case ch == '\n' && f.line == 0:
			return i + 1
		case ch == '\n':
			f.line = 0
		case ch != '\r':
			f.line++
		}
	}
	return -1
}

// A headVerdict says whether the answer to a request's head may be given again.
type headVerdict int

const (
	keepAnswer headVerdict = iota // its answer may be given again
	passOn                        // net/http answers it
	unframed                      // net/http answers it and all that follow: where it ends is not for us to say
)

// judgeHead decides whether a whole head of a request may go the fast way, by the fields that make it more than its
// target and preferences: content, conditions, credentials.
func judgeHead(b []byte) headVerdict {
	first, rest, _ := bytes.Cut(b, []byte("\r\n"))
	verdict := keepAnswer
	if bytes.HasPrefix(first, []byte("CONNECT ")) {
		return unframed
	}
	if !bytes.HasPrefix(first, []byte("GET ")) || !bytes.HasSuffix(first, []byte(" HTTP/1.1")) {
		verdict = passOn
	}
	for len(rest) > 2 {
		line, after, ended := bytes.Cut(rest, []byte("\r\n"))
		name, value, field := bytes.Cut(line, []byte(":"))
		if !ended || !field || bytes.ContainsAny(name, " \t\r\n") || bytes.IndexByte(value, '\n') >= 0 {
			return unframed
		}
		rest = after
		switch judgeField(strings.ToLower(string(name)), string(bytes.TrimSpace(value))) {
		case keepAnswer:
		case unframed:
			return unframed
		case passOn:
			verdict = passOn
		}
	}
	return verdict
}

// judgeField decides whether one field lets a head go the fast way; name is in lower case.
func judgeField(name, value string) headVerdict {
	switch name {
	case "content-length", "transfer-encoding", "expect", "upgrade", "range", "te", "trailer":
		return unframed
	case "connection":
		if !strings.EqualFold(value, "keep-alive") { // many clients send it with each request
			return unframed
		}
	case "proxy-connection":
		if !strings.EqualFold(value, "keep-alive") {
			return passOn
		}
	case "authorization", "proxy-authorization", "cookie", "cache-control", "pragma":
		return passOn
	}
	if strings.HasPrefix(name, "if-") || strings.HasPrefix(name, "x-readthru-") {
		return passOn
	}
	return keepAnswer
}

// taking is an answer that is being written and will be kept, to be given again.
type taking struct {
	x      *exchange
	reuse  *cache.Reuse
	repeat *fetch.Repeat // nil if package fetch was not asked
	length int64         // of the content
	bytes  []byte        // as written so far
}

// usualHead is about how long the head of an answer is, in bytes.
const usualHead = 1024

// reserved is, of an answer taken for the fast way, how much of the memory of the answers is reserved for the copy.
func (t *taking) reserved() int64 { return usualHead + t.length }

// take replaces the answer that is being written and will be kept by t, which may be nil, and gives back the memory of
// the one before.
func (f *fast) take(t *taking) (before *taking) {
	if before = f.taking.Swap(t); before != nil {
		before.x.p.repeats.Release(before.reserved())
	}
	return before
}

// repeats reports whether the answer to the request is kept for the fast way if it can be given again: its head is
// known byte for byte, and nothing about the request is its own.
func (x *exchange) repeats() bool {
	return x.conn != nil && x.conn.fast.request != nil && x.recorded == nil && x.prefix == nil && !x.s.terms.Offline &&
		x.rec.Trace == "" && // no other request will equal one that has a name of its own
		!httpfield.HasCredentials(x.r.Header)
}

// offer marks the answer about to be written, with content of a length, to be kept and given again, the fast way, if an
// equal request may get it and there is memory for the copy. A length below 0 is unknown: the answer is not kept.
func (x *exchange) offer(reuse *cache.Reuse, page *fetch.Repeat, length int64) {
	if reuse == nil || length < 0 || !x.repeats() {
		return
	}
	t := &taking{x: x, reuse: reuse, repeat: page, length: length}
	if x.p.repeats.Reserve(t.reserved()) {
		x.conn.fast.take(t)
	}
}

// sent records bytes that are written to the client, for the answer that is kept.
func (f *fast) sent(b []byte) {
	f.wrote.Store(true)
	t := f.taking.Load()
	if t == nil {
		return
	}
	// The head comes in one write, since net/http's buffer is larger than maxFastHead.
	if t.bytes == nil {
		head := bytes.Index(b, []byte("\r\n\r\n"))
		if head < 0 || head > maxFastHead {
			f.take(nil)
			return
		}
		t.bytes = make([]byte, 0, int64(head)+4+t.length) // a copy that grows would take more than was reserved
	}
	if len(b) > cap(t.bytes)-len(t.bytes) {
		f.take(nil) // more than was announced
		return
	}
	t.bytes = append(t.bytes, b...)
}

// keep keeps the answer that has been written, if it was offered and nothing came between. connState calls it when the
// connection is idle.
func (f *fast) keep() {
	t := f.take(nil)
	if t == nil || f.table == nil || f.spoilt.Load() {
		return
	}
	if a := t.answer(); a != nil {
		a.Scope, a.Request = f.scope, bytes.Clone(f.request)
		f.table.Add(a, f.mark)
	}
}

// answer returns the answer that was written and taken for the fast way, as package repeat keeps it; nil if it is not
// one that can be given again as it is: it has another status, breaks off, or sets a cookie.
func (t *taking) answer() *repeat.Answer {
	head, body, found := bytes.Cut(t.bytes, []byte("\r\n\r\n"))
	rec := t.x.told
	if rec == nil || !found || len(head) > maxFastHead || rec.Error != "" ||
		!bytes.HasPrefix(head, []byte("HTTP/1.1 200 OK\r\n")) ||
		!bytes.Contains(head, []byte("\r\nContent-Length: "+strconv.Itoa(len(body)))) {
		return nil
	}
	for _, name := range []string{"Transfer-Encoding", "Connection", "Set-Cookie", "Trailer"} {
		if bytes.Contains(head, []byte("\r\n"+name+": ")) {
			return nil
		}
	}
	g := &given{
		p: t.x.p, rec: rec, inside: t.x.inside != nil, page: tokensOf(t.x.page), reuse: t.reuse,
		repeat: t.repeat, meter: t.x.meter,
	}
	responses := string(t.reuse.Record())
	a := &repeat.Answer{
		Page: responses, Records: []string{responses},
		At: t.reuse.At, Until: t.reuse.Expires(), Age: t.reuse.Age, TTL: t.reuse.TTL,
		Head: slices.Concat(head, []byte("\r\n\r\n")), Body: body, Given: g.again,
	}
	if r := t.repeat; r != nil {
		for _, record := range r.Records {
			a.Records = append(a.Records, string(record))
		}
		if !r.Until.IsZero() && r.Until.Before(a.Until) {
			a.Until = r.Until
		}
	}
	a.Again = t.stored(body)
	if g.meter != nil {
		a.May = g.may
	}
	if !a.Cut() {
		return nil
	}
	return a
}

// stored returns what of the content that was written can be read again from the store, so that memory need not hold
// it. Long contents cannot: reading them takes more than deciding anew.
func (t *taking) stored(body []byte) repeat.Stored {
	sum, length := t.reuse.Content, t.reuse.Length
	if t.repeat != nil && t.repeat.Length > 0 {
		sum, length = t.repeat.Content, t.repeat.Length
	}
	at := int64(len(body)) - length
	if length <= 0 || length >= store.ShortBody || at < 0 || sha256.Sum256(body[at:]) != sum {
		return repeat.Stored{}
	}
	return repeat.Stored{Sum: sum, Length: int(length)}
}

// DropAnswers drops the answers that would be given again, the fast way: what decided them has changed, such as rules
// or users. Connections that were let in before share no answers with those that come after.
func (p *Proxy) DropAnswers() {
	p.drops.Add(1)
	if p.repeats != nil {
		p.repeats.Clear()
	}
}

// changed drops the answers for the fast way that were made of a record of the store, which reports its changes by
// calling it.
func (p *Proxy) changed(r store.Record) {
	if r == store.AllRecords {
		p.repeats.Clear()
		return
	}
	p.repeats.Changed(string(r))
}
