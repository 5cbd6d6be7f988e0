package cache

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/readthru/readthru/store"
)

// rewritten is how many times longer than the rest of a union a stored part may be that is written again for it. A file
// that is read from front to back in small ranges would otherwise be written again with each of them.
const rewritten = 4

// A union is what a part that just came makes together with stored parts of the same representation (RFC 9111 §3.4,
// RFC 9110 §15.3.7.3).
type union struct {
	entry  *store.Response // 206, or 200 if nothing is missing; without ID and Body
	pieces []piece         // its content, in order
}

// A piece is a span of bytes of a representation in a union, and the part that has them.
type piece struct {
	part        *store.Response
	first, next int64 // positions in the representation; next is behind the last byte
}

// combine returns the union of r, a part that answers q, with the stored responses that touch or overlap it. Only a
// strong entity tag says that parts belong together, and whatever else tells responses of a URI apart must be equal,
// too. Where parts overlap, the bytes of r count. ok is false if nothing is added to r and r is not the whole by
// itself, or if the union may not be stored.
func (p *policy) combine(q *request, r *store.Response, stored []*store.Response) (u union, ok bool) {
	if tag := r.Header.Get("ETag"); verbatim(r) || !strongMatch(tag, tag) {
		return u, false
	}
	var parts []*store.Response
	for _, o := range stored {
		if p.sameRepresentation(q, r, o) {
			parts = append(parts, o)
		}
	}
	own := piece{r, r.Offset, end(r)}
	span := own.reach(parts, func(piece, *store.Response) bool { return true })
	// A whole is always worth joining: it answers every request from then on.
	whole := span.first == 0 && span.next == r.Total && r.Total <= p.maxBody
	if !whole {
		span = own.reach(parts, p.worthwhile)
	}
	u.pieces = fill(u.pieces, parts, span.first, own.first)
	u.pieces = append(u.pieces, own)
	u.pieces = fill(u.pieces, parts, own.next, span.next)
	if len(u.pieces) == 1 && !whole {
		return u, false
	}
	u.entry = p.combined(q, r, u.pieces)
	return u, p.storable(q, u.entry)
}

// end returns, to combine stored parts, the position behind the last byte of a stored part, in the representation.
func end(r *store.Response) int64 { return r.Offset + r.Length }

// sameRepresentation reports whether parts can be combined: o is a stored part of the representation that r is a part
// of, for the same requests.
func (p *policy) sameRepresentation(q *request, r, o *store.Response) bool {
	return o.Status == http.StatusPartialContent && !verbatim(o) && o.Length > 0 && o.Total == r.Total &&
		strongMatch(r.Header.Get("ETag"), o.Header.Get("ETag")) &&
		slices.Equal(r.Header["Content-Encoding"], o.Header["Content-Encoding"]) &&
		p.owns(q, o) && o.Partition == r.Partition && o.Class == r.Class &&
		slices.Equal(o.Vary, r.Vary) && maps.Equal(o.Selecting, r.Selecting)
}

// worthwhile reports whether the stored part o is combined with the bytes of a span. Nothing is written again if it has
// all of them.
func (p *policy) worthwhile(span piece, o *store.Response) bool {
	if o.Offset <= span.first && end(o) >= span.next {
		return true
	}
	length := max(end(o), span.next) - min(o.Offset, span.first)
	return o.Length <= rewritten*(span.next-span.first) && length <= p.maxBody
}

// reach returns, to combine them, the span of a piece with all parts that touch or overlap it, or each other, and that
// take accepts. Each part that is added may lead to others.
func (span piece) reach(parts []*store.Response, take func(span piece, o *store.Response) bool) piece {
	for grown := true; grown; {
		grown = false
		for _, o := range parts {
			touches := o.Offset <= span.next && end(o) >= span.first
			adds := o.Offset < span.first || end(o) > span.next
			if touches && adds && take(span, o) {
				span.first, span.next = min(span.first, o.Offset), max(span.next, end(o))
				grown = true
			}
		}
	}
	return span
}

// fill combines: it appends to the pieces of a union those of the parts that have the bytes from first to next, without
// gaps: of several parts the one that goes farthest.
func fill(pieces []piece, parts []*store.Response, first, next int64) []piece {
	for first < next {
		best := piece{first: first, next: first}
		for _, o := range parts {
			if o.Offset <= first && end(o) > best.next {
				best.part, best.next = o, min(end(o), next)
			}
		}
		if best.part == nil {
			panic("cache: a gap between parts that touch")
		}
		pieces, first = append(pieces, best), best.next
	}
	return pieces
}

// combined returns the entry of a union for the store. The fields of r, the part that just came, replace those of the
// newest stored part (RFC 9111 §3.4).
func (p *policy) combined(q *request, r *store.Response, pieces []piece) *store.Response {
	c, newest := *r, (*store.Response)(nil)
	for _, piece := range pieces {
		if o := piece.part; o != r && (newest == nil || o.ResponseTime.After(newest.ResponseTime)) {
			newest = o
		}
	}
	c.Header = http.Header{}
	if newest != nil {
		maps.Copy(c.Header, newest.Header)
		delete(c.Header, "Age")
	}
	maps.Copy(c.Header, r.Header)
	for _, name := range []string{"Content-Range", "Content-Digest", "Digest", "Content-Md5"} {
		delete(c.Header, name) // of a part
	}
	c.Offset = pieces[0].first
	c.Length = pieces[len(pieces)-1].next - c.Offset
	c.Header.Set("Content-Length", strconv.FormatInt(c.Length, 10))
	if c.Length == c.Total {
		c.Status, c.Offset, c.Total = http.StatusOK, 0, -1
	} else {
		total := "*"
		if c.Total >= 0 {
			total = strconv.FormatInt(c.Total, 10)
		}
		c.Header.Set("Content-Range", fmt.Sprintf("bytes %d-%d/%s", c.Offset, end(&c)-1, total))
	}
	cc := p.control(c.Header)
	if p.shared {
		for _, name := range cc.privateFields {
			delete(c.Header, name) // of the stored part
		}
	}
	c.Retain = p.retain(q, &c, &cc)
	c.Tags = tagsOf(c.Header)
	return &c
}

