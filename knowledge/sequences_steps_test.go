package knowledge_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/readthru/readthru/internal/fault"
	"github.com/readthru/readthru/knowledge"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

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
	if s.left[url] { // else it stays a member: the index sees only that there is a page
		s.drain()
	}
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
			s.left[url] = true
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
	clear(s.left)
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
