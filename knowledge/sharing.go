package knowledge

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// A Sharing is how far a base agrees with the base of the same id on other nodes. Package fleet decides what it says.
type Sharing struct {
	Told    bool    `json:"told,omitempty"`   // other nodes know of the base
	Never   bool    `json:"never,omitempty"`  // it is of this node alone: its documents are no pages of the web
	Here    bool    `json:"here,omitempty"`   // this node filled it last, and may have what others do not know
	Filled  Filling `json:"filled,omitzero"`  // what they call the generation that answers
	Filling Filling `json:"filling,omitzero"` // what they call the one that is being built
}

// A Filling is the name that nodes have for a generation of a base, and how much of it they have in common.
type Filling struct {
	Number int64 `json:"number"` // 0: others do not know of it
	Rounds int   `json:"rounds"`
}

// SharedBase is a base as package fleet sees it. Its counts are 0.
type SharedBase struct {
	Base
	Sharing
	Busy   bool   // it is being filled on this node
	Newest uint32 // the generation that is being built, or else the one that answers
}

// NewestFilling returns what nodes call the newest generation.
func (b *SharedBase) NewestFilling() Filling {
	if b.Building {
		return b.Filling
	}
	return b.Filled
}

// Round is a part of a filling, as nodes tell it each other.
type Round struct {
	Members []Member          `json:"members,omitempty"`
	Steps   []json.RawMessage `json:"steps,omitempty"` // what the crawler noted; see [CrawlLog]
}

// Member is a page of a base.
type Member struct {
	URL  string `json:"u"`
	Hash string `json:"h"` // of its content when it became a member
}

// DroppedBase is a base that was deleted here and that others know.
type DroppedBase struct {
	ID   string    `json:"id"`
	Name string    `json:"name"`
	At   time.Time `json:"at"`
}

// droppedPrefix begins k/bt/<id8>, the record of a [DroppedBase].
const droppedPrefix = "k/bt/"

// keepsPages is the value of a garbage mark for a generation whose pages stay: another node decides about them.
const keepsPages = "pages"

// SharedBases returns the bases that are filled from the web, by name.
func (k *Knowledge) SharedBases() []SharedBase {
	s := &k.bases
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []SharedBase
	for _, name := range s.names() {
		if r := s.byName[name]; r.Source == SourceCrawl || r.Source == SourceScrape {
			list = append(list, s.shared(r))
		}
	}
	return list
}

// SharedBase returns one of them.
func (k *Knowledge) SharedBase(name string) (SharedBase, bool) {
	s := &k.bases
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.byName[name]
	if r == nil {
		return SharedBase{}, false
	}
	return s.shared(r), true
}

// shared returns a base as package fleet sees it, without counts. The caller holds mu.
func (s *bases) shared(r *baseRecord) SharedBase {
	b := SharedBase{Base: r.Base, Sharing: r.Sharing, Busy: s.busy[r.id()]}
	b.Building, b.Newest = r.BuildingGeneration != 0, r.Generation
	if b.Building {
		b.Newest = r.BuildingGeneration
	}
	return b
}

// change changes the record of the shared base of an id for package fleet, with changes in the same transaction. It
// does nothing if the base is gone, or another one has its name.
func (s *bases) change(name, id string, f func(r *baseRecord) ([]store.Change, error)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	was := s.byName[name]
	if was == nil || was.ID != id {
		return nil
	}
	r := *was
	with, err := f(&r)
	if err != nil {
		return err
	}
	return s.save(&r, with...)
}

// take is change for what another node that shares a base has told of it. The error wraps [ErrBuilding] while this node
// fills the base, and must not be changed under it.
func (s *bases) take(b SharedBase, f func(r *baseRecord) ([]store.Change, error)) error {
	return s.change(b.Name, b.ID, func(r *baseRecord) ([]store.Change, error) {
		if s.busy[r.id()] {
			return nil, fmt.Errorf("fill knowledge base %s: %w", b.Name, ErrBuilding)
		}
		return f(r)
	})
}

// SetSharing changes how far a base agrees with that of others.
func (k *Knowledge) SetSharing(b SharedBase, change func(*Sharing)) error {
	return k.bases.change(b.Name, b.ID, func(r *baseRecord) ([]store.Change, error) {
		change(&r.Sharing)
		return nil, nil
	})
}

