package archive

import (
	"crypto/sha256"
	"fmt"

	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// metadataPrefix begins k/dm/<hash16><key>: a document that is no page has a value of metadata.
const metadataPrefix = "k/dm/"

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
