package archive

import (
	"errors"

	"github.com/readthru/readthru/store"
)

// metadataMark exists once the documents that an older program stored have their keys of metadata. Until then it holds
// the key of the last document that has.
const metadataMark = "k/ym"

// metadataBatch is how many documents get their keys of metadata in a transaction, at most.
const metadataBatch = 500

// KeyMetadata upgrades the archive: it writes the keys of metadata of the documents that an older program stored
// without, once. It continues where a death interrupted it.
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
