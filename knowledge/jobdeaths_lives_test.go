package knowledge_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/readthru/readthru/knowledge"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// life is all that becomes of one kind of job.
type life struct {
	name string
	acts []act
}

// act is what is asked for at once. The index is brought up to date after it.
type act struct {
	name    string
	ask     func(*worker) error // asked again after a death, it changes no more than once
	fails   string              // the work that panics meanwhile
	times   int                 // how often; negative: always
	unfound string              // the document that is not found afterwards, because somebody said so
}

// The works that fail for a document.
const (
	readingFails  = "knowledge: read a document"
	changingFails = "knowledge: change the index"
)

// Documents that are there when a life begins, and those that it makes.
const (
	pageA = "https://a.test/quokka"   // visited
	pageB = "https://b.test/zeppelin" // visited, and in the base of pages
	pageC = "https://c.test/flange"   // only in the base of pages
	pageD = "https://d.test/wombat"
	pageE = "https://e.test/oxbow"
	fileA = "https://f.test/a"
	fileB = "https://f.test/b"
	textA = "https://t.test/a"
)

// shared is a passage that many documents have.
var shared = "## Velcro\n\n" + strings.Repeat("Of the kimono this is said. ", 30)

// about returns a text about words.
func about(words ...string) string {
	var b strings.Builder
	for _, word := range words {
		b.WriteString("## Of the " + word + "\n\nThe " + word + " of " + strings.Join(words, " and ") + " is known.\n\n")
	}
	return b.String() + shared + "\n"
}

// populate makes what is there when a life begins.
var populate = []act{
	{name: "pages", ask: asks(read(pageA, about("quokka"), true), read(pageB, about("zeppelin"), true))},
	{name: "a page of a crawl", ask: read(pageC, about("flange"), false)},
	{name: "a base of pages", ask: asks(makeBase("green", knowledge.SourceCrawl), fillPages("green", pageB, pageC))},
	{name: "a base of files", ask: asks(makeBase("red", knowledge.SourceFile),
		fillFiles("red", fileA, about("jubilee"), fileB, about("dolmen")))},
	{name: "a text", ask: ingest(about("harpsichord"))},
	{name: "a note", ask: note("Of the oxbow this is known.")},
}

