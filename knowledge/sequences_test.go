package knowledge_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"readthru/fault"
	"readthru/knowledge"
	"readthru/page"
	"readthru/store"
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
	n := uint64(0)
	for ; n < 3 || ctx.Err() == nil && !t.Failed(); n++ {
		run(first + n)
	}
	t.Logf("%d sequences of %d steps and %d deaths in all", n, steps, deaths)
}

// failedOnce are seeds that failed, and what was wrong.
var failedOnce = []uint64{}

// A process may die before any of the writes that a change makes. The next one finds the change done or not, indexes
// what there is, and forgets nothing.
func TestADeathBeforeAnyWriteOfAChangeLosesNothingElse(t *testing.T) {
	for _, change := range changes {
		t.Run(change.name, func(t *testing.T) {
			s := newSequence(t, 1)
			for range 12 {
				s.read(s.url())
			}
			s.fillFiles()
			s.fillPages()
			for range 3 {
				s.ingest()
				s.addNote()
			}
			n := 0
			for ; s.dies(change, n) && !t.Failed(); n++ {
				s.check()
			}
			s.check()
			s.compareWithRebuilt()
			s.k.shut(t)
			if n == 0 {
				t.Error("the change wrote nothing")
			}
			t.Logf("%d deaths", n)
			s.tell()
		})
	}
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
	edition       int // of the cleaner
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
	c := world{maps.Clone(w.pages), maps.Clone(w.names), map[string]map[string]told{}, maps.Clone(w.texts),
		maps.Clone(w.notes)}
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
	s := &sequence{
		t: t, rng: rand.New(rand.NewPCG(seed, 36)), seed: seed, dir: t.TempDir(), ctx: t.Context(), world: world{
			pages: map[string]told{}, names: map[string]string{}, bases: map[string]map[string]told{},
			texts: map[string]told{}, notes: map[string]told{},
		},
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

// change is something that changes the world.
type change struct {
	name string
	do   func(*sequence)
}

// changes are those before whose writes a process may die.
var changes = []change{
	{"read a page", func(s *sequence) { s.read(s.url()) }},
	{"read a page again", func(s *sequence) { s.read(s.known()) }},
	{"find a page gone", func(s *sequence) { s.fail(s.known()) }},
	{"delete a page", func(s *sequence) { s.delete(s.known()) }},
	{"find a page moved", func(s *sequence) { s.move() }},
	{"fill a base with files", func(s *sequence) { s.fillFiles() }},
	{"fill a base with pages", func(s *sequence) { s.fillPages() }},
	{"delete a base", func(s *sequence) { s.deleteBase() }},
	{"ingest a text", func(s *sequence) { s.ingest() }},
	{"write a note", func(s *sequence) { s.addNote() }},
	{"delete a note", func(s *sequence) { s.deleteNote() }},
	{"purge", func(s *sequence) { s.purge() }},
	{"delete a page and compact", func(s *sequence) { s.delete(s.known()); s.compact() }},
	{"rebuild", func(s *sequence) { s.rebuild() }},
}

// step does one thing.
func (s *sequence) step() {
	switch n := s.rng.IntN(40); {
	case n < 12:
		s.read(s.url())
	case n < 14:
		s.read(s.known())
	case n < 20:
		s.dies(changes[s.rng.IntN(len(changes))], s.rng.IntN(12))
	case n < 34:
		changes[2+s.rng.IntN(len(changes)-2)].do(s)
	case n == 34:
		s.note("drain")
		s.drain()
	case n == 35:
		s.note("restart")
		s.k.shut(s.t)
		s.open()
	case n == 36 && s.edition < 9:
		s.edition++
		s.note("restart with edition %d", s.edition)
		s.k.shut(s.t)
		s.open()
	default:
		s.panics()
	}
}

// dies makes a change in a process that dies before it writes for the n-th time, if it does, starts the next one, and
// learns which of the change is done. It reports whether the process died.
func (s *sequence) dies(c change, n int) bool {
	s.drain()
	s.ok(s.k.store.Flush())
	before := s.clone()
	s.note("die before write %d", n)
	ctx, die := context.WithCancel(s.t.Context())
	defer die()
	s.ctx = ctx
	var writes atomic.Int64
	fault.Inject(func(work string) {
		if (work == "store: commit" || work == "store: commit records") && writes.Add(1) > int64(n) {
			s.died.Store(true)
			die()
			panic("died")
		}
	})
	c.do(s)
	s.drain()
	s.ok(s.k.store.Flush())
	fault.Inject(nil)
	s.ctx = s.t.Context()
	if !s.died.Load() {
		return false
	}
	s.deaths++
	_, _ = s.k.Close(), s.k.store.Close() // what they cannot write is lost
	s.k.store = nil
	s.died.Store(false)
	s.open()
	s.recover(before)
	return true
}

// recover learns what is there after a death: of all that one change changes, what was before it or what is after it.
func (s *sequence) recover(before world) {
	for _, b := range s.k.Bases() {
		if b.Building { // nobody asks for more
			s.ok(s.k.build(s.t, b.Name).Abort(s.t.Context()))
		}
	}
	s.drain()
	for url := range either(before.pages, s.pages) {
		was, had := before.pages[url]
		is, has := s.pages[url]
		if problem := s.seesPage(url, is, has); problem != "" {
			if s.mayGo(url, before) {
				s.forget(url)
				continue
			}
			if s.seesPage(url, was, had) != "" {
				s.t.Errorf("after a death, page %s is neither as before nor as after the change: %s", url, problem)
			}
			is, has = was, had
		}
		p, err := s.k.store.Page(page.KeyOf(url))
		if has = has && err == nil; !has {
			delete(s.pages, url)
			continue
		}
		is.visited = p.VisitCount > 0
		s.pages[url] = is
	}
	for name := range either(before.names, s.names) {
		of := s.k.store.Named(page.KeyOf(name))
		if s.names[name] == "" || of != page.KeyOf(s.names[name]) {
			s.names[name] = before.names[name]
		}
		if of == (page.Key{}) {
			delete(s.names, name)
		}
	}
	for name := range either(before.bases, s.bases) {
		if _, err := s.k.Base(name); err != nil {
			delete(s.bases, name)
		} else if is, ok := s.bases[name]; !ok || s.seesBase(name, is) != "" {
			s.bases[name] = before.bases[name]
			if s.bases[name] == nil {
				s.bases[name] = map[string]told{} // made, and not filled
			}
		}
	}
	for url := range either(before.texts, s.texts) {
		if s.seesText(url, s.texts[url]) != "" {
			s.texts[url] = before.texts[url]
		}
		if s.texts[url] == (told{}) {
			delete(s.texts, url)
		}
	}
	list := s.allNotes()
	for url := range either(before.notes, s.notes) {
		if _, ok := list[url]; !ok {
			delete(s.notes, url)
		} else if _, ok := s.notes[url]; !ok {
			s.notes[url] = before.notes[url]
		}
	}
	for url := range list { // one whose id nobody was told
		if _, ok := s.notes[url]; !ok {
			s.notes[url] = list[url]
		}
	}
}

// mayGo reports whether a page may be gone after a death: nobody has visited it, and a filling of a base that was to
// have it was given up.
func (s *sequence) mayGo(url string, before world) bool {
	_, err := s.k.store.Page(page.KeyOf(url))
	return errors.Is(err, store.ErrNotFound) && !before.pages[url].visited && s.bases["green"][url].read
}

// either returns the keys of two maps.
func either[V any](a, b map[string]V) map[string]bool {
	keys := map[string]bool{}
	for k := range a {
		keys[k] = true
	}
	for k := range b {
		keys[k] = true
	}
	return keys
}

// word returns a word of the vocabulary.
func (s *sequence) word() string { return vocabulary[s.rng.IntN(len(vocabulary))] }

// url returns the URL of a page that may be there.
func (s *sequence) url() string {
	return fmt.Sprintf("https://p%d.test/%s", s.rng.IntN(10), vocabulary[s.rng.IntN(3)])
}

// known returns the URL of a page that is there, or of any if none is.
func (s *sequence) known() string {
	urls := slices.Sorted(maps.Keys(s.pages))
	if len(urls) == 0 {
		return s.url()
	}
	return urls[s.rng.IntN(len(urls))]
}

// line returns a word, and maybe another one that an edition of the cleaner takes out.
func (s *sequence) line() string {
	if s.rng.IntN(5) == 0 {
		return fmt.Sprintf("%s {%d:%s}", s.word(), 1+s.rng.IntN(9), s.word())
	}
	return s.word()
}

// text returns a text: empty, of one of a few passages that many documents have, or large.
func (s *sequence) text() string {
	var b strings.Builder
	switch s.rng.IntN(6) {
	case 0:
		return []string{"", " \n\n", "<!-- soon -->\n"}[s.rng.IntN(3)]
	case 1:
		b.WriteString("# " + s.line() + "\n\nA page by itself, number" + strconv.Itoa(s.rng.IntN(1000)) + ".\n\n")
	}
	for range 1 + s.rng.IntN(3) {
		b.WriteString(s.section())
	}
	switch s.rng.IntN(24) {
	case 0, 1:
		for n := range 40 {
			fmt.Fprintf(&b, "## Part%d\n\n%s\n\n", n, strings.Repeat("Some of the same. ", 30))
		}
	case 2:
		for n := range 600 { // more than the store writes at once
			fmt.Fprintf(&b, "## Huge%d\n\n%s\n\n", n, strings.Repeat(fmt.Sprintf("Some of part%d. ", n), 40))
		}
	}
	return b.String()
}

// section returns one of few sections, under one of few headings: sections are shared.
func (s *sequence) section() string {
	line := s.line()
	return "## " + s.line() + "\n\n" + strings.Repeat(strings.Repeat("What is said of the "+line+" is this. ", 12)+"\n\n",
		1+s.rng.IntN(3))
}

// read has a page read, as it is converted by now.
func (s *sequence) read(url string) {
	now := told{title: s.line(), text: s.text(), cut: s.rng.IntN(16) == 0, visited: s.rng.IntN(4) > 0}
	if s.rng.IntN(3) == 0 {
		now.element = now.title + " - " + s.line()
	}
	if had, ok := s.pages[url]; ok {
		if s.rng.IntN(3) == 0 {
			now.text, now.cut = had.text, had.cut // it is renamed alone, or read again as it was
		}
		now.visited = now.visited || had.visited
	}
	now = now.as(s.edition)
	now.edition = s.edition
	s.note("read %s %q %q %.60q (%d bytes) %+v", url, now.title, now.element, now.text, len(now.text), now.cut)
	p := pageOf(s.t, url, now.text)
	p.Title, p.Meta = now.title, page.Meta{"title": now.element}
	if s.rng.IntN(4) == 0 {
		p.Source = page.Browser
	}
	if now.cut {
		p.Warnings = []string{"truncated"}
	}
	var source store.Sum
	if s.rng.IntN(3) == 0 { // what came of its origin is kept, too, and is the same text
		r := &store.Response{URL: url, Status: http.StatusOK, RequestTime: time.Now(), ResponseTime: time.Now()}
		if s.ok(s.k.store.PutResponse(r, strings.NewReader(now.text), nil)) {
			source = r.Body
		}
	}
	_, err := s.k.store.PutPage(&p.Record, []byte(now.text), source)
	s.ok(err)
	if now.visited {
		s.k.store.AddVisit(page.KeyOf(url), store.Visit{URL: url})
	}
	delete(s.names, url)
	s.pages[url] = now
}

// fail has the origin say that a page is gone: it is stored, and not found.
func (s *sequence) fail(url string) {
	had, ok := s.pages[url]
	if !ok {
		return
	}
	status := []int{http.StatusNotFound, http.StatusGone}[s.rng.IntN(2)]
	s.note("%d %s", status, url)
	s.ok(s.k.store.PageFailed(page.KeyOf(url), page.Error{
		Kind: "http", Message: fmt.Sprint("HTTP ", status), Status: status,
	}))
	had.gone = true
	s.pages[url] = had
}

func (s *sequence) delete(url string) {
	if _, ok := s.pages[url]; !ok {
		return
	}
	s.note("delete %s", url)
	s.ok(s.k.store.DeletePage(page.KeyOf(url)))
	s.forget(url)
}

// forget takes a page out of what must be there, and out of the bases.
func (s *sequence) forget(url string) {
	delete(s.pages, url)
	for _, documents := range s.bases {
		if documents[url].read {
			delete(documents, url)
		}
	}
}

// move makes an address another name of a page.
func (s *sequence) move() {
	name, url := fmt.Sprintf("https://p%d.test/%s", s.rng.IntN(10), vocabulary[s.rng.IntN(4)]), s.known()
	_, own := s.pages[name]
	if _, ok := s.pages[url]; !ok || own {
		return
	}
	s.note("%s is another name of %s", name, url)
	s.ok(s.k.store.NamePage(page.KeyOf(name), page.KeyOf(url)))
	s.names[name] = url
}

// purge removes what was stored of origins, which pages are not.
func (s *sequence) purge() {
	s.note("purge")
	_, err := s.k.store.DeleteResponses(s.known())
	s.ok(err)
	_, err = s.k.store.DeleteHostResponses(fmt.Sprintf("p%d.test", s.rng.IntN(10)))
	s.ok(err)
	_, err = s.k.store.ClearPageRenditions()
	s.ok(err)
	_, err = s.k.store.ClearResponses()
	s.ok(err)
}

func (s *sequence) compact() {
	s.note("compact")
	if s.ok(s.k.Compact(s.ctx)) && s.rng.IntN(4) == 0 {
		s.ok(s.k.store.Compact(s.ctx))
	}
}

func (s *sequence) rebuild() {
	s.note("rebuild")
	s.ok(s.k.Rebuild(s.ctx, nil))
}

func (s *sequence) drain() {
	s.ok(s.k.Drain(s.ctx))
}

// fillFiles makes a generation of a base, of files whose URLs other bases may have, too.
func (s *sequence) fillFiles() {
	now := map[string]told{}
	var list []knowledge.Document
	for range 1 + s.rng.IntN(3) {
		url := fmt.Sprintf("https://f%d.test/", s.rng.IntN(4))
		d := told{title: "Title of " + url, text: s.section()}
		if _, twice := now[url]; twice {
			continue
		}
		list = append(list, knowledge.Document{URL: url, Title: d.title, Markdown: []byte(d.text)})
		d = d.as(s.edition)
		d.edition = s.edition
		now[url] = d
	}
	s.fill([]string{"red", "blue"}[s.rng.IntN(2)], knowledge.SourceFile, list, now)
}

// fillPages makes a generation of a base of pages.
func (s *sequence) fillPages() {
	now := map[string]told{}
	var list []knowledge.Document
	for range 1 + s.rng.IntN(4) {
		url := s.known()
		if _, ok := s.pages[url]; !ok || now[url].read {
			continue
		}
		list = append(list, knowledge.Document{Key: page.KeyOf(url)})
		now[url] = told{read: true}
	}
	s.fill("green", knowledge.SourceCrawl, list, now)
}

func (s *sequence) fill(name, source string, list []knowledge.Document, now map[string]told) {
	if _, ok := s.bases[name]; !ok {
		if _, err := s.k.CreateBase(knowledge.Base{Name: name, Source: source}); !s.ok(err) {
			return
		}
		s.bases[name] = map[string]told{}
	}
	s.note("fill %s with %q", name, slices.Sorted(maps.Keys(now)))
	b, err := s.k.Build(name)
	if !s.ok(err) {
		return
	}
	defer b.Close()
	for _, d := range list {
		s.ok(b.Add(s.ctx, d))
	}
	if s.rng.IntN(6) == 0 {
		s.note("give that up")
		s.ok(b.Abort(s.ctx))
		s.release(now)
		return
	}
	_, err = b.Commit(s.ctx)
	s.ok(err)
	old := s.bases[name]
	s.bases[name] = now
	s.release(old)
}

// release takes pages that a base has had, and that nobody visited and no base has any more, out of what must be there.
func (s *sequence) release(documents map[string]told) {
	for url, d := range documents {
		held := false
		for _, of := range s.bases {
			held = held || of[url].read
		}
		if d.read && !held && !s.pages[url].visited {
			s.forget(url)
		}
	}
}

func (s *sequence) deleteBase() {
	names := slices.Sorted(maps.Keys(s.bases))
	if len(names) == 0 {
		return
	}
	name := names[s.rng.IntN(len(names))]
	s.note("delete base %s", name)
	_, err := s.k.DeleteBase(s.ctx, name)
	s.ok(err)
	old := s.bases[name]
	delete(s.bases, name)
	s.release(old)
}

// ingest keeps a text, in the place of an earlier one with the same URL.
func (s *sequence) ingest() {
	url := fmt.Sprintf("https://t%d.test/", s.rng.IntN(4))
	d := told{title: s.line(), text: s.section()}
	if s.pick(s.texts) != "" && s.rng.IntN(4) == 0 {
		d.text = s.texts[s.pick(s.texts)].text
	}
	s.note("ingest %s %q %.60q", url, d.title, d.text)
	done, err := s.k.Ingest(s.ctx, knowledge.Ingestion{Title: d.title, Label: "label", Text: d.text, URL: url})
	if s.ok(err) && !done.Changed {
		return // the same text keeps its title
	}
	d = d.as(s.edition)
	d.edition = s.edition
	s.texts[url] = d
}

// pick returns a key of m; "" if it has none.
func (s *sequence) pick(m map[string]told) string {
	keys := slices.Sorted(maps.Keys(m))
	if len(keys) == 0 {
		return ""
	}
	return keys[s.rng.IntN(len(keys))]
}

// addNote writes a note about pages.
func (s *sequence) addNote() {
	d := told{title: s.line(), text: "Of the " + s.line() + " this is known.\n"}.as(s.edition)
	d.edition = s.edition
	s.note("note %q %q", d.title, d.text)
	n, err := s.k.AddNote(knowledge.Note{Text: d.text, Label: d.title, Pages: []string{s.url()}})
	if s.ok(err) {
		s.notes["note:"+n.ID] = d
	}
}

func (s *sequence) deleteNote() {
	url := s.pick(s.notes)
	if url == "" {
		return
	}
	s.note("delete %s", url)
	_, err := s.k.DeleteNote(strings.TrimPrefix(url, "note:"))
	s.ok(err)
	delete(s.notes, url)
}

// panics has some of the next work panic, fewer times than documents are tried.
func (s *sequence) panics() {
	works := []string{"knowledge: change the index", "knowledge: read a document", "knowledge: read the index again"}
	name, times := works[s.rng.IntN(len(works))], 1+s.rng.IntN(2)
	s.note("%d panics at %q", times, name)
	fault.Inject(func(work string) {
		if work == name && times > 0 {
			times--
			panic("injected")
		}
	})
	s.drain()
	fault.Inject(nil)
}

// check compares what is stored and found with what is there.
func (s *sequence) check() {
	s.t.Helper()
	s.drain()
	s.note("check")
	for url, d := range s.pages {
		if problem := s.seesPage(url, d, true); problem != "" {
			s.t.Errorf("page %s: %s", url, problem)
		}
	}
	if n := s.k.store.Totals().Pages; n != int64(len(s.pages)) {
		s.t.Errorf("%d pages are counted, want %d", n, len(s.pages))
	}
	if n := len(s.k.store.PageKeys(page.Key{}, 1000)); n != len(s.pages) {
		s.t.Errorf("%d pages are stored, want %d", n, len(s.pages))
	}
	for name, url := range s.names {
		p, err := s.k.store.Page(page.KeyOf(name))
		if _, ok := s.pages[url]; ok != (err == nil) || ok && p.NormalizedURL != url {
			s.t.Errorf("%s as another name of %s: %v, %v", name, url, p, err)
		}
	}
	for url, d := range s.texts {
		if problem := s.seesText(url, d); problem != "" {
			s.t.Errorf("text %s: %s", url, problem)
		}
	}
	if got := s.allNotes(); !slices.Equal(slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(s.notes))) {
		s.t.Errorf("notes %q, want %q", slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(s.notes)))
	}
	s.compare("", s.pages, s.texts, s.notes)
	for name, documents := range s.bases {
		if problem := s.seesBase(name, documents); problem != "" {
			s.t.Errorf("base %s: %s", name, problem)
		}
		s.compare(name, documents)
	}
	if st := s.k.Stats(); st.Queued != 0 || st.Failed != 0 || st.Rebuilding != 0 || st.Bases != len(s.bases) {
		s.t.Errorf("after a drain: %+v, want %d bases and nothing queued, failed or rebuilding", st, len(s.bases))
	}
	if n := s.k.Stats().Documents; n != s.findable() {
		s.t.Errorf("%d documents are indexed, want %d", n, s.findable())
	}
	if jobs := s.k.Jobs(); len(jobs) != 0 {
		s.t.Errorf("jobs are left: %+v", jobs)
	}
}

