package index

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/readthru/readthru/internal/clip"
	"github.com/readthru/readthru/knowledge/index/segment"
	"github.com/readthru/readthru/page"
)

// maxPassages bounds the passages of a document. One of 32 MiB has some 19,000.
const maxPassages = 1 << 15

// maxArticle bounds a document's record in the index, in bytes.
const maxArticle = 900 << 10

// ErrTooManyPassages means that a document has more passages than the index takes. A retry fails again.
var ErrTooManyPassages = errors.New("too many passages")

// Article is the index's record of a document: what its hits show and which passages it has.
type Article struct {
	number   uint32
	URL      string // as a hit shows it
	Title    string
	also     string // words of its title element that title lacks
	host     string
	kind     string
	Fetched  time.Time
	passages []place
}

// place is where a passage stands in a document.
type place struct {
	number        uint32 // of the passage
	start, end    int
	path          string // headings, joined
	before, after string
	said          uint64 // the sum of what was indexed with it, see SumOf; 0: nothing
}

// What a passage shares with the one before.
const (
	samePath = 1 << iota
	sameBefore
	sameAfter
	withSaid // eight bytes follow
)

// SumOf tells what the article of a document said of a passage from what was said before.
func SumOf(said string) uint64 {
	if said == "" {
		return 0
	}
	return max(xxhash.Sum64String(said), 1)
}

// encode returns the index's record of a document. What consecutive passages share (headings, what stands before them)
// is written once. An error says that the record would be too large.
func (a *Article) encode() ([]byte, error) {
	b := binary.AppendUvarint(nil, uint64(a.number))
	for _, s := range []string{clip.Bytes(a.URL, 1<<14), clip.Bytes(a.Title, 1<<12), a.also, a.host, a.kind} {
		b = segment.AppendText(b, s)
	}
	b = binary.AppendVarint(b, a.Fetched.UnixMilli())
	b = binary.AppendUvarint(b, uint64(len(a.passages)))
	var last place
	for _, p := range a.passages {
		flags := byte(0)
		if p.path == last.path {
			flags |= samePath
		}
		if p.before == last.before {
			flags |= sameBefore
		}
		if p.after == last.after {
			flags |= sameAfter
		}
		if p.said != 0 {
			flags |= withSaid
		}
		b = append(b, flags)
		b = binary.AppendVarint(b, int64(p.number)-int64(last.number))
		b = binary.AppendVarint(b, int64(p.start-last.end))
		b = binary.AppendUvarint(b, uint64(p.end-p.start))
		if flags&samePath == 0 {
			b = segment.AppendText(b, p.path)
		}
		if flags&sameBefore == 0 {
			b = segment.AppendText(b, p.before)
		}
		if flags&sameAfter == 0 {
			b = segment.AppendText(b, p.after)
		}
		if p.said != 0 {
			b = binary.BigEndian.AppendUint64(b, p.said)
		}
		last = p
		if len(b) > maxArticle {
			return nil, fmt.Errorf("index %s: headings longer than %d bytes: %w", a.URL, maxArticle, ErrTooManyPassages)
		}
	}
	return b, nil
}

// decodeArticle reads the record that encode returned. The error is segment.ErrDamaged.
func decodeArticle(b []byte) (*Article, error) {
	a := &Article{}
	number, b := segment.Uvarint(b)
	a.number = uint32(number)
	for _, s := range []*string{&a.URL, &a.Title, &a.also, &a.host, &a.kind} {
		var ok bool
		if *s, b, ok = segment.CutText(b); !ok {
			return nil, segment.ErrDamaged
		}
	}
	ms, size := binary.Varint(b)
	if size <= 0 {
		return nil, segment.ErrDamaged
	}
	a.Fetched = time.UnixMilli(ms)
	n, b := segment.Uvarint(b[size:])
	if n > maxPassages+1 { // with the nameplate
		return nil, segment.ErrDamaged
	}
	a.passages = make([]place, 0, n)
	var p place
	for range n {
		if len(b) == 0 {
			return nil, segment.ErrDamaged
		}
		flags := b[0]
		number, s1 := binary.Varint(b[1:])
		if s1 <= 0 {
			return nil, segment.ErrDamaged
		}
		start, s2 := binary.Varint(b[1+s1:])
		if s2 <= 0 {
			return nil, segment.ErrDamaged
		}
		var length uint64
		length, b = segment.Uvarint(b[1+s1+s2:])
		p.number = uint32(int64(p.number) + number)
		p.start = p.end + int(start)
		p.end = p.start + int(length)
		for _, part := range []struct {
			bit byte
			to  *string
		}{{samePath, &p.path}, {sameBefore, &p.before}, {sameAfter, &p.after}} {
			if flags&part.bit != 0 {
				continue
			}
			var ok bool
			if *part.to, b, ok = segment.CutText(b); !ok {
				return nil, segment.ErrDamaged
			}
		}
		p.said = 0
		if flags&withSaid != 0 {
			if len(b) < 8 {
				return nil, segment.ErrDamaged
			}
			p.said, b = binary.BigEndian.Uint64(b), b[8:]
		}
		a.passages = append(a.passages, p)
	}
	return a, nil
}

// Article returns the article, the index's record, of a document, or store.ErrNotFound.
func (x *Index) Article(key page.Key) (*Article, error) {
	b, err := x.o.Records.Get(articleKey(key))
	if err != nil {
		return nil, err
	}
	return decodeArticle(b)
}