// lives are those of jobs that go well, that fail and are tried again, and that are set aside.
func lives() []life {
	list := []life{
		{"a page", []act{
			{name: "is read", ask: read(pageD, about("wombat", "oxbow"), true)},
			{name: "is another one", ask: read(pageD, about("wombat", "jubilee"), true)},
			{name: "is gone", ask: gone(pageD)},
			{name: "is back", ask: read(pageD, about("wombat"), true)},
			{name: "is deleted", ask: remove(pageD)},
		}},
		{"a page with another name", []act{
			{name: "is read", ask: read(pageD, about("wombat"), true)},
			{name: "is named", ask: named(pageE, pageD)},
			{name: "is read there, too", ask: read(pageE, about("wombat", "oxbow"), true)},
			{name: "is deleted", ask: remove(pageD)},
		}},
		{"a base of files", []act{
			{name: "is made", ask: makeBase("blue", knowledge.SourceFile)},
			{name: "is filled", ask: fillFiles("blue", fileA, about("wombat"), fileB, about("oxbow"))},
			{name: "is filled again", ask: fillFiles("blue", fileB, about("oxbow", "quokka"))},
			{name: "is deleted", ask: deleteBase("blue")},
		}},
		{"a base of pages", []act{
			{name: "loses one", ask: fillPages("green", pageA, pageB)},
			{name: "is crawled", ask: crawl("green", pageD, about("wombat"), pageE, about("wombat", "oxbow"))},
			{name: "has one deleted", ask: remove(pageB)},
			{name: "is deleted", ask: deleteBase("green")},
		}},
		{"texts and notes", []act{
			{name: "a text is another one", ask: ingest(about("harpsichord", "wombat"))},
			{name: "a note", ask: note("Of the wombat this is known.")},
			{name: "one less", ask: deleteNote("Of the oxbow this is known.")},
			{name: "a text less", ask: deleteText},
		}},
		{"what origins said", []act{
			{name: "is stored", ask: respond(pageA)},
			{name: "is purged", ask: purge(pageA)},
			{name: "is stored again", ask: respond(pageB)},
			{name: "is cleared", ask: clearResponses},
		}},
		{"the index", []act{
			{name: "is made anew", ask: func(w *worker) error { return w.Rebuild(w.ctx, nil) }},
			{name: "is compacted", ask: asks(remove(pageA), func(w *worker) error { return w.Compact(w.ctx) })},
		}},
	}
	for _, kind := range []struct {
		name, url      string
		first, another func(*worker) error // another gives it a text that was not tried
	}{
		{"a page", pageD, read(pageD, about("wombat"), true), read(pageD, about("wombat", "oxbow"), true)},
		{
			"a file", fileA, fillFiles("red", fileA, about("wombat"), fileB, about("dolmen")),
			fillFiles("red", fileA, about("wombat", "oxbow"), fileB, about("dolmen")),
		},
		{"a text", textA, ingest(about("wombat")), ingest(about("wombat", "oxbow"))},
		{"a deletion", pageA, remove(pageA), read(pageA, about("quokka", "oxbow"), true)},
	} {
		fails := readingFails
		if kind.name == "a deletion" {
			fails = changingFails
		}
		list = append(list, life{kind.name + " that fails", []act{
			{name: "once", ask: kind.first, fails: fails, times: 1},
			{name: "twice in the index", ask: kind.another, fails: changingFails, times: 3},
		}}, life{kind.name + " that is set aside", []act{
			{name: "fails always", ask: kind.first, fails: fails, times: -1},
			{name: "is retried in vain", ask: retry, fails: fails, times: -1},
			{name: "is retried", ask: retry},
		}}, life{kind.name + " that is dropped", []act{
			{name: "fails always", ask: kind.first, fails: fails, times: -1},
			{name: "is dropped", ask: drop(kind.name == "a deletion"), unfound: kind.url},
			{name: "is another one", ask: kind.another},
		}})
	}
	return list
}

// asks asks for several things.
func asks(list ...func(*worker) error) func(*worker) error {
	return func(w *worker) error {
		for _, ask := range list {
			if err := ask(w); err != nil {
				return err
			}
		}
		return nil
	}
}

func read(url, text string, visit bool) func(*worker) error {
	return func(w *worker) error {
		p, err := newPage(url, text)
		if err != nil {
			return err
		}
		if _, err := w.store.PutPage(&p.Record, []byte(text), store.Sum{}); err != nil {
			return err
		}
		if visit {
			w.store.AddVisit(page.KeyOf(url), store.Visit{URL: url})
		}
		return nil
	}
}

func gone(url string) func(*worker) error {
	return func(w *worker) error {
		return w.store.PageFailed(page.KeyOf(url), page.Error{Kind: "http", Message: "HTTP 410", Status: http.StatusGone})
	}
}

func remove(url string) func(*worker) error {
	return func(w *worker) error { return unlessGone(w.store.DeletePage(page.KeyOf(url))) }
}

func named(name, url string) func(*worker) error {
	return func(w *worker) error { return w.store.NamePage(page.KeyOf(name), page.KeyOf(url)) }
}

func unlessGone(err error) error {
	if _, ok := errors.AsType[*knowledge.UnknownBaseError](err); ok || errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}

func fillPages(name string, urls ...string) func(*worker) error {
	var list []knowledge.Document
	for _, url := range urls {
		list = append(list, knowledge.Document{Key: page.KeyOf(url)})
	}
	return fill(name, list)
}

// fillFiles has a base have files: URL and text in turn.
func fillFiles(name string, files ...string) func(*worker) error {
	var list []knowledge.Document
	for i := 0; i < len(files); i += 2 {
		list = append(list, knowledge.Document{URL: files[i], Title: files[i], Markdown: []byte(files[i+1])})
	}
	return fill(name, list)
}

