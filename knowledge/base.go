package knowledge

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/readthru/readthru/internal/clip"
	"github.com/readthru/readthru/internal/lazy"
	"github.com/readthru/readthru/internal/unknown"
	"github.com/readthru/readthru/store"
)

// Keys of knowledge bases.
//
//	k/b/<name> base
//	k/i/<id8>  its name
const (
	basePrefix   = "k/b/"
	baseIDPrefix = "k/i/"
)

// Sources of a knowledge base.
const (
	SourceCrawl  = "crawl"
	SourceScrape = "scrape"
	SourceFile   = "file"
	SourceText   = "text"
)

// DefaultLimit is how many pages a crawl takes into a base that names no limit.
const DefaultLimit = 1000

// Base is a knowledge base: documents under a name, and where to fetch them again (rule D1).
type Base struct {
	ID          string `json:"id"`   // 16 hex digits
	Name        string `json:"name"` // unique: lower-case letters, digits and ._-, a letter or digit first
	Description string `json:"description"`
	Source      string `json:"source_type"` // crawl, scrape, file or text

	URL     string   `json:"url,omitempty"`     // where a crawl starts, or the page scraped
	Files   []string `json:"files,omitempty"`   // files and folders, absolute
	Service string   `json:"service,omitempty"` // the crawl service; empty: as configured
	Limit   int      `json:"limit,omitempty"`   // pages of a crawl
	Depth   int      `json:"depth,omitempty"`   // links from the start; 0: any
	Include []string `json:"include,omitempty"`
	Exclude []string `json:"exclude,omitempty"`

	CreatedAt  time.Time `json:"created_at,omitzero"`
	UpdatedAt  time.Time `json:"updated_at,omitzero"`
	LastCrawl  time.Time `json:"last_crawl,omitzero"` // when it was last filled from its source
	Generation uint32    `json:"generation"`          // the one that answers; 0 until it was first filled
	Building   bool      `json:"building,omitempty"`  // a next one was begun and neither committed nor given up
	Paused     bool      `json:"paused,omitempty"`    // it is not continued until somebody asks

	Documents int `json:"documents"` // as of the call
	Passages  int `json:"passages"`

	Unknown unknown.Fields `json:"-"` // a newer program's
}

// baseRecord is what k/b/ holds.
type baseRecord struct {
	Base
	Sharing            `json:"sharing,omitzero"`
	BuildingGeneration uint32 `json:"building_generation,omitempty"`
	LastGeneration     uint32 `json:"last_generation"` // given out last
}

// ErrBaseExists means that a knowledge base with this name already exists.
var ErrBaseExists = errors.New("a knowledge base with this name already exists")

// ErrBuilding means that another caller is filling the knowledge base.
var ErrBuilding = errors.New("the knowledge base is being filled")

// UnknownBaseError says that there is no knowledge base of a name.
type UnknownBaseError struct {
	Name  string
	Known []string // sorted
}

// Error names the bases that are there, as many as can be read.
func (e *UnknownBaseError) Error() string {
	const most = 20
	known := "no base exists"
	if n := len(e.Known); n > most {
		known = fmt.Sprintf("known are %s and %d more", strings.Join(e.Known[:most], ", "), n-most)
	} else if n > 0 {
		known = "known are " + strings.Join(e.Known, ", ")
	}
	return fmt.Sprintf("unknown knowledge base %q: %s", clip.Runes(e.Name, maxBaseName), known)
}

const maxBaseName = 100

var baseName = lazy.Pattern(`^[a-z0-9][a-z0-9._-]*$`)

// CheckBaseName returns an error if name is not valid for a knowledge base (rule D17).
func CheckBaseName(name string) error {
	switch {
	case name == "":
		return errors.New("a knowledge base needs a name")
	case len(name) > maxBaseName:
		return fmt.Errorf("knowledge base name %q… is longer than %d characters", clip.Runes(name, 20),
			maxBaseName)
	case !baseName().MatchString(name) || strings.Contains(name, ".."):
		return fmt.Errorf("invalid knowledge base name %q: use lower-case letters, digits, . _ and -, a letter or "+
			"digit first", name)
	}
	return nil
}

// baseID identifies a knowledge base in keys, under whatever name: a base that is deleted and made again has another.
type baseID [8]byte

func (id baseID) String() string { return hex.EncodeToString(id[:]) }

// parseBaseID reads the id of a base from its 16 hex digits.
func parseBaseID(s string) (id baseID, ok bool) {
	b, err := hex.DecodeString(s)
	if err != nil || len(b) != len(id) {
		return id, false
	}
	return baseID(b), true
}

// CreateBase makes an empty knowledge base of b's name, description, source and settings. Name must satisfy
// [CheckBaseName]; the error wraps [ErrBaseExists] when it is taken.
func (k *Knowledge) CreateBase(b Base) (Base, error) { return k.createBase(b, Sharing{}) }