// within returns, where there is nothing to combine, the stored part that has all bytes of the union already, so that
// only its fields change; nil if there is none.
func (u *union) within() *store.Response {
	if u.entry.Status != http.StatusPartialContent {
		return nil
	}
	for _, piece := range u.pieces {
		if o := piece.part; o.ID != (store.EntryID{}) && o.Offset == u.entry.Offset && o.Length == u.entry.Length {
			return o
		}
	}
	return nil
}

// open returns the content of a union, of combined parts, of which received is what just came. The caller closes it.
func (u *union) open(s *store.Store, received io.Reader) (io.ReadCloser, error) {
	var readers []io.Reader
	var bodies closers
	for _, piece := range u.pieces {
		if piece.part.ID == (store.EntryID{}) {
			readers = append(readers, received)
			continue
		}
		body, err := s.Body(piece.part.Body)
		if err == nil {
			bodies = append(bodies, body)
			_, err = body.Seek(piece.first-piece.part.Offset, io.SeekStart)
		}
		if err != nil {
			return nil, errors.Join(err, bodies.Close())
		}
		readers = append(readers, io.LimitReader(body, piece.next-piece.first))
	}
	return struct {
		io.Reader
		io.Closer
	}{io.MultiReader(readers...), bodies}, nil
}

// combine stores r, a part whose bytes are in s, together with stored parts of the same representation, in place of
// them. It returns how to open the bytes of r in what is stored; nil if r must be stored by itself.
func (f *flight) combine(r *store.Response, s *spool) (open func() (io.ReadSeekCloser, error)) {
	c := f.cache
	stored, err := c.store.Responses(f.q.key)
	if err != nil {
		return nil
	}
	u, ok := c.policy().combine(f.q, r, stored)
	if !ok {
		return nil
	}
	if o := u.within(); o != nil {
		u.entry.ID, u.entry.Body = o.ID, o.Body
		if err := c.store.UpdateResponse(u.entry); err != nil {
			return nil
		}
	} else if !f.putUnion(&u, s) {
		return nil
	}
	from := r.Offset - u.entry.Offset
	return func() (io.ReadSeekCloser, error) {
		body, err := c.store.Body(u.entry.Body)
		if err != nil {
			return nil, err
		}
		return &excerpt{body: body, from: from, length: r.Length, left: r.Length}, nil
	}
}

// putUnion stores a union of combined parts, and reports whether it did. A whole of coded content is stored only if its
// coding is whole.
func (f *flight) putUnion(u *union, s *spool) bool {
	c := f.cache
	if u.entry.Status == http.StatusOK {
		content, err := u.open(c.store, s.content())
		if err != nil {
			return false
		}
		state, err := verifyCoding(u.entry.Header["Content-Encoding"], content, c.policy().maxBody)
		_ = content.Close() // it was only read
		if err != nil || state != codingWhole {
			return false
		}
	}
	content, err := u.open(c.store, s.content())
	if err != nil {
		return false
	}
	defer content.Close()
	return c.put(f.q, u.entry, content)
}

// An excerpt is the content of a part within the stored body of a union: length bytes from an offset on.
type excerpt struct {
	body         *store.Body
	from, length int64
	left         int64 // bytes behind the present position
}

// Seek implements [io.Seeker] for a part that is combined, from the start of the excerpt alone.
func (e *excerpt) Seek(offset int64, whence int) (int64, error) {
	if whence != io.SeekStart || offset < 0 || offset > e.length {
		return 0, fmt.Errorf("seek in a part of %d bytes to %d, whence %d", e.length, offset, whence)
	}
	e.left = e.length - offset
	_, err := e.body.Seek(e.from+offset, io.SeekStart)
	return offset, err
}

// Read implements [io.Reader] for a part that is combined.
func (e *excerpt) Read(p []byte) (int, error) {
	if e.left == 0 {
		return 0, io.EOF
	}
	n, err := e.body.Read(p[:min(int64(len(p)), e.left)])
	e.left -= int64(n)
	return n, err
}

// Close implements [io.Closer] for a part that is combined.
func (e *excerpt) Close() error { return e.body.Close() }

// complete combines a stored part with the rest just received from the origin into a complete response (RFC 9111
// §3.4). ok is false if the part's content is lost.
func (f *flight) complete(r *store.Response, resp *http.Response, sent, received time.Time) (*store.Response, bool) {
	body, err := f.cache.store.Body(r.Body)
	if err != nil {
		return nil, false
	}
	resp.StatusCode, resp.Status = http.StatusOK, "200 OK"
	resp.Header.Del("Content-Range")
	for name, lines := range r.Header {
		if _, ok := resp.Header[name]; !ok && name != "Content-Range" && name != "Age" && name != "Date" {
			resp.Header[name] = lines
		}
	}
	resp.ContentLength = r.Total
	resp.Header.Set("Content-Length", fmt.Sprint(r.Total))
	rest := resp.Body
	resp.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(body, rest), closers{body, rest}}
	return f.cache.policy().entry(f.q, resp, sent, received), true
}

// closers closes several bodies and returns the first error.
type closers []io.Closer

// Close implements [io.Closer]: it closes all parts of a combined content.
func (cs closers) Close() error {
	var first error
	for _, c := range cs {
		if err := c.Close(); err != nil && first == nil {
			first = err
		}
	}
	return first
}