func makeBase(name, source string) func(*worker) error {
	return func(w *worker) error {
		if _, err := w.Base(name); err == nil {
			return nil
		}
		_, err := w.CreateBase(knowledge.Base{Name: name, Source: source})
		return err
	}
}

func fill(name string, list []knowledge.Document) func(*worker) error {
	return func(w *worker) error {
		b, err := w.Build(name)
		if err != nil {
			return err
		}
		defer b.Close()
		for _, d := range list {
			if err := b.Add(w.ctx, d); err != nil {
				return err
			}
		}
		_, err = b.Commit(w.ctx)
		return err
	}
}

// crawl fills a base with pages that it reads, URL and text in turn, and reads none again that it has noted as done.
func crawl(name string, pages ...string) func(*worker) error {
	return func(w *worker) error {
		b, err := w.Build(name)
		if err != nil {
			return err
		}
		defer b.Close()
		done := map[string]bool{}
		log := b.CrawlLog()
		if err := log.Load(func(url []byte) error { done[string(url)] = true; return nil }); err != nil {
			return err
		}
		for i := 0; i < len(pages); i += 2 {
			url := pages[i]
			if done[url] {
				continue
			}
			if err := read(url, pages[i+1], false)(w); err != nil {
				return err
			}
			if err := b.Add(w.ctx, knowledge.Document{Key: page.KeyOf(url)}); err != nil {
				return err
			}
			if err := log.Save([]byte(url)); err != nil {
				return err
			}
		}
		_, err = b.Commit(w.ctx)
		return err
	}
}

func deleteBase(name string) func(*worker) error {
	return func(w *worker) error {
		_, err := w.DeleteBase(w.ctx, name)
		return unlessGone(err)
	}
}

func ingest(text string) func(*worker) error {
	return func(w *worker) error {
		_, err := w.Ingest(w.ctx, knowledge.Ingestion{Title: textA, Label: "label", Text: text, URL: textA})
		return err
	}
}

func deleteText(w *worker) error {
	d, err := w.Ingested("label", textA)
	if err == nil {
		err = w.DeleteDocument(d.Key)
	}
	return unlessGone(err)
}

func note(text string) func(*worker) error {
	return func(w *worker) error {
		if id, err := w.note(text); err != nil || id != "" {
			return err
		}
		_, err := w.AddNote(knowledge.Note{Text: text, Pages: []string{pageA}})
		return err
	}
}

func deleteNote(text string) func(*worker) error {
	return func(w *worker) error {
		id, err := w.note(text)
		if err == nil && id != "" {
			_, err = w.DeleteNote(id)
		}
		return err
	}
}

// note returns the id of the note with a text; "" if there is none.
func (w *worker) note(text string) (id string, err error) {
	list, _, err := w.Notes(knowledge.NoteQuery{})
	if i := slices.IndexFunc(list, func(n knowledge.Note) bool { return n.Text == text }); i >= 0 {
		id = list[i].ID
	}
	return id, err
}

func respond(url string) func(*worker) error {
	return func(w *worker) error {
		r := &store.Response{URL: url, Status: http.StatusOK, RequestTime: time.Now(), ResponseTime: time.Now()}
		return w.store.PutResponse(r, strings.NewReader(about("quokka")), nil)
	}
}

func purge(url string) func(*worker) error {
	return func(w *worker) error {
		_, err := w.store.DeleteResponses(url)
		return err
	}
}

func clearResponses(w *worker) error {
	_, err := w.store.ClearResponses()
	return err
}

// retry has all that was set aside tried again, as a person does.
func retry(w *worker) error {
	for _, j := range w.Jobs() {
		if err := unlessGone(w.RetryJob(j.ID)); err != nil {
			return err
		}
	}
	return nil
}

// drop forgets what was set aside, as a person does, but for deletions that come of it, or for all that are none.
func drop(deletions bool) func(*worker) error {
	return func(w *worker) error {
		for _, j := range w.Jobs() {
			end := w.RetryJob
			if deletions == (j.URL == "") {
				end = func(id string) error { return w.DropJob(context.Background(), id) }
			}
			if err := unlessGone(end(j.ID)); err != nil {
				return err
			}
		}
		return nil
	}
}
