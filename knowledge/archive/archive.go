package archive

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/readthru/readthru/knowledge/index"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// Keys of documents that are no pages.
//
//	k/d/<key>            head
//	k/dp/<key><part u16> archivePart bytes of the markdown, compressed
//	k/dl/<url16><key>    the document has this URL
//	k/dm/<hash16><key>   it has this value of metadata
//	k/dw/<key>           parts are being written, or deleted: a head may be missing
const (
	HeadPrefix    = "k/d/"
	partPrefix    = "k/dp/"
	urlPrefix     = "k/dl/"
	writingPrefix = "k/dw/"
)

const (
	archivePart = 256 << 10

	// MaxDocument is the largest markdown of a document, in bytes.
	MaxDocument = 64 << 20
)

// Head is what k/d/ holds.
type Head struct {
	URL       string        `json:"url"`
	Title     string        `json:"title,omitempty"`
	Host      string        `json:"host,omitempty"`
	Kind      string        `json:"kind"`
	Ingested  bool          `json:"ingested,omitempty"` // handed in as a text: it does not come from the base's source
	Label     string        `json:"label,omitempty"`
	Metadata  page.Metadata `json:"metadata,omitempty"`
	FetchedAt time.Time     `json:"fetched_at,omitzero"`
	Hash      string        `json:"hash"` // hex SHA-256 of the markdown
	Length    int           `json:"length"`
	Edition   int           `json:"edition,omitempty"` // of the cleaner that the texts passed
}

// Archive keeps documents that are not pages. A document's key depends on its owner, its name and its content, so that
// a document never changes: other content makes another document.
type Archive struct {
	records *store.Records
	cleaner store.Cleaner
}

// New returns the archive in the records of a store.
func New(records *store.Records, cleaner store.Cleaner) Archive {
	return Archive{records, cleaner}
}

// The coders are shared: they hold no state between calls of the All functions.
var (
	zstdWriter = sync.OnceValue(func() *zstd.Encoder {
		w, _ := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1)) // fails for bad options only
		return w
	})
	zstdReader = sync.OnceValue(func() *zstd.Decoder {
		r, _ := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(2*archivePart))
		return r
	})
)

// HeadKey is the key of the head of a document in the archive.
func HeadKey(k page.Key) string { return HeadPrefix + string(k[:]) }

// URLKey is the key under which a document in the archive is found by its URL.
func URLKey(rawURL string, k page.Key) string { return urlsKey(rawURL) + string(k[:]) }

// urlsKey begins the keys of the documents that have a URL.
func urlsKey(rawURL string) string {
	sum := sha256.Sum256([]byte(rawURL))
	return urlPrefix + string(sum[:16])
}
func writingKey(k page.Key) string { return writingPrefix + string(k[:]) }
func partKey(k page.Key, i int) string {
	return string(binary.BigEndian.AppendUint16([]byte(partPrefix+string(k[:])), uint16(i)))
}

// Compress makes the compressed parts of a document's markdown, as the archive keeps them. It takes its time: no lock
// is held over it.
func Compress(markdown []byte) (parts [][]byte) {
	for rest := markdown; len(rest) > 0; rest = rest[min(len(rest), archivePart):] {
		parts = append(parts, zstdWriter().EncodeAll(rest[:min(len(rest), archivePart)], nil))
	}
	return parts
}

// Put stores a document, and changes in the transaction that makes it exist.
func (a *Archive) Put(k page.Key, h Head, parts [][]byte, with ...store.Change) error {
	value, err := json.Marshal(h)
	if err != nil {
		return err
	}
	changes := slices.Concat(with, []store.Change{{Key: HeadKey(k), Value: value}, {Key: URLKey(h.URL, k)}},
		metadataChanges(h.Metadata, k, false))
	if old, err := a.Head(k); err == nil && old.Hash == h.Hash && old.Length == h.Length {
		return a.records.Apply(changes...)
	}
	size := 0
	for i, part := range parts {
		c := store.Change{Key: partKey(k, i), Value: part}
		if size += len(part); size <= store.MaxChangeBytes/2 {
			changes = append(changes, c)
			continue
		}
		if err := a.records.Apply(store.Change{Key: writingKey(k)}, c); err != nil {
			return err
		}
	}
	if size > store.MaxChangeBytes/2 {
		changes = append(changes, store.Change{Key: writingKey(k), Gone: true})
	}
	return a.records.Apply(changes...)
}

// Head returns what is known of a document, as it is told. The error is store.ErrNotFound.
func (a *Archive) Head(k page.Key) (h Head, err error) {
	if h, err = a.Stored(k); err == nil && a.cleaner.Behind(h.Edition) {
		h.URL, h.Title, h.Label = a.cleaner.Line(h.URL), a.cleaner.Line(h.Title), a.cleaner.Line(h.Label)
		h.Metadata = CleanMetadata(h.Metadata, a.cleaner)
	}
	return h, err
}

// Stored returns what is known of a document, as it was stored: keys are made of it.
func (a *Archive) Stored(k page.Key) (h Head, err error) {
	value, err := a.records.Get(HeadKey(k))
	if err != nil {
		return h, err
	}
	if json.Unmarshal(value, &h) != nil {
		return h, store.ErrNotFound
	}
	return h, nil
}

