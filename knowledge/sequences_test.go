package knowledge_test

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/readthru/readthru/internal/fault"
	"github.com/readthru/readthru/internal/needs"
	"github.com/readthru/readthru/knowledge"
	"github.com/readthru/readthru/store"
)

// sequencesFor names, in the environment, for how long random sequences run, as 1h; sequencesFrom the first seed.
const (
	sequencesFor  = "READTHRU_SEQUENCES_FOR"
	sequencesFrom = "READTHRU_SEQUENCES_FROM"
)

// Whatever happens to pages, knowledge bases and the index, every document is found by each word that its text, title
// and address have, and by no other; the counts are those of what is there; and an index built anew finds the same.
//
// A sequence has a small world: pages that are empty, equal, nearly equal, large, renamed, moved, cut off, gone and
// deleted; files of two bases and the pages of a third; ingested texts and notes; new editions of the cleaner; purges;
// panics while the index changes, deaths between two writes, restarts, rebuilds, compaction. Some seeds run each time;
// make sequences runs them for hours. A seed that failed once is run each time: name it in failedOnce.
func TestRandomSequencesLeaveWhatIsThere(t *testing.T) {
	limit, err := time.ParseDuration(cmp.Or(os.Getenv(sequencesFor), "0"))
	if err != nil {
		t.Fatalf("%s: %v", sequencesFor, err)
	}
	first, err := strconv.ParseUint(cmp.Or(os.Getenv(sequencesFrom), "1"), 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", sequencesFrom, err)
	}
	steps, deaths := 0, 0
	run := func(seed uint64) { // as a test of its own, so that nothing of it is kept
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			s := runSequence(t, seed)
			steps, deaths = steps+s.steps, deaths+s.deaths
		})
	}
	for _, seed := range failedOnce {
		run(seed)
	}
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	n, least := uint64(0), uint64(3)
	if needs.Brief() {
		least = 1
	}
	for ; n < least || ctx.Err() == nil && !t.Failed(); n++ {
		run(first + n)
	}
	t.Logf("%d sequences of %d steps and %d deaths in all", n, steps, deaths)
}

// failedOnce are seeds that failed, and what was wrong.
var failedOnce = []uint64{
	301449,
	430624, // a page of a base was deleted, and its address became another name: the base kept it
}

// sequence is the world of a random sequence, and what must be true of it.
type sequence struct {
	t    *testing.T
	rng  *rand.Rand
	seed uint64
	dir  string
	k    *opened
	done []string // what was done, for a person

	world
	left          map[string]bool // pages that were deleted, and members of a base, since the index was last up to date
	edition       int             // of the cleaner
	steps, deaths int

	ctx  context.Context //nolint:containedctx // of the process that may die
	died atomic.Bool
}

// world is what must be there.
type world struct {
	pages map[string]told            // by URL
	names map[string]string          // other names of pages: the URL of the page
	bases map[string]map[string]told // by name, then by URL
	texts map[string]told            // by URL
	notes map[string]told            // by URL, which has its id
}

func (w *world) clone() world {
	c := world{
		maps.Clone(w.pages), maps.Clone(w.names),
		map[string]map[string]told{},
		maps.Clone(w.texts),
		maps.Clone(w.notes),
	}
	for name, documents := range w.bases {
		c.bases[name] = maps.Clone(documents)
	}
	return c
}

// told is what is known of a document.
type told struct {
	title, element, text string
	edition              int  // of the cleaner that these passed
	gone                 bool // its origin says so
	cut                  bool // not all of it could be read: it is not found
	visited              bool // else it goes with the last base that has it
	read                 bool // in a base: it is the page with its URL
}

// The words are so far from each other that none is a misspelling or another form of another one.
var vocabulary = []string{
	"quokka", "zeppelin", "flange", "wombat", "harpsichord", "jubilee", "oxbow", "velcro", "kimono", "dolmen",
}

func newSequence(t *testing.T, seed uint64) *sequence {
	t.Helper()
	s := &sequence{
		t: t, rng: rand.New(rand.NewPCG(seed, 36)), seed: seed, dir: t.TempDir(), ctx: t.Context(), world: world{
			pages: map[string]told{}, names: map[string]string{}, bases: map[string]map[string]told{},
			texts: map[string]told{}, notes: map[string]told{},
		}, left: map[string]bool{},
	}
	s.open()
	return s
}

func runSequence(t *testing.T, seed uint64) *sequence {
	t.Helper()
	s := newSequence(t, seed)
	defer s.tell()
	defer fault.Inject(nil)
	for range 40 + s.rng.IntN(80) {
		s.steps++
		s.step()
		if s.rng.IntN(8) == 0 {
			s.check()
		}
		if t.Failed() {
			break
		}
	}
	s.check()
	if !t.Failed() {
		s.compareWithRebuilt()
	}
	s.k.shut(t)
	return s
}

// tell says what was done if the test failed.
func (s *sequence) tell() {
	if s.t.Failed() {
		s.t.Logf("seed %d:\n%s", s.seed, strings.Join(s.done, "\n"))
	}
}

// open starts the process.
func (s *sequence) open() {
	s.t.Helper()
	c := store.Cleaner{Edition: s.edition, Clean: func(text []byte, _ bool) []byte {
		return []byte(cleaned(string(text), s.edition))
	}}
	opened := &opened{}
	var err error
	if opened.store, err = store.Open(store.Options{Dir: s.dir, Cleaner: c}); err != nil {
		s.t.Fatal(err)
	}
	if opened.Knowledge, err = knowledge.Open(knowledge.Options{Store: opened.store, Cleaner: c}); err != nil {
		s.t.Fatal(err)
	}
	s.k = opened
	s.t.Cleanup(func() { opened.shut(s.t) })
}

// unseen is what editions of the cleaner take out: a text says which one is the first.
var marked = regexp.MustCompile(`\{(\d):[^}]*\}`)

// cleaned returns a text as an edition of the cleaner leaves it.
func cleaned(text string, edition int) string {
	return marked.ReplaceAllStringFunc(text, func(m string) string {
		if int(m[1]-'0') <= edition {
			return ""
		}
		return m
	})
}

// as returns a document as an edition of the cleaner lets it be seen.
func (d told) as(edition int) told {
	if d.edition < edition {
		d.title, d.element, d.text = cleaned(d.title, edition), cleaned(d.element, edition), cleaned(d.text, edition)
	}
	return d
}

func (s *sequence) note(format string, args ...any) {
	s.done = append(s.done, fmt.Sprintf(format, args...))
}

// ok reports whether something went well. That it did not is no mistake of a process that is dead.
func (s *sequence) ok(err error) bool {
	s.t.Helper()
	if err != nil && !s.died.Load() {
		s.tell()
		s.t.Fatal(err)
	}
	return err == nil
}
