package store

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store/keys"
	"github.com/readthru/readthru/store/kv"
	"github.com/readthru/readthru/store/wire"
)

// The most that is kept of a page's summaries.
const (
	maxSummary   = 16 << 10 // bytes of one
	maxSummaries = 40
)

// Summary is what was said of one content of a page. A page has one for each content, kind and maker.
type Summary struct {
	ContentHash string    `json:"content_hash"`   // of the page that it was made of
	Kind        string    `json:"kind"`           // brief, usage, api, architecture or evaluation
	By          string    `json:"by"`             // who made it, and by which rules: another maker's is another summary
	Text        string    `json:"text"`           // markdown, at most 16 KiB
	Part        bool      `json:"part,omitempty"` // it is of the content's beginning alone
	Weak        bool      `json:"weak,omitempty"` // no sentence of the content stands out in it
	Time        time.Time `json:"time"`

	Model            string        `json:"model,omitempty"` // empty: no model was asked
	Took             time.Duration `json:"took,omitempty"`
	PromptTokens     int           `json:"prompt_tokens,omitempty"`
	CompletionTokens int           `json:"completion_tokens,omitempty"`

	// Edition is that of the Cleaner that the content passed before it was summarised. AddSummary sets it; a summary
	// under a lower one than the present is not told: it may say what only the page's source said.
	Edition int `json:"edition,omitempty"`
}

// AddSummary stores a summary as long as the page has a version of the content that the summary is about. It replaces
// one of the same content, kind and maker; beyond a limit the oldest is removed. The error is ErrNotFound when the
// page has no such version, or ErrFull.
func (s *Store) AddSummary(k page.Key, sum Summary) error {
	if len(sum.Text) > maxSummary {
		return fmt.Errorf("store summary: %d bytes, the limit is %d", len(sum.Text), maxSummary)
	}
	if sum.Time.IsZero() {
		sum.Time = time.Now()
	}
	sum.Time = sum.Time.UTC().Truncate(time.Millisecond)
	sum.Edition = s.cleaner.Edition
	s.mu.Lock()
	defer s.mu.Unlock()
	b := &kv.Batch{}
	var versions []versionRecord
	if err := s.kv.GetJSON(b, keys.Versions(k), &versions); err != nil {
		return err
	}
	if !slices.ContainsFunc(versions, func(v versionRecord) bool { return v.ContentHash == sum.ContentHash }) {
		return ErrNotFound
	}
	list := s.summaries(b, k)
	list = slices.DeleteFunc(list, func(o Summary) bool {
		return o.ContentHash == sum.ContentHash && o.Kind == sum.Kind && o.By == sum.By
	})
	list = append(list, sum)
	list = list[max(0, len(list)-maxSummaries):]
	record := wire.JSON(list)
	for len(record) > kv.MaxRecord { // JSON writes a control character as six
		list = list[1:]
		record = wire.JSON(list)
	}
	b.Set(keys.Summaries(k), record)
	return s.kv.Apply(b)
}

// Summary finds what a maker said of a content of a page. The error is ErrNotFound.
func (s *Store) Summary(k page.Key, contentHash, kind, by string) (*Summary, error) {
	for _, sum := range s.summaries(&kv.Batch{}, k) {
		if sum.ContentHash == contentHash && sum.Kind == kind && sum.By == by {
			return &sum, nil
		}
	}
	return nil, ErrNotFound
}

// Summaries returns what was said of a page, of all the contents that it still has, newest first.
func (s *Store) Summaries(k page.Key) []Summary {
	list := s.summaries(&kv.Batch{}, k)
	slices.Reverse(list)
	return list
}

// summaries returns the summaries that are kept of a page as b would make it, oldest first, without those of a text
// that an older cleaner let pass.
func (s *Store) summaries(b *kv.Batch, k page.Key) (list []Summary) {
	if err := s.kv.GetJSON(b, keys.Summaries(k), &list); err != nil && !errors.Is(err, ErrNotFound) {
		return nil // damaged: it is made again
	}
	return slices.DeleteFunc(list, func(sum Summary) bool { return s.cleaner.Behind(sum.Edition) })
}

// dropSummaries deletes in b the summaries of contents that are not among a page's versions.
func (s *Store) dropSummaries(b *kv.Batch, k page.Key, versions []versionRecord) {
	list := s.summaries(b, k)
	kept := slices.DeleteFunc(slices.Clone(list), func(sum Summary) bool {
		return !slices.ContainsFunc(versions, func(v versionRecord) bool { return v.ContentHash == sum.ContentHash })
	})
	switch {
	case len(kept) == len(list):
	case len(kept) == 0:
		b.Del(keys.Summaries(k))
	default:
		b.Set(keys.Summaries(k), wire.JSON(kept))
	}
}
