package firecrawl

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/readthru/readthru/internal/lazy"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// changes is what the format changeTracking says of a page: how it differs from its last version here.
type changes struct {
	Previous   *string   `json:"previousScrapeAt"` // null for a page that is new here
	Status     string    `json:"changeStatus"`     // new, same, changed or removed
	Visibility string    `json:"visibility"`       // always visible
	Diff       *pageDiff `json:"diff,omitempty"`
}

// pageDiff is a difference as text and as the lines of it.
type pageDiff struct {
	Text string   `json:"text"` // unified
	JSON diffJSON `json:"json"`
}

type diffJSON struct {
	Files []diffFile `json:"files"`
}

// diffFile is a difference in the JSON form that Firecrawl's clients read.
type diffFile struct {
	From   string      `json:"from"`
	To     string      `json:"to"`
	Chunks []diffChunk `json:"chunks"`
}

type diffChunk struct {
	Content string       `json:"content"` // the line that heads it
	Changes []diffChange `json:"changes"`
}

// diffChange is a line. Of Normal, Add and Del one is true.
type diffChange struct {
	Type    string `json:"type"` // normal, add or del
	Normal  bool   `json:"normal,omitempty"`
	Add     bool   `json:"add,omitempty"`
	Del     bool   `json:"del,omitempty"`
	Line    int    `json:"ln,omitempty"`  // of an add or a del
	OldLine int    `json:"ln1,omitempty"` // of a normal line
	NewLine int    `json:"ln2,omitempty"`
	Content string `json:"content"`
}

// previous is a page as it was here before it was asked for. A nil *previous is that of a page whose changes are not
// wanted.
type previous struct {
	store   *store.Store
	key     page.Key
	page    *page.Page // nil: it was not here
	version store.Version
	diff    bool // wanted
}

// before returns the page as it is stored here now, before the scrape, if its changes are wanted (the format
// changeTracking); nil if not.
func (s *Service) before(u *url.URL, o *scrapeOptions) *previous {
	wanted := o.changeTracking()
	if wanted == nil || s.o.Store == nil {
		return nil
	}
	b := &previous{
		store: s.o.Store, key: s.o.Store.Resolve(page.KeyOf(page.Normalize(u))), diff: len(wanted.Modes) > 0,
	}
	p, err := b.store.Page(b.key)
	if err != nil {
		return b
	}
	if versions, err := b.store.Versions(b.key); err == nil && len(versions) > 0 {
		b.page, b.version = p, versions[0]
	}
	return b
}

// changes compares the page as it is here now with what it was.
func (b *previous) changes() (*changes, error) {
	c := &changes{Status: "new", Visibility: "visible"}
	if b.page == nil {
		return c, nil
	}
	c.Status, c.Previous = "same", new(b.page.FetchedAt.UTC().Format(time.RFC3339))
	versions, err := b.store.Versions(b.key)
	if err != nil || len(versions) == 0 || versions[0].ContentHash == b.version.ContentHash {
		return c, err
	}
	c.Status = "changed"
	if !b.diff {
		return c, nil
	}
	was, err := b.store.VersionMarkdown(b.key, b.version)
	if err != nil {
		return nil, fmt.Errorf("read the last version of a page: %w", err)
	}
	is, err := b.store.VersionMarkdown(b.key, versions[0])
	if err != nil {
		return nil, fmt.Errorf("read the new version of a page: %w", err)
	}
	c.Diff = difference(was, is)
	return c, nil
}

// gone returns the changes of a page that its origin refuses with a status; nil if that says nothing of it.
func (b *previous) gone(status int) *changes {
	if b == nil || b.page == nil || status != http.StatusNotFound && status != http.StatusGone {
		return nil
	}
	return &changes{
		Status: "removed", Visibility: "visible", Previous: new(b.page.FetchedAt.UTC().Format(time.RFC3339)),
	}
}

var chunkHead = lazy.Pattern(`^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@`)

// difference compares two versions of a page: as a unified diff, and in the JSON form of Firecrawl.
func difference(was, is []byte) *pageDiff {
	_, unified, _ := strings.Cut(string(diff.Diff("previous", was, "current", is)), "\n") // not a part of a unified diff
	file := diffFile{From: "previous", To: "current", Chunks: []diffChunk{}}
	oldLine, newLine := 0, 0
	for line := range strings.Lines(unified) {
		line = strings.TrimSuffix(line, "\n")
		if m := chunkHead().FindStringSubmatch(line); m != nil {
			oldLine, _ = strconv.Atoi(m[1])
			newLine, _ = strconv.Atoi(m[2])
			file.Chunks = append(file.Chunks, diffChunk{Content: line, Changes: []diffChange{}})
			continue
		}
		if len(file.Chunks) == 0 || line == "" { // the names of the texts
			continue
		}
		c := diffChange{Content: line}
		switch line[0] {
		case '+':
			c.Type, c.Add, c.Line = "add", true, newLine
			newLine++
		case '-':
			c.Type, c.Del, c.Line = "del", true, oldLine
			oldLine++
		case ' ':
			c.Type, c.Normal, c.OldLine, c.NewLine = "normal", true, oldLine, newLine
			oldLine, newLine = oldLine+1, newLine+1
		default:
			continue
		}
		last := &file.Chunks[len(file.Chunks)-1]
		last.Changes = append(last.Changes, c)
	}
	return &pageDiff{unified, diffJSON{[]diffFile{file}}}
}
