package knowledge_test

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

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
// A sequence has a small world: pages that are empty, equal, nearly equal, large, renamed, gone and deleted, files of
// two bases, panics while the index changes, restarts, rebuilds, compaction. Some seeds run each time; make sequences
// runs them for hours. A seed that failed once is run each time: name it in failedOnce.
func TestRandomSequencesLeaveWhatIsThere(t *testing.T) {
	limit, err := time.ParseDuration(cmp.Or(os.Getenv(sequencesFor), "0"))
	if err != nil {
		t.Fatalf("%s: %v", sequencesFor, err)
	}
	first, err := strconv.ParseUint(cmp.Or(os.Getenv(sequencesFrom), "1"), 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", sequencesFrom, err)
	}
	steps := 0
	run := func(seed uint64) { // as a test of its own, so that nothing of it is kept
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) { steps += runSequence(t, seed) })
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
	t.Logf("%d sequences of %d steps in all", n, steps)
}

// failedOnce are seeds that failed, and what was wrong.
var failedOnce = []uint64{}

// sequence is the world of a random sequence, and what must be true of it.
type sequence struct {
	t    *testing.T
	rng  *rand.Rand
	dir  string
	k    *opened
	done []string // what was done, for a person

	pages map[string]told            // by URL
	bases map[string]map[string]told // by name, then by URL
}

// told is what is known of a document.
type told struct{ title, element, text string }

// The words are so far from each other that none is a misspelling or another form of another one.
var vocabulary = []string{
	"quokka", "zeppelin", "flange", "wombat", "harpsichord", "jubilee", "oxbow", "velcro", "kimono", "dolmen",
}

const sequencePages = 10