// createBase is [Knowledge.CreateBase], with what the base has in common with that of other nodes.
func (k *Knowledge) createBase(b Base, sharing Sharing) (Base, error) {
	if err := CheckBaseName(b.Name); err != nil {
		return Base{}, err
	}
	switch b.Source {
	case "":
		b.Source = SourceText
	case SourceCrawl, SourceScrape, SourceFile, SourceText:
	default:
		return Base{}, fmt.Errorf("create knowledge base %s: unknown source %q", b.Name, b.Source)
	}
	if b.Source == SourceCrawl && b.Limit == 0 {
		b.Limit = DefaultLimit
	}
	var id baseID
	rand.Read(id[:]) // never fails
	now := time.Now().UTC().Truncate(time.Millisecond)
	b.ID, b.CreatedAt, b.UpdatedAt = id.String(), now, now
	s := &k.bases
	s.mu.Lock()
	defer s.mu.Unlock()
	b, err := s.add(id, b, sharing)
	if err != nil {
		return Base{}, fmt.Errorf("create knowledge base %s: %w", b.Name, err)
	}
	return b, nil
}

// add saves a new knowledge base, which is empty, and the record that leads from its id to its name. The caller holds
// mu. The error is ErrBaseExists, or that of the store.
func (s *bases) add(id baseID, b Base, sharing Sharing) (Base, error) {
	if s.byName[b.Name] != nil {
		return b, ErrBaseExists
	}
	b.Generation, b.LastCrawl, b.Building, b.Paused, b.Documents, b.Passages = 0, time.Time{}, false, false, 0, 0
	return b, s.save(&baseRecord{Base: b, Sharing: sharing}, store.Change{
		Key: baseIDPrefix + string(id[:]), Value: []byte(b.Name),
	})
}

// Base returns the knowledge base with a name, and its counts. The error is an [*UnknownBaseError].
func (k *Knowledge) Base(name string) (Base, error) {
	s := &k.bases
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.named(name)
	if err != nil {
		return Base{}, err
	}
	return k.counted(r), nil
}

// BaseByID returns the knowledge base with an id. The error is an [*UnknownBaseError].
func (k *Knowledge) BaseByID(id string) (Base, error) {
	if raw, ok := parseBaseID(id); ok {
		if name, err := k.records.Get(baseIDPrefix + string(raw[:])); err == nil {
			return k.Base(string(name))
		}
	}
	return k.Base(id)
}

// Bases returns all knowledge bases by name, with their counts.
func (k *Knowledge) Bases() []Base {
	s := &k.bases
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]Base, 0, len(s.byName))
	for _, name := range s.names() {
		list = append(list, k.counted(s.byName[name]))
	}
	return list
}

// counted returns a base as callers see it, with the number of its documents and passages. The caller holds bases.mu.
func (k *Knowledge) counted(r *baseRecord) Base {
	b := r.Base
	b.Building = r.BuildingGeneration != 0
	b.Documents, b.Passages = k.bases.counts(r.live())
	return b
}

func (r *baseRecord) id() baseID {
	id, _ := parseBaseID(r.ID)
	return id
}

// live is the generation of the base that searches see: the committed one, or the one that is being built for the first
// time, so that a base can be searched while its first crawl runs.
func (r *baseRecord) live() generation {
	if r.Generation == 0 {
		return generation{r.id(), r.BuildingGeneration}
	}
	return r.committed()
}

// committed is the generation that was committed last; number 0 has the texts ingested before the first was.
func (r *baseRecord) committed() generation { return generation{r.id(), r.Generation} }

// load reads all knowledge bases into memory when the knowledge is opened. Line cleans their descriptions: packs of
// others have some.
func (s *bases) load(line func(string) string) {
	s.records.Walk(basePrefix, "", func(key string, value []byte) bool {
		var r baseRecord
		if unknown.Unmarshal(value, &r) == nil && basePrefix+r.Name == key {
			r.Description = line(r.Description)
			s.byName[r.Name] = &r
		}
		return true
	})
}

// commit makes the generation that is being built the one that answers, in this record alone: the caller saves it.
func (r *baseRecord) commit(at time.Time) {
	r.Generation, r.BuildingGeneration, r.Paused = r.BuildingGeneration, 0, false
	r.LastCrawl, r.UpdatedAt = at, at
	r.Filled, r.Filling = r.Filling, Filling{}
}

// save writes the record of a knowledge base, and the changes with in one transaction, and keeps r in memory only after
// that. The caller holds mu; r must not change any more.
func (s *bases) save(r *baseRecord, with ...store.Change) error {
	r.Documents, r.Passages, r.Building = 0, 0, false
	value, err := unknown.Marshal(r)
	if err != nil {
		return err
	}
	if err := s.records.Apply(append(with, store.Change{Key: basePrefix + r.Name, Value: value})...); err != nil {
		return err
	}
	s.byName[r.Name] = r
	return nil
}

// named returns the knowledge base of a name, or an [*UnknownBaseError]. The caller holds mu and never changes the
// record: it saves a changed copy.
func (s *bases) named(name string) (*baseRecord, error) {
	if r := s.byName[name]; r != nil {
		return r, nil
	}
	return nil, &UnknownBaseError{name, s.names()}
}

// names returns the names of all bases, sorted. Under mu.
func (s *bases) names() []string {
	names := slices.Sorted(maps.Keys(s.byName))
	return names
}
