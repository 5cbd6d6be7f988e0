package knowledge_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/readthru/readthru/knowledge"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

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
