package knowledge

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/readthru/readthru/internal/clip"
	"github.com/readthru/readthru/knowledge/archive"
	"github.com/readthru/readthru/knowledge/outline"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// sourcePrefix begins k/du/<id8><hash16>: what was ingested into a base under a label and URL, as a key.
const sourcePrefix = "k/du/"

// Ingestion is a text to add that was not fetched (rule A21).
type Ingestion struct {
	Title    string
	Label    string // where it comes from, such as context7-next.js; many texts may share one
	Text     string // markdown
	URL      string // where it stands, if anywhere: a later text of the same label and URL takes its place
	Metadata page.Metadata
	KB       string // the base to put it into; empty: none
}

// Ingested is the result of an [Ingestion].
type Ingested struct {
	Doc      string `json:"doc"`
	URL      string `json:"url"`
	KB       string `json:"kb,omitempty"`
	Passages int    `json:"passages"`
	Changed  bool   `json:"changed"` // false: the same was there already
}

const (
	maxLabel    = 200      // code points
	maxMetadata = 100      // entries
	maxMetaText = 16 << 10 // bytes of all entries together
)

// Ingest stores a text and has it indexed. The same label and text again changes nothing. The error is an
// [*UnknownBaseError], or says what is wrong with the text.
func (k *Knowledge) Ingest(ctx context.Context, in Ingestion) (Ingested, error) {
	done, err := k.ingest(&in)
	if err != nil {
		return Ingested{}, fmt.Errorf("ingest: %w", err)
	}
	k.notify()
	return done, k.stepIfMuchAdded(ctx)
}

// ingest is [Knowledge.Ingest] without a step of the index. The text joins the base's generation that answers and the
// one that is being built. Everything is one transaction but the parts of the text that it replaces.
func (k *Knowledge) ingest(in *Ingestion) (done Ingested, err error) {
	_, text := page.SplitFrontMatter([]byte(strings.ToValidUTF8(in.Text, "\uFFFD")))
	if text = k.cleaner.Markdown(text); len(bytes.TrimSpace(text)) == 0 {
		return done, fmt.Errorf("empty text: %w", ErrInvalid)
	}
	if size := archive.MetadataSize(in.Metadata); len(in.Metadata) > maxMetadata || size > maxMetaText {
		return done, fmt.Errorf("metadata has %d entries of %d bytes, at most %d of %d allowed: %w", len(in.Metadata), size,
			maxMetadata, maxMetaText, ErrInvalid)
	}
	if len(text) > archive.MaxDocument {
		return done, fmt.Errorf("%w: %d bytes, at most %d allowed", ErrTooLarge, len(text), archive.MaxDocument)
	}
	parts := archive.Compress(text)
	s := &k.bases
	s.mu.Lock()
	defer s.mu.Unlock()
	into := []generation{loose}
	if in.KB != "" {
		r, err := s.named(in.KB)
		if err != nil {
			return done, err
		}
		into[0] = r.committed()
		if r.BuildingGeneration != 0 {
			into = append(into, generation{r.id(), r.BuildingGeneration})
		}
	}
	label := clip.Runes(k.cleanLine(in.Label), maxLabel)
	key := documentKey(into[0].base, "ingested", label, in.URL, string(text))
	d := Document{Key: key, URL: ingestedURL(in, label, key), Title: in.Title, Kind: KindText, Markdown: text}
	h, err := k.prepare(&d)
	if err != nil {
		return done, err
	}
	h.Ingested, h.Label, h.Metadata = true, label, archive.CleanMetadata(in.Metadata, k.cleaner)
	done = Ingested{Doc: key.Doc(), URL: h.URL, KB: in.KB, Passages: len(outline.Split(d.Markdown, k.split))}
	if _, err := k.archive.Head(key); err == nil {
		return done, nil
	}
	done.Changed = true
	changes := []store.Change{archive.Queued(key)}
	var old page.Key
	var replaces bool
	if in.URL != "" {
		source := sourceKey(into[0].base, label, in.URL)
		if was, err := k.records.Get(source); err == nil && len(was) == len(old) {
			old = page.Key(was)
			replaces = old != key
		}
		changes = append(changes, store.Change{Key: source, Value: key[:]})
	}
	for _, g := range into {
		changes = append(changes, join(g, key, member{h.URL, h.Hash})...)
	}
	if replaces { // at once: should we die in between, nobody would find it again
		changes = slices.Concat(changes, s.leave(old), k.archive.Forgotten(old), []store.Change{archive.Queued(old)})
	}
	if err := k.archive.Put(key, h, parts, changes...); err != nil {
		return done, err
	}
	for _, g := range into {
		s.joined(g, key)
	}
	if replaces {
		err = k.archive.Clear(old)
	}
	return done, err
}

// Ingested returns the last text ingested with a label and a URL and without a base. The error is store.ErrNotFound.
func (k *Knowledge) Ingested(label, rawURL string) (*Document, error) {
	key, err := k.records.Get(sourceKey(loose.base, clip.Runes(k.cleanLine(label), maxLabel), rawURL))
	if err != nil {
		return nil, err
	}
	if len(key) != len(page.Key{}) {
		return nil, fmt.Errorf("ingested record: %w", store.ErrNotFound)
	}
	return k.Document(page.Key(key))
}

// ingestedURL is what a hit shows of a text: its URL, or a title that is one, or its label.
func ingestedURL(in *Ingestion, label string, key page.Key) string {
	if in.URL != "" {
		return in.URL
	}
	if u, err := page.Parse(in.Title); err == nil && !page.HasSecret(u) {
		return in.Title
	}
	return "text:" + url.PathEscape(label) + "/" + key.Doc()
}

// sourceKey is the key that finds what was ingested into a base under a label and a URL, so that a later text replaces
// it.
func sourceKey(base baseID, label, rawURL string) string {
	sum := sha256.Sum256([]byte(label + "\x00" + normalURL(rawURL)))
	return sourcePrefix + string(base[:]) + string(sum[:16])
}