// ToldFilling takes note of how much others, who share a base, know of its newest generation, unless that was given up
// since.
func (k *Knowledge) ToldFilling(b SharedBase, told Filling) error {
	return k.bases.change(b.Name, b.ID, func(r *baseRecord) ([]store.Change, error) {
		switch b.Newest {
		case r.BuildingGeneration:
			r.Filling = told
		case r.Generation:
			r.Filled = told
		}
		return nil, nil
	})
}

// Dropped returns the shared bases that were deleted here and that others know.
func (k *Knowledge) Dropped() (list []DroppedBase) {
	k.records.Walk(droppedPrefix, "", func(_ string, value []byte) bool {
		var d DroppedBase
		if json.Unmarshal(value, &d) == nil {
			list = append(list, d)
		}
		return true
	})
	return list
}

// ForgetDropped forgets that a shared base was deleted here.
func (k *Knowledge) ForgetDropped(d DroppedBase) error {
	return k.records.Apply(store.Change{Key: droppedPrefix + d.ID, Gone: true})
}

// dropped returns the change that keeps in mind that a shared base was deleted, if others know it.
func (r *baseRecord) dropped(now time.Time) []store.Change {
	if !r.Told {
		return nil
	}
	value, _ := json.Marshal(DroppedBase{r.ID, r.Name, now.UTC()}) // strings and a time
	return []store.Change{{Key: droppedPrefix + r.ID, Value: value}}
}

// ForgetSharing forgets what bases have in common with those of other nodes: they are led to another database.
func (k *Knowledge) ForgetSharing() error {
	for _, b := range k.SharedBases() {
		if err := k.SetSharing(b, func(s *Sharing) { *s = Sharing{Never: s.Never, Here: true} }); err != nil {
			return err
		}
	}
	return nil
}

// Progress returns, for those who share a base, what its newest generation has beyond some documents and some steps of
// its crawl: the pages among them, and the keys of all. Every page that the steps have is a member, here or among
// those.
func (k *Knowledge) Progress(b SharedBase, told map[page.Key]bool, steps int) (r Round, keys []page.Key, err error) {
	id, _ := parseBaseID(b.ID)
	g := generation{id, b.Newest}
	if b.Building {
		from := string(binary.BigEndian.AppendUint32(nil, uint32(steps)))
		k.records.Walk(crawlPrefix+g.key(), crawlPrefix+g.key()+from, func(_ string, step []byte) bool {
			r.Steps = append(r.Steps, step)
			return true
		})
	}
	s := &k.bases
	s.mu.Lock()
	defer s.mu.Unlock()
	for key := range s.set(g).keys {
		if told[key] {
			continue
		}
		var m member
		value, err := k.records.Get(memberKey(g, key))
		if err == nil {
			err = json.Unmarshal(value, &m)
		}
		if err != nil {
			return r, nil, fmt.Errorf("read a member of knowledge base %s: %w", b.Name, err)
		}
		keys = append(keys, key)
		if page.KeyOf(m.URL) == key { // else it is a text that was ingested
			r.Members = append(r.Members, Member(m))
		}
	}
	return r, keys, nil
}

// ErrBaseID means that the id of a base of another node is none, or that of another base here.
var ErrBaseID = errors.New("its id is none, or that of another base")

// ErrDropped means that a base was deleted here.
var ErrDropped = errors.New("it was deleted here")

// TakeBase makes a base that another node has made and shares, without what it is filled with. The error wraps
// [ErrBaseExists] if its name is taken, [ErrBaseID], or [ErrDropped] as long as [Knowledge.Dropped] has it.
func (k *Knowledge) TakeBase(b Base) error {
	if err := k.takeBase(b); err != nil {
		return fmt.Errorf("take knowledge base %s: %w", b.Name, err)
	}
	return nil
}

// takeBase is [Knowledge.TakeBase], whose errors do not name the base.
func (k *Knowledge) takeBase(b Base) error {
	if err := CheckBaseName(b.Name); err != nil {
		return err
	}
	id, ok := parseBaseID(b.ID)
	if !ok || id.String() != b.ID || id == loose.base {
		return ErrBaseID
	}
	b.Description = k.cleanLine(b.Description)
	s := &k.bases
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := k.records.Get(droppedPrefix + b.ID); err == nil {
		return ErrDropped
	}
	if name, err := k.records.Get(baseIDPrefix + string(id[:])); err == nil && string(name) != b.Name {
		return ErrBaseID
	}
	_, err := s.add(id, b, Sharing{Told: true})
	return err
}