// findable returns how many documents there are that may be found.
func (s *sequence) findable() int {
	n := len(s.texts) + len(s.notes)
	for _, d := range s.pages {
		if !d.gone && !d.cut {
			n++
		}
	}
	for _, documents := range s.bases {
		for _, d := range documents {
			if !d.read {
				n++
			}
		}
	}
	return n
}

// seesPage returns what is wrong with a page, "" if nothing is.
func (s *sequence) seesPage(url string, want told, there bool) string {
	p, err := s.k.store.Page(page.KeyOf(url))
	if stored := err == nil && p.NormalizedURL == url; stored != there {
		return fmt.Sprintf("stored is %v, want %v", stored, there)
	} else if !there {
		return ""
	}
	want = want.as(s.edition)
	md, err := s.k.store.Markdown(page.KeyOf(url))
	if got := (told{title: p.Title, element: p.Meta["title"], text: string(md), gone: p.Error.Gone()}); err != nil ||
		got != (told{title: want.title, element: want.element, text: want.text, gone: want.gone}) {
		return fmt.Sprintf("%.300q, %v, want %.300q", fmt.Sprint(got), err, fmt.Sprint(want))
	}
	return ""
}

// seesText returns what is wrong with an ingested text, "" if nothing is. The zero value is one that is not there.
func (s *sequence) seesText(url string, want told) string {
	d, err := s.k.Ingested("label", url)
	if errors.Is(err, store.ErrNotFound) && want == (told{}) {
		return ""
	}
	if want = want.as(s.edition); err != nil || d.Title != want.title || string(d.Markdown) != want.text {
		return fmt.Sprintf("%+v, %v, want %+v", d, err, want)
	}
	return ""
}

