package archive

import (
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// metadataPrefix begins k/dm/<hash16><key>: a document that is no page has a value of metadata.
const metadataPrefix = "k/dm/"

// metadataMark exists once the documents that an older program stored have their keys of metadata. Until then it holds
// the key of the last document that has.
const metadataMark = "k/ym"

// metadataBatch is how many documents get their keys of metadata in a transaction, at most.
const metadataBatch = 500

// KeyMetadata writes the keys of metadata of the documents that an older program stored without, once. It continues
// where a death interrupted it.
func (a *Archive) KeyMetadata() error {
	last, err := a.records.Get(metadataMark)
	if err == nil && len(last) == 0 {
		return nil
	}
	for from := HeadPrefix + string(last); ; {
		var changes []store.Change
		documents, next := 0, ""
		a.records.Keys(HeadPrefix, from, func(key string) bool {
			if k, ok := KeyIn(key, HeadPrefix); ok && key != from {
				h, _ := a.Stored(k) // one that is damaged has none
				more := metadataChanges(h.Metadata, k, false)
				if documents == metadataBatch || len(changes)+len(more) >= store.MaxChanges {
					return false
				}
				changes = append(changes, more...)
				documents++
			}
			next = key
			return true
		})
		mark := store.Change{Key: metadataMark}
		if documents > 0 {
			mark.Value = []byte(next[len(HeadPrefix):])
		}
		if err := a.records.Apply(append(changes, mark)...); errors.Is(err, store.ErrFull) {
			return nil // the next start tries again
		} else if err != nil {
			return err
		}
		if documents == 0 {
			return nil
		}
		from = next
	}
}

// MetadataSize returns how many bytes metadata has.
func MetadataSize(m page.Metadata) (n int) {
	for name, value := range m {
		n += len(name) + len(fmt.Sprint(value))
	}
	return n
}

// metadataKey begins the keys of the documents with a value of metadata. A number is as it was written.
func metadataKey(name, value string) string {
	sum := sha256.Sum256([]byte(name + "\x00" + value))
	return metadataPrefix + string(sum[:16])
}

// CleanMetadata returns metadata as they are kept.
func CleanMetadata(m page.Metadata, c store.Cleaner) page.Metadata {
	if m == nil {
		return nil
	}
	kept := make(page.Metadata, len(m))
	for name, value := range m {
		if text, ok := value.(string); ok {
			value = c.Line(text)
		}
		kept[c.Line(name)] = value
	}
	return kept
}

// metadataChanges returns the changes of all keys under which a document is found by its metadata, or of their end.
func metadataChanges(m page.Metadata, k page.Key, gone bool) (list []store.Change) {
	for name, value := range m {
		list = append(list, store.Change{Key: metadataKey(name, fmt.Sprint(value)) + string(k[:]), Gone: gone})
	}
	return list
}