// LeaveBase deletes a shared base that another node has deleted: the pages stay as long as that node does not delete
// them.
func (k *Knowledge) LeaveBase(ctx context.Context, name string) error {
	_, generations, err := k.dropBase(name, keepsPages)
	if err == nil {
		k.clearAll(ctx, generations...)
	}
	return err
}

// TakeRounds adds what another node told of a filling that is shared to the generation that is being built. Whole says
// that these are all rounds, and that what the node has of it is replaced.
func (k *Knowledge) TakeRounds(ctx context.Context, b SharedBase, number int64, rounds []Round, whole bool) error {
	var replaced []generation
	s := &k.bases
	at := uint32(0)
	err := s.take(b, func(r *baseRecord) (with []store.Change, err error) {
		if whole || r.BuildingGeneration == 0 {
			if r.BuildingGeneration != 0 {
				old := generation{r.id(), r.BuildingGeneration}
				with = append(with, store.Change{Key: garbagePrefix + old.key(), Value: []byte(keepsPages)})
				replaced = append(replaced, old)
			}
			r.LastGeneration++
			r.BuildingGeneration = r.LastGeneration
		}
		r.Here, r.Filling = false, Filling{Number: number}
		if !whole {
			r.Filling.Rounds = b.Filling.Rounds
		}
		return with, nil
	})
	for i := range rounds {
		if err == nil {
			err = k.takeRound(b, &rounds[i], &at)
		}
	}
	k.clearAll(ctx, replaced...)
	return err
}

// takeRound adds a round of a shared filling. At is the number of the next step, and 0 if that is not known yet.
func (k *Knowledge) takeRound(b SharedBase, round *Round, at *uint32) error {
	s := &k.bases
	var g generation
	var keys []page.Key
	err := s.take(b, func(r *baseRecord) (with []store.Change, err error) {
		g = generation{r.id(), r.BuildingGeneration}
		if *at == 0 {
			*at = newCrawlLog(k.records, g).next
		}
		for _, m := range round.Members {
			key := page.KeyOf(m.URL)
			keys = append(keys, key)
			with = append(with, join(g, key, member(m))...)
		}
		for _, step := range round.Steps {
			next := string(binary.BigEndian.AppendUint32([]byte(crawlPrefix+g.key()), *at))
			with = append(with, store.Change{Key: next, Value: step})
			*at++
		}
		r.Filling.Rounds++
		return with, nil
	})
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, key := range keys {
		s.joined(g, key)
	}
	return nil
}

// TakeFilled has the shared generation that was being built answer: another node has filled the base.
func (k *Knowledge) TakeFilled(ctx context.Context, b SharedBase, at time.Time) error {
	var old []generation
	err := k.bases.take(b, func(r *baseRecord) (with []store.Change, err error) {
		if r.BuildingGeneration == 0 {
			return nil, nil
		}
		build := Build{k: k, g: generation{r.id(), r.BuildingGeneration}}
		if err := build.keepTexts(r.committed()); err != nil {
			return nil, err
		}
		old = append(old, r.committed())
		with = append(with, store.Change{Key: garbagePrefix + r.committed().key(), Value: []byte(keepsPages)})
		r.commit(at)
		return with, nil
	})
	k.clearAll(ctx, old...)
	return err
}

// TakeAborted gives up the shared generation that was being built: another node has given it up.
func (k *Knowledge) TakeAborted(ctx context.Context, b SharedBase) error {
	var old []generation
	err := k.bases.take(b, func(r *baseRecord) (with []store.Change, err error) {
		if r.BuildingGeneration == 0 {
			return nil, nil
		}
		g := generation{r.id(), r.BuildingGeneration}
		r.BuildingGeneration, r.Filling, r.Paused, r.Here = 0, Filling{}, false, false
		old = append(old, g)
		return []store.Change{{Key: garbagePrefix + g.key(), Value: []byte(keepsPages)}}, nil
	})
	k.clearAll(ctx, old...)
	return err
}

// SetPaused says whether the filling of a shared base waits until somebody asks for more.
func (k *Knowledge) SetPaused(b SharedBase, paused bool) error {
	return k.bases.take(b, func(r *baseRecord) ([]store.Change, error) {
		r.Paused = paused
		return nil, nil
	})
}