// seesBase returns what is wrong with the documents of a base, "" if nothing is.
func (s *sequence) seesBase(name string, want map[string]told) string {
	list, _, err := s.k.Documents(name, "", 1000)
	if err != nil {
		return err.Error()
	}
	urls := map[string]bool{}
	for i := range list {
		urls[list[i].URL] = true
		if d, err := s.k.Document(list[i].Key); err != nil || !want[list[i].URL].read &&
			string(d.Markdown) != want[list[i].URL].as(s.edition).text {
			return fmt.Sprintf("%s is %+v, %v, want %+v", list[i].URL, d, err, want[list[i].URL])
		}
	}
	if got, want := slices.Sorted(maps.Keys(urls)), slices.Sorted(maps.Keys(want)); !slices.Equal(got, want) {
		return fmt.Sprintf("it holds %q, want %q", got, want)
	}
	return ""
}

func (s *sequence) allNotes() map[string]told {
	list, _, err := s.k.Notes(knowledge.NoteQuery{Limit: 1000})
	s.ok(err)
	notes := map[string]told{}
	for i := range list {
		notes["note:"+list[i].ID] = told{title: list[i].Label, text: list[i].Text, edition: s.edition}
	}
	return notes
}

// compare compares what each word finds, in a base or everywhere, with a look at all documents.
func (s *sequence) compare(base string, documents ...map[string]told) {
	s.t.Helper()
	if base == "" {
		for _, of := range s.bases {
			documents = append(documents, of)
		}
	}
	for _, word := range vocabulary {
		var want []string
		for _, list := range documents {
			for url, d := range list {
				if d.read {
					d = s.pages[url]
				}
				if d.as(s.edition).has(url, word) {
					want = append(want, url)
				}
			}
		}
		slices.Sort(want)
		want = slices.Compact(want)
		r, err := s.k.Search(context.Background(), knowledge.Query{Text: word, KB: base, Limit: 1000})
		if err != nil {
			s.t.Fatal(err)
		}
		var got []string
		for i := range r.Hits {
			got = append(append(got, r.Hits[i].URL), r.Hits[i].Also...)
		}
		slices.Sort(got)
		if got = slices.Compact(got); !slices.Equal(got, want) {
			s.t.Errorf("%q in base %q: found %q, want %q", word, base, got, want)
		}
	}
}

// has reports whether a document is found by a word.
func (d told) has(url, word string) bool {
	return !d.gone && !d.cut && strings.Contains(d.text+" "+d.title+" "+d.element+" "+url, word)
}

// compareWithRebuilt compares the counts with those of an index that is built anew, and what that finds with what is
// there. How many passages there are follows from who had a shared one first.
func (s *sequence) compareWithRebuilt() {
	s.t.Helper()
	before := s.k.counts()
	if left := s.k.keys("k/q/", "k/dw/", "k/mg/"); len(left) > 0 {
		s.t.Errorf("records left: %v", left)
	}
	s.rebuild()
	after := s.k.counts()
	after.Passages = before.Passages
	if diff := gocmp.Diff(after, before); diff != "" {
		s.t.Errorf("stats differ from those of a rebuilt index (-rebuilt +got):\n%s", diff)
	}
	s.check()
}
