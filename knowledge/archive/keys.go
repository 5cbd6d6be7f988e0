package archive

import (
	"crypto/rand"

	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// QueuePrefix begins k/q/<key><nonce>: a document that waits for the index.
const QueuePrefix = "k/q/"

// Queued returns the change that queues a document. Every request is a record of its own, so that whoever has done one
// removes no other.
func Queued(key page.Key) store.Change {
	var nonce [8]byte
	rand.Read(nonce[:]) // never fails
	return store.Change{Key: QueuePrefix + string(key[:]) + string(nonce[:])}
}

// KeyIn returns the page key that stands in a record's key after its prefix.
func KeyIn(key, prefix string) (k page.Key, ok bool) {
	if len(key) < len(prefix)+len(k) {
		return k, false
	}
	return page.Key([]byte(key[len(prefix) : len(prefix)+len(k)])), true
}