// Markdown returns a document's text. The error is store.ErrNotFound, also when a part of it is damaged.
func (a *Archive) Markdown(k page.Key) ([]byte, error) {
	h, err := a.Head(k)
	if err != nil {
		return nil, err
	}
	md := make([]byte, 0, min(max(h.Length, 0), MaxDocument))
	var plain []byte
	for i := 0; len(md) < h.Length; i++ {
		part, err := a.records.Get(partKey(k, i))
		if err != nil {
			return nil, err
		}
		if plain, err = zstdReader().DecodeAll(part, plain[:0]); err != nil || len(plain) == 0 {
			return nil, fmt.Errorf("document %s: part %d: %w", k.Doc(), i, errors.Join(store.ErrNotFound, err))
		}
		md = append(md, plain...)
	}
	if len(md) != h.Length {
		return nil, store.ErrNotFound
	}
	if a.cleaner.Behind(h.Edition) {
		md = a.cleaner.Markdown(md)
	}
	return md, nil
}

// Delete forgets a document, and makes changes in the transaction in which it ceases to exist.
func (a *Archive) Delete(k page.Key, with ...store.Change) error {
	if err := a.records.Apply(append(with, a.Forgotten(k)...)...); err != nil {
		return err
	}
	return a.Clear(k)
}

// Forgotten returns the changes by which a document ceases to exist. What clear deletes is left.
func (a *Archive) Forgotten(k page.Key) []store.Change {
	changes := []store.Change{{Key: HeadKey(k), Gone: true}, {Key: writingKey(k)}}
	if h, err := a.Stored(k); err == nil {
		changes = append(changes, store.Change{Key: URLKey(h.URL, k), Gone: true})
		changes = append(changes, metadataChanges(h.Metadata, k, true)...)
	}
	return changes
}

// At returns the documents that have a URL.
func (a *Archive) At(rawURL string) (keys []page.Key) {
	prefix := urlsKey(rawURL)
	a.records.Keys(prefix, "", func(key string) bool {
		if k, ok := KeyIn(key, prefix); ok {
			keys = append(keys, k)
		}
		return len(keys) < 1000
	})
	return keys
}

// Clear deletes the parts of a document without head.
func (a *Archive) Clear(k page.Key) error {
	if err := index.DeletePrefix(a.records, partPrefix+string(k[:])); err != nil {
		return err
	}
	return a.records.Apply(store.Change{Key: writingKey(k), Gone: true})
}

// Repair removes what a death left of documents that were being written or deleted.
func (a *Archive) Repair() error {
	var keys []page.Key
	a.records.Keys(writingPrefix, "", func(key string) bool {
		if k, ok := KeyIn(key, writingPrefix); ok {
			keys = append(keys, k)
		}
		return true
	})
	for _, k := range keys {
		var err error
		if _, missing := a.Head(k); missing != nil {
			err = a.Clear(k)
		} else {
			err = a.records.Apply(store.Change{Key: writingKey(k), Gone: true})
		}
		if err != nil && !errors.Is(err, store.ErrFull) {
			return err
		}
	}
	return nil
}

// ByDigits returns the document whose key begins with some hex digits.
func (a *Archive) ByDigits(digits string) (found page.Key, err error) {
	raw, err := hex.DecodeString(digits[:len(digits)&^1])
	if err != nil || len(digits) < 8 || len(digits) > 2*len(found) {
		return found, store.ErrNotFound
	}
	n := 0
	a.records.Keys(HeadPrefix+string(raw), "", func(at string) bool {
		if k, ok := KeyIn(at, HeadPrefix); ok && strings.HasPrefix(k.String(), digits) {
			found = k
			n++
		}
		return n < 2
	})
	switch n {
	case 0:
		return page.Key{}, store.ErrNotFound
	case 1:
		return found, nil
	}
	return page.Key{}, fmt.Errorf("find document: %q matches several documents: give more digits", digits)
}

// Having returns the documents that have a value of metadata.
func (a *Archive) Having(name, value string) map[page.Key]struct{} {
	keys := map[page.Key]struct{}{}
	prefix := metadataKey(name, value)
	a.records.Keys(prefix, "", func(at string) bool {
		if key, ok := KeyIn(at, prefix); ok {
			keys[key] = struct{}{}
		}
		return true
	})
	return keys
}

// QueuePrefix begins k/q/<key><nonce>: a document that waits for the index.
const QueuePrefix = "k/q/"

// Queued returns the change that queues a document, which is in the archive or a page, for the index. Every request is
// a record of its own, so that whoever has done one removes no other.
func Queued(key page.Key) store.Change {
	var nonce [8]byte
	rand.Read(nonce[:]) // never fails
	return store.Change{Key: QueuePrefix + string(key[:]) + string(nonce[:])}
}

// KeyIn returns the key of a page or document that stands in a record's key after its prefix.
func KeyIn(key, prefix string) (k page.Key, ok bool) {
	if len(key) < len(prefix)+len(k) {
		return k, false
	}
	return page.Key([]byte(key[len(prefix) : len(prefix)+len(k)])), true
}

// Kinds of documents that are not pages.
const (
	KindFile = "file"
	KindText = "text"
)

// ErrInvalid means that an argument is invalid; the error that wraps it says which and why.
var ErrInvalid = errors.New("not valid")

// ErrTooLarge means that a document exceeds the size limit.
var ErrTooLarge = errors.New("the document is too large")

// RefusedError says that a document cannot be kept, whatever the state of the store.
type RefusedError struct{ Reason error }

// Error says why the document cannot be kept.
func (e *RefusedError) Error() string { return e.Reason.Error() }

// Unwrap returns the reason.
func (e *RefusedError) Unwrap() error { return e.Reason }
