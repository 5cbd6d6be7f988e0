package crawl

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
)

// ErrOtherCrawl reports that a State holds the progress of a crawl with other options: another URL, depth, patterns or
// bounds.
var ErrOtherCrawl = errors.New("the saved progress belongs to another crawl")

// maxBatch is the approximate size of a batch of saved progress in bytes. Every batch is smaller than twice that. A
// test lowers it.
var maxBatch = 128 << 10

// batch is a part of a step's results: of a URL, or in what earlier versions saved, of a round. Replaying the saved
// steps restores the frontier.
type batch struct {
	Part  int    `json:"part"`           // number of the part in its step, from 0
	Last  bool   `json:"last,omitempty"` // this is the last part; parts of a step without it are ignored
	Crawl string `json:"crawl,omitempty"`
	Site  string `json:"site,omitempty"` // the start page, once it is known

	Done  []done `json:"done,omitempty"`
	Added []item `json:"added,omitempty"`

	Trapped int `json:"trapped,omitempty"` // links of this step
	Dropped int `json:"dropped,omitempty"`
}

// done is a URL of a crawl with its outcome, as it is saved.
type done struct {
	URL     string  `json:"u"`
	Outcome Outcome `json:"o"`
	Hash    string  `json:"h,omitempty"`
	Also    string  `json:"a,omitempty"` // canonical URL of the same page
	Repeats bool    `json:"r,omitempty"` // the page says nothing new
	Facts   string  `json:"f,omitempty"` // what it says that is new
}

// fingerprint identifies a crawl by the options that decide its order: progress that was saved with others cannot be
// replayed. The limit of pages is not among them.
func fingerprint(o Options) string {
	if len(o.Include) == 0 {
		o.Include = nil // a list that was stored and read again
	}
	if len(o.Exclude) == 0 {
		o.Exclude = nil
	}
	parts := []any{o.URL, o.Depth, o.Include, o.Exclude}
	if o.Below || o.Unlisted {
		parts = append(parts, o.Below, o.Unlisted)
	}
	text, err := json.Marshal(parts)
	if err != nil {
		panic(err) // strings and numbers always marshal
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// save writes a step into the state of a crawl, in parts of about maxBatch bytes: a page may have any number of links.
// A step whose last part is missing counts as not done.
func save(s State, step batch) error {
	added := step.Added
	for part := 0; ; part++ {
		step.Part, step.Added = part, nil
		size := 0
		for len(added) > 0 && size < maxBatch {
			size += len(added[0].URL) + 32
			step.Added = append(step.Added, added[0])
			added = added[1:]
		}
		step.Last = len(added) == 0
		text, err := json.Marshal(step)
		if err != nil {
			return fmt.Errorf("save the crawl's progress: %w", err)
		}
		if err := s.Save(text); err != nil {
			return fmt.Errorf("save the crawl's progress: %w", err)
		}
		if step.Last {
			return nil
		}
		step = batch{}
	}
}

// load calls play with each complete step in the state of a crawl, oldest first. The error wraps ErrOtherCrawl if the
// steps are of a crawl with another fingerprint.
func load(s State, crawl string, play func(batch) error) error {
	var step batch
	begun := false
	err := s.Load(func(text []byte) error {
		var b batch
		if err := json.Unmarshal(text, &b); err != nil {
			return err
		}
		switch {
		case b.Part == 0:
			step, begun = b, true
		case begun && b.Part == step.Part+1:
			step.Part, step.Last, step.Added = b.Part, b.Last, append(step.Added, b.Added...)
		default:
			return errors.New("a part is missing")
		}
		if !step.Last {
			return nil
		}
		begun = false
		if step.Crawl != "" && step.Crawl != crawl {
			return ErrOtherCrawl
		}
		return play(step)
	})
	if err != nil {
		return fmt.Errorf("load the crawl's progress: %w", err)
	}
	return nil
}

// play applies a saved step to the frontier of a crawl. An error says that the step does not follow from those before
// it: the state is damaged, or the program chooses otherwise now.
func (f *frontier) play(b batch) error {
	if len(b.Done) > 0 {
		round := f.round()
		if len(b.Done) > len(round) {
			return fmt.Errorf("a step has %d URLs, and its round %d", len(b.Done), len(round))
		}
		for i, d := range b.Done {
			if d.URL != round[i].URL {
				return fmt.Errorf("a step has %s, want %s", d.URL, round[i].URL)
			}
			f.done(d)
		}
	}
	for _, it := range b.Added {
		f.add(it)
	}
	for _, d := range b.Done { // after Added: a canonical URL that was queued would have been known
		if u, err := url.Parse(d.Also); err == nil && d.Also != "" {
			f.see(u)
		}
	}
	f.take()
	f.report.Trapped += b.Trapped
	f.report.Dropped += b.Dropped
	return nil
}
