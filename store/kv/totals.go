package kv

import (
	"encoding/json"
	"maps"

	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store/wire"
)

// Totals is what z/totals holds: running counts of all records. The writer commits the changes of a batch in the
// batch's own transaction, so that counts and records never part. As a change it holds differences, and Seq the newest
// job.
type Totals struct {
	Pages, Visits, Versions    int64
	BySource                   map[page.Source]int64
	Responses, Bytes           int64
	MarkdownTokens, HTMLTokens int64
	Jobs                       int64 // records of the change log
	Seq                        uint64

	// Uncertain says that writes were dropped, on which later ones may have built: to be counted again at the next
	// opening.
	Uncertain bool `json:",omitempty"`
}

// Add applies a change, times sign.
func (t *Totals) Add(d Totals, sign int64) {
	t.Pages += sign * d.Pages
	t.Visits += sign * d.Visits
	t.Versions += sign * d.Versions
	t.Responses += sign * d.Responses
	t.Bytes += sign * d.Bytes
	t.MarkdownTokens += sign * d.MarkdownTokens
	t.HTMLTokens += sign * d.HTMLTokens
	t.Jobs += sign * d.Jobs
	if len(d.BySource) > 0 && t.BySource == nil {
		t.BySource = make(map[page.Source]int64, len(d.BySource))
	}
	for source, n := range d.BySource {
		t.BySource[source] += sign * n
	}
	if sign > 0 {
		t.Seq = max(t.Seq, d.Seq)
	}
}

// Clone returns a copy that shares nothing.
func (t Totals) Clone() Totals {
	t.BySource = maps.Clone(t.BySource)
	if t.BySource == nil {
		t.BySource = map[page.Source]int64{}
	}
	return t
}

// encode returns the record of the totals.
func (t Totals) encode() []byte { return wire.JSON(t) }

// readTotals reads the record of the totals from the disk, and reports whether it is there and whole.
func readTotals(k *DB) (t Totals, ok bool) {
	value, err := k.read(totalsKey)
	return t, err == nil && json.Unmarshal(value, &t) == nil
}

// Totals returns the totals with everything in the queue.
func (k *DB) Totals() Totals {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.live.Clone()
}
