package knowledge

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"iter"
	"maps"
	"slices"
	"sort"
	"sync"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/readthru/readthru/knowledge/annotation"
	"github.com/readthru/readthru/knowledge/archive"
	"github.com/readthru/readthru/knowledge/index"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// Keys of memberships. A generation is <id8><u32>.
//
//	k/m/<generation><key>   member: a document of a base
//	k/mo/<key><generation>  the reverse
const (
	memberPrefix = "k/m/"
	ownerPrefix  = "k/mo/"
)

// generation is one filling of a knowledge base: a base that is filled again gets the next one, and the old one answers
// until that is complete.
type generation struct {
	base   baseID
	number uint32
}

// loose is the generation of documents that were ingested into no base.
var loose generation

// key returns, for the records of members, the generation as a part of keys: the id of the base, and the number.
func (g generation) key() string {
	return string(binary.BigEndian.AppendUint32(g.base[:len(g.base):len(g.base)], g.number))
}

// generationIn reads the generation that key returned.
func generationIn(key string) (g generation) {
	copy(g.base[:], key)
	g.number = binary.BigEndian.Uint32([]byte(key[len(g.base):]))
	return g
}

const generationLen = len(baseID{}) + 4

// memberKey returns the key of a document's membership in a generation.
func memberKey(g generation, k page.Key) string { return memberPrefix + g.key() + string(k[:]) }

// ownerKey returns the key by which the generations are found that a document is a member of.
func ownerKey(g generation, k page.Key) string { return ownerPrefix + string(k[:]) + g.key() }

// member is what k/m/ holds: the document's URL, and the hash of its content when it became a member.
type member struct {
	URL  string `json:"u"`
	Hash string `json:"h"` // hex SHA-256 of the markdown
}

// bases holds the knowledge bases in memory, and which documents are in each of their generations.
type bases struct {
	records *store.Records
	index   *index.Index

	mu     sync.Mutex // held over every change of a base or its members
	byName map[string]*baseRecord
	sets   map[generation]*memberSet // those that were asked for
	busy   map[baseID]bool           // being filled, or deleted
}

// memberSet is the documents of a generation.
type memberSet struct {
	keys     map[page.Key]struct{}
	numbers  *roaring.Bitmap // of those that are indexed (and perhaps of some that were); replaced, never changed
	passages int             // -1: must be counted
}

// set returns the members of a generation, its documents, from memory or, the first time, from the disk. The caller
// holds mu.
func (s *bases) set(g generation) *memberSet {
	if set := s.sets[g]; set != nil {
		return set
	}
	set := &memberSet{keys: map[page.Key]struct{}{}, passages: -1}
	prefix := memberPrefix + g.key()
	s.records.Keys(prefix, "", func(key string) bool {
		if k, ok := archive.KeyIn(key, prefix); ok {
			set.keys[k] = struct{}{}
		}
		return true
	})
	set.numbers = s.index.NumbersOf(set.keys)
	s.sets[g] = set
	return set
}

// members returns the numbers that the index gives to a base's documents, by which a search is limited to the base. The
// bitmap is shared: never change it. The error is an *UnknownBaseError.
func (s *bases) members(kb string) (*roaring.Bitmap, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.named(kb)
	if err != nil {
		return nil, err
	}
	return s.set(r.live()).numbers, nil
}

// liveOf returns the generation whose members answer for a base; the zero one for a base that is not there. A search is
// made again if it is another one afterwards.
func (s *bases) liveOf(kb string) (g generation) {
	if kb == "" {
		return g
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.byName[kb]; r != nil {
		g = r.live()
	}
	return g
}

// counts returns how many members, documents, a generation has, and how many different passages of them are indexed.
// Under mu.
func (s *bases) counts(g generation) (documents, passages int) {
	set := s.set(g)
	if set.passages < 0 {
		set.passages = s.index.PassagesIn(set.numbers)
	}
	return len(set.keys), set.passages
}

// indexed takes note that documents were indexed, or fell out of the index: sets of members that have them get their
// new numbers. A bitmap that a search may hold is replaced, not changed.
func (s *bases) indexed(keys []page.Key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, set := range s.sets {
		var numbers *roaring.Bitmap
		for _, k := range keys {
			if _, ok := set.keys[k]; !ok {
				continue
			}
			set.passages = -1
			if n, ok := s.index.Number(k); ok && !set.numbers.Contains(n) {
				if numbers == nil {
					numbers = set.numbers.Clone()
				}
				numbers.Add(n)
			}
		}
		if numbers != nil {
			set.numbers = numbers
		}
	}
}

// forget drops what memory holds of members: the index numbers documents anew.
func (s *bases) forget() {
	s.mu.Lock()
	clear(s.sets)
	s.mu.Unlock()
}

// join returns the changes that make a document a member of a generation, and queue it to be annotated. The caller
// holds mu, and calls joined when they are applied.
func join(g generation, k page.Key, m member) []store.Change {
	value, _ := json.Marshal(m) // two strings
	return []store.Change{
		{Key: memberKey(g, k), Value: value},
		{Key: ownerKey(g, k)},
		annotation.Job(k),
	}
}

// joined takes note of a new member. Under mu.
func (s *bases) joined(g generation, k page.Key) {
	set := s.sets[g]
	if set == nil {
		return
	}
	if _, is := set.keys[k]; is {
		return
	}
	set.keys[k] = struct{}{}
	set.passages = -1
	if n, ok := s.index.Number(k); ok {
		set.numbers = set.numbers.Clone()
		set.numbers.Add(n)
	}
}

// leave returns the changes by which a document is a member of no generation any more. Under mu.
func (s *bases) leave(k page.Key) (changes []store.Change) {
	for _, g := range s.owners(k) {
		changes = append(changes, left(g, k)...)
		delete(s.sets, g) // read again when somebody asks
	}
	return changes
}

// left returns the changes that end a membership.
func left(g generation, k page.Key) []store.Change {
	return []store.Change{{Key: memberKey(g, k), Gone: true}, {Key: ownerKey(g, k), Gone: true}}
}

// owners returns the generations that a document is a member of.
func (s *bases) owners(k page.Key) (list []generation) {
	prefix := ownerPrefix + string(k[:])
	s.records.Keys(prefix, "", func(key string) bool {
		if len(key) == len(prefix)+generationLen {
			list = append(list, generationIn(key[len(prefix):]))
		}
		return true
	})
	return list
}

// BasesOf returns the names of the bases that a document is a member of and answers for now, sorted.
func (k *Knowledge) BasesOf(key page.Key) []string {
	owners := k.bases.owners(key)
	s := &k.bases
	s.mu.Lock()
	defer s.mu.Unlock()
	names := map[string]bool{}
	for name, r := range s.byName {
		if slices.Contains(owners, r.live()) {
			names[name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// memberKeys returns the documents of a base. The error is an *UnknownBaseError.
func (k *Knowledge) memberKeys(kb string) (iter.Seq[page.Key], error) {
	s := &k.bases
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.named(kb)
	if err != nil {
		return nil, err
	}
	keys := slices.Collect(maps.Keys(s.set(r.live()).keys))
	sortKeys(keys)
	return slices.Values(keys), nil
}

// sortKeys sorts keys of members, documents, so that lists and packs have one order.
func sortKeys(list []page.Key) {
	sort.Slice(list, func(i, j int) bool { return bytes.Compare(list[i][:], list[j][:]) < 0 })
}
