package knowledge

import (
	"encoding/binary"
	"fmt"

	"github.com/readthru/readthru/store"
)

// crawlPrefix begins k/c/<generation><u32>: what a crawl noted, in order.
const crawlPrefix = "k/c/"

// maxCrawlBatch is the most that one [CrawlLog.Save] takes, in bytes.
const maxCrawlBatch = 512 << 10

// CrawlLog stores, in order, what a crawler noted and needs to continue after its process died. It is deleted with the
// generation that the crawl fills.
type CrawlLog struct {
	records *store.Records
	prefix  string
	next    uint32
}

// CrawlLog returns the log of the build's crawl.
func (b *Build) CrawlLog() *CrawlLog {
	return newCrawlLog(b.k.records, b.g)
}

// newCrawlLog returns the log of a generation's crawl, which goes on after the last batch that is stored.
func newCrawlLog(records *store.Records, g generation) *CrawlLog {
	l := &CrawlLog{records: records, prefix: crawlPrefix + g.key()}
	l.records.Keys(l.prefix, "", func(key string) bool {
		if len(key) == len(l.prefix)+4 {
			l.next = binary.BigEndian.Uint32([]byte(key[len(l.prefix):])) + 1
		}
		return true
	})
	return l
}

// Load calls f for every batch saved, oldest first, and returns the first error of f.
func (l *CrawlLog) Load(f func(batch []byte) error) (err error) {
	l.records.Walk(l.prefix, "", func(_ string, batch []byte) bool {
		err = f(batch)
		return err == nil
	})
	return err
}

// Save appends a batch of at most 512 KiB. It is committed when Save returns, so that the end of the process loses
// none.
func (l *CrawlLog) Save(batch []byte) error {
	if len(batch) > maxCrawlBatch {
		return fmt.Errorf("save crawl: batch of %d bytes, at most %d allowed", len(batch), maxCrawlBatch)
	}
	key := string(binary.BigEndian.AppendUint32([]byte(l.prefix), l.next))
	if err := l.records.Apply(store.Change{Key: key, Value: batch}); err != nil {
		return fmt.Errorf("save crawl: %w", err)
	}
	l.next++
	return nil
}