func runSequence(t *testing.T, seed uint64) (steps int) {
	t.Helper()
	s := &sequence{
		t: t, rng: rand.New(rand.NewPCG(seed, 36)), dir: t.TempDir(), pages: map[string]told{},
		bases: map[string]map[string]told{},
	}
	defer fault.Inject(nil)
	defer func() {
		if t.Failed() {
			t.Logf("seed %d:\n%s", seed, strings.Join(s.done, "\n"))
		}
	}()
	s.k = open(t, s.dir, knowledge.Options{})
	for steps = range 40 + s.rng.IntN(80) {
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
		s.note("rebuild")
		if err := s.k.Rebuild(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		s.check()
	}
	s.k.shut(t)
	return steps
}

func (s *sequence) note(format string, args ...any) {
	s.done = append(s.done, fmt.Sprintf(format, args...))
}

// step does one thing.
func (s *sequence) step() {
	url := fmt.Sprintf("https://p%d.test/%s", s.rng.IntN(sequencePages), s.word())
	switch n := s.rng.IntN(20); {
	case n < 10:
		s.read(url)
	case n == 10:
		s.fail(url)
	case n == 11:
		s.note("delete %s", url)
		if err := s.k.store.DeletePage(page.KeyOf(url)); err == nil {
			delete(s.pages, url)
		}
	case n < 14:
		s.fill()
	case n == 14:
		s.deleteBase()
	case n == 15:
		s.note("drain")
		s.k.drain(s.t)
	case n == 16:
		s.note("restart")
		s.k.shut(s.t)
		s.k = open(s.t, s.dir, knowledge.Options{})
	case n == 17:
		s.note("compact")
		if err := s.k.Compact(s.t.Context()); err != nil {
			s.t.Fatal(err)
		}
	case n == 18:
		s.panics()
	default:
		s.note("rebuild")
		if err := s.k.Rebuild(s.t.Context(), nil); err != nil {
			s.t.Fatal(err)
		}
	}
}

// word returns a word of the vocabulary.
func (s *sequence) word() string { return vocabulary[s.rng.IntN(len(vocabulary))] }

// text returns a text: empty, of one of a few passages that many documents have, or large.
func (s *sequence) text() string {
	var b strings.Builder
	switch s.rng.IntN(6) {
	case 0:
		return []string{"", " \n\n", "<!-- soon -->\n"}[s.rng.IntN(3)]
	case 1:
		b.WriteString("# " + s.word() + "\n\nA page by itself, number" + strconv.Itoa(s.rng.IntN(1000)) + ".\n\n")
	}
	for range 1 + s.rng.IntN(3) {
		b.WriteString(s.section())
	}
	if s.rng.IntN(12) == 0 {
		for n := range 40 {
			fmt.Fprintf(&b, "## Part%d\n\n%s\n\n", n, strings.Repeat("Some of the same. ", 30))
		}
	}
	return b.String()
}

// section returns one of few sections, under one of few headings: sections are shared.
func (s *sequence) section() string {
	word := s.word()
	return "## " + s.word() + "\n\n" + strings.Repeat(strings.Repeat("What is said of the "+word+" is this. ", 12)+"\n\n",
		1+s.rng.IntN(3))
}

func (s *sequence) read(url string) {
	now := told{title: s.word(), text: s.text()}
	if s.rng.IntN(3) == 0 {
		now.element = now.title + " - " + s.word()
	}
	if had, ok := s.pages[url]; ok && s.rng.IntN(4) == 0 {
		now.text = had.text // it is renamed alone, or read again as it was
	}
	s.note("read %s %q %q %.60q (%d bytes)", url, now.title, now.element, now.text, len(now.text))
	p := pageOf(s.t, url, now.text)
	p.Title, p.Meta = now.title, page.Meta{"title": now.element}
	if _, err := s.k.store.PutPage(&p.Record, []byte(now.text), store.Sum{}); err != nil {
		s.t.Fatal(err)
	}
	s.pages[url] = now
}

// fail has the origin say that a page is gone: it is stored, and not found.
func (s *sequence) fail(url string) {
	if _, ok := s.pages[url]; !ok {
		return
	}
	s.note("410 %s", url)
	gone := page.Error{Kind: "http", Message: "HTTP 410", Status: 410}
	if err := s.k.store.PageFailed(page.KeyOf(url), gone); err != nil {
		s.t.Fatal(err)
	}
	delete(s.pages, url)
}

// fill makes a generation of a base, of files whose URLs other bases may have, too.
func (s *sequence) fill() {
	name := []string{"red", "blue"}[s.rng.IntN(2)]
	if _, ok := s.bases[name]; !ok {
		s.k.newBase(s.t, name, knowledge.SourceFile)
	}
	now := map[string]told{}
	var files []string
	for range 1 + s.rng.IntN(3) {
		url, text := fmt.Sprintf("https://f%d.test/", s.rng.IntN(4)), s.section()
		if _, twice := now[url]; twice {
			continue
		}
		now[url] = told{title: "Title of " + url, text: text}
		files = append(files, url, text)
	}
	s.note("fill %s %.200q", name, files)
	s.k.fill(s.t, name, files...)
	s.bases[name] = now
}

func (s *sequence) deleteBase() {
	names := slices.Sorted(maps.Keys(s.bases))
	if len(names) == 0 {
		return
	}
	name := names[s.rng.IntN(len(names))]
	s.note("delete base %s", name)
	if _, err := s.k.DeleteBase(s.t.Context(), name); err != nil {
		s.t.Fatal(err)
	}
	delete(s.bases, name)
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
	s.k.drain(s.t)
	fault.Inject(nil)
}

// check compares what is found with what is there.
func (s *sequence) check() {
	s.k.drain(s.t)
	s.note("check")
	for n := range sequencePages {
		host := fmt.Sprintf("p%d.test", n)
		s.compare("", host, s.pages)
	}
	for _, name := range slices.Sorted(maps.Keys(s.bases)) {
		for n := range 4 {
			s.compare(name, fmt.Sprintf("f%d.test", n), s.bases[name])
		}
	}
	if st := s.k.Stats(); st.Queued != 0 || st.Failed != 0 || st.Rebuilding != 0 || st.Bases != len(s.bases) {
		s.t.Errorf("after a drain: %+v, want %d bases and nothing queued, failed or rebuilding", st, len(s.bases))
	}
	if jobs := s.k.Jobs(); len(jobs) != 0 {
		s.t.Errorf("jobs are left: %+v", jobs)
	}
}

// compare compares what each word finds on a host, in a base or everywhere, with a look at all documents.
func (s *sequence) compare(base, host string, documents map[string]told) {
	for _, word := range vocabulary {
		var want []string
		for url, d := range documents {
			if strings.HasPrefix(url, "https://"+host+"/") && d.has(url, word) {
				want = append(want, url)
			}
		}
		slices.Sort(want)
		r, err := s.k.Search(context.Background(), knowledge.Query{Text: word, KB: base, Host: host, Limit: 500})
		if err != nil {
			s.t.Fatal(err)
		}
		var got []string
		for i := range r.Hits {
			got = append(append(got, r.Hits[i].URL), r.Hits[i].Also...)
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			s.t.Errorf("%q in base %q on %s: found %q, want %q", word, base, host, got, want)
		}
	}
}

// has reports whether a document has a word.
func (d told) has(url, word string) bool {
	return strings.Contains(d.text+" "+d.title+" "+d.element+" "+url, word)
}
