package server_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/api/server"
	"github.com/readthru/readthru/crawl"
	"github.com/readthru/readthru/internal/fleet"
	"github.com/readthru/readthru/knowledge"
)

// finished waits for the job of a filling.
func finished(t *testing.T, ops *api.Client, f *api.Filling, err error) api.Job {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if f.Job == nil || f.Job.ID == "" || f.Job.State != api.JobRunning || f.Job.KB != f.KB.Name {
		t.Fatalf("filling %+v, want a job that runs for it", f)
	}
	var last api.Job
	if err := ops.WatchJob(t.Context(), f.Job.ID, func(now api.Job) error { last = now; return nil }); err != nil {
		t.Fatal(err)
	}
	return last
}

// urls are the URLs of hits in their order.
func urls(res *knowledge.Results) (list []string) {
	if res != nil {
		for _, h := range res.Hits {
			list = append(list, h.URL)
		}
	}
	return list
}

func TestWhatWasReadIsFound(t *testing.T) {
	eachClient(t, nil, func(t *testing.T, w *world, ops *api.Client) {
		t.Helper()
		ctx := t.Context()
		empty, err := ops.Search(ctx, api.SearchQuery{Text: "origin"})
		if err != nil || empty.Hits == nil || len(empty.Hits) != 0 {
			t.Errorf("search before anything was read: %v, %+v, want an empty list", err, empty)
		}
		p, err := ops.Fetch(ctx, api.FetchRequest{URL: pageURL})
		if err != nil || p.Error != nil {
			t.Fatal(err, p)
		}
		if err := w.server.Memory().CatchUp(ctx); err != nil {
			t.Fatal(err)
		}
		res, err := ops.Search(ctx, api.SearchQuery{Text: "whoever asks a second time", Host: "example.com", Explain: true})
		if err != nil || !slices.Equal(urls(res), []string{pageURL}) {
			t.Fatalf("search: %v, %+v, want the page", err, res)
		}
		h := res.Hits[0]
		if h.Doc != p.Doc || !strings.HasPrefix(h.Passage, p.Doc) || h.Score <= 0 || h.FetchedAt.IsZero() ||
			!strings.Contains(h.Snippet, "second time") || len(h.Explain) == 0 {
			t.Errorf("hit %+v, want it whole", h)
		}
		if none, err := ops.Search(ctx, api.SearchQuery{Text: "whoever", Host: "other.test"}); err != nil ||
			len(none.Hits) != 0 {
			t.Errorf("search of another host: %v, %+v", err, none)
		}
		about, err := ops.Passage(ctx, h.Passage)
		if err != nil || !strings.Contains(about.Text, "second time") || len(about.Sources) != 1 ||
			about.Sources[0].URL != pageURL {
			t.Errorf("passage: %v, %+v", err, about)
		}

		o, err := ops.Outline(ctx, pageURL)
		if err != nil || o.Doc != p.Doc || len(o.Headings) != 1 || o.Headings[0].Title != "A heading" {
			t.Fatalf("outline: %v, %+v", err, o)
		}
		sec, err := ops.Section(ctx, p.Doc, o.Headings[0].Fragment)
		if err != nil || !strings.HasPrefix(sec.Content, "# A heading\n") {
			t.Errorf("section: %v, %+v", err, sec)
		}
		if around, err := ops.Section(ctx, pageURL, h.Passage); err != nil || around.Content != sec.Content {
			t.Errorf("the section around a passage: %v, %+v, want %+v", err, around, sec)
		}
		none := h.Passage[:len(h.Passage)-8] + "00000000"
		if _, err := ops.Section(ctx, pageURL, none); api.CodeOf(err) != api.CodeNotFound {
			t.Errorf("the section around a passage that is not there: %v", err)
		}
		if _, err := ops.Fetch(ctx, api.FetchRequest{URL: pageURL, Force: true}); err != nil {
			t.Fatal(err)
		}
		for quote, want := range map[string]struct{ found, current bool }{
			"This is reading number 2, and it is a paragraph":      {true, true},
			"This is reading number 1, and it is a paragraph":      {true, false},
			"This is reading number 3, which it never was, really": {false, false},
		} {
			check, err := ops.VerifyQuote(ctx, pageURL, quote)
			if err != nil || check.Found != want.found || check.Current != want.current || check.Found && check.Version == "" {
				t.Errorf("quote %q: %v, %+v, want %+v", quote, err, check, want)
			}
		}

		j, err := ops.RebuildIndex(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if last := finished(t, ops, &api.Filling{Job: j}, nil); last.State != api.JobDone || last.I != 1 {
			t.Errorf("rebuild: %+v, want one document done", last)
		}
		if again, err := ops.Search(ctx, api.SearchQuery{Text: "whoever asks"}); err != nil ||
			!slices.Equal(urls(again), []string{pageURL}) {
			t.Errorf("search after the rebuild: %v, %+v", err, again)
		}
		if err := ops.DeletePage(ctx, pageURL); err != nil {
			t.Fatal(err)
		}
		if err := w.server.Memory().CatchUp(ctx); err != nil {
			t.Fatal(err)
		}
		if gone, err := ops.Search(ctx, api.SearchQuery{Text: "whoever asks"}); err != nil || len(gone.Hits) != 0 {
			t.Errorf("search after the page went: %v, %+v", err, gone)
		}
	})
}

func TestABaseOfFilesIsMadeSearchedPackedAndDeleted(t *testing.T) {
	eachClient(t, nil, func(t *testing.T, w *world, ops *api.Client) {
		t.Helper()
		ctx, dir := t.Context(), t.TempDir()
		file := filepath.Join(dir, "records.jsonl")
		write(t, file, `{"_id":"r1","title":"Quinces","text":"A quince is a hard and yellow fruit."}
{"_id":"r2","title":"Medlars","text":"A medlar is eaten when it has gone soft."}
not JSON at all
`)
		f, err := fillFrom(t, ops, "fruit", file)
		last := finished(t, ops, f, err)
		if last.State != api.JobDone || last.Kind != knowledge.SourceFile || last.Documents != 2 || last.Passages != 2 ||
			last.Ended.IsZero() {
			t.Fatalf("job %+v, want 2 documents of 2 passages", last)
		}
		if last.NotTaken != 1 || len(last.Skipped) != 1 || last.Skipped[0].Line != 3 {
			t.Errorf("not taken: %d, %+v, want line 3", last.NotTaken, last.Skipped)
		}
		b, err := ops.Base(ctx, "fruit")
		if err != nil || b.Documents != 2 || b.Passages != 2 || b.Description != "of the garden" || b.Building ||
			b.Generation == 0 {
			t.Errorf("base: %v, %+v", err, b)
		}
		docs, err := ops.BaseDocuments(ctx, "fruit", "", 1)
		if err != nil || len(docs.Documents) != 1 || docs.Next == "" {
			t.Fatalf("documents: %v, %+v, want one and more", err, docs)
		}
		more, err := ops.BaseDocuments(ctx, "fruit", docs.Next, 10)
		if err != nil || len(more.Documents) != 1 || more.Next != "" || more.Documents[0].Doc == docs.Documents[0].Doc {
			t.Errorf("documents after the cursor: %v, %+v, want the other one", err, more)
		}
		res, err := ops.Search(ctx, api.SearchQuery{Text: "yellow fruit", KB: "fruit"})
		if err != nil || !slices.Equal(urls(res), []string{"r1"}) {
			t.Fatalf("search: %v, %+v, want r1: a record's _id stands where a page has its URL", err, res)
		}
		for _, ref := range []string{"r1", res.Hits[0].Doc} {
			p, err := ops.Page(ctx, ref)
			if err != nil || p.URL != "r1" || p.Title != "Quinces" || !strings.Contains(p.Content, "hard and yellow") {
				t.Errorf("page %s: %v, %+v, want the record", ref, err, p)
			}
			if q, err := ops.VerifyQuote(ctx, ref, "hard and yellow fruit"); err != nil || !q.Found || !q.Current {
				t.Errorf("quote of %s: %v, %+v", ref, err, q)
			}
		}
		if s, err := ops.Subjects(ctx, "fruit", 5); err != nil || s.Subjects == nil {
			t.Errorf("subjects: %v, %+v", err, s)
		}

		var pack bytes.Buffer
		if err := ops.Pack(ctx, "fruit", &pack); err != nil {
			t.Fatal(err)
		}
		copied, err := ops.Unpack(ctx, bytes.NewReader(pack.Bytes()), api.Unpacking{Name: "copy"})
		if err != nil || copied.Name != "copy" || copied.Documents != 2 {
			t.Fatalf("unpack: %v, %+v", err, copied)
		}
		if res, err := ops.Search(ctx, api.SearchQuery{Text: "medlar", KB: "copy"}); err != nil ||
			!slices.Equal(urls(res), []string{"r2"}) {
			t.Errorf("search of the copy: %v, %+v", err, res)
		}

		write(t, file, `{"_id":"r1","title":"Quinces","text":"A quince is a hard and yellow fruit."}
{"_id":"r3","title":"Sloes","text":"A sloe wants frost."}
`)
		f, err = ops.FillFromFiles(ctx, api.FilesQuery{Name: "fruit", Refresh: true}, parcelOf(t, file))
		if last := finished(t, ops, f, err); last.State != api.JobDone || last.Documents != 2 {
			t.Errorf("refresh: %+v", last)
		}
		if res, err := ops.Search(ctx, api.SearchQuery{Text: "medlar sloe quince", KB: "fruit", Limit: 9}); err != nil ||
			len(res.Hits) != 2 || slices.Contains(urls(res), "r2") {
			t.Errorf("search after the refresh: %v, %v, want r1 and r3", err, urls(res))
		}
		sloe, err := ops.Page(ctx, "r3")
		if err != nil {
			t.Fatal(err)
		}
		if err := ops.DeletePage(ctx, "r3"); err != nil {
			t.Errorf("delete a document: %v", err)
		}
		if _, err := ops.Page(ctx, sloe.Doc); statusOf(err) != http.StatusNotFound {
			t.Errorf("page of a document that went: %v", err)
		}

		list, err := ops.Bases(ctx)
		if err != nil || len(list.KBs) != 2 || list.KBs[0].Name != "copy" || list.KBs[1].Name != "fruit" {
			t.Errorf("bases: %v, %+v", err, list)
		}
		for _, name := range []string{"fruit", "copy"} {
			if was, err := ops.DeleteBase(ctx, name); err != nil || was.Name != name || was.Documents == 0 {
				t.Errorf("delete %s: %v, %+v, want the base as it was", name, err, was)
			}
		}
		if err := w.server.Memory().CatchUp(ctx); err != nil {
			t.Fatal(err)
		}
		if res, err := ops.Search(ctx, api.SearchQuery{Text: "quince"}); err != nil || len(res.Hits) != 0 {
			t.Errorf("search after the bases went: %v, %+v", err, res)
		}
	})
}

func TestASiteIsCrawledAndRefreshed(t *testing.T) {
	eachClient(t, nil, func(t *testing.T, w *world, ops *api.Client) {
		t.Helper()
		ctx := t.Context()
		f, err := ops.CreateBase(ctx, api.NewBase{Name: "site", Crawl: "https://example.com/site/", Limit: 10})
		last := finished(t, ops, f, err)
		if last.State != api.JobDone || last.Kind != knowledge.SourceCrawl || last.Documents != 3 || last.I != 3 ||
			last.Outcomes["new"] != 3 || last.Outcomes["gone"] != 1 {
			t.Fatalf("crawl: %+v, want 3 new pages and one that failed", last)
		}
		if len(last.Failures) != 1 || !strings.Contains(last.Failures[0], "/site/gone") {
			t.Errorf("failures %q, want the page that is not there", last.Failures)
		}
		if v, err := ops.Visits(ctx, api.VisitQuery{}); err != nil || len(v.Visits) != 0 {
			t.Errorf("visits: %v, %+v, want none: a crawl reads for nobody (rule E13)", err, v)
		}
		w.revised.Store(true)
		f, err = ops.RefreshBase(ctx, "site", 0)
		last = finished(t, ops, f, err)
		if last.State != api.JobDone || last.Outcomes["unchanged"] != 2 || last.Outcomes["changed"] != 1 {
			t.Errorf("refresh: %+v, want 2 pages unchanged and 1 changed", last)
		}
		if res, err := ops.Search(ctx, api.SearchQuery{Text: "quinces", KB: "site"}); err != nil ||
			!slices.Equal(urls(res), []string{"https://example.com/site/two"}) {
			t.Errorf("search: %v, %+v, want the page that changed", err, res)
		}
		f, err = ops.CreateBase(ctx, api.NewBase{Name: "one", Scrape: pageURL})
		if last := finished(t, ops, f, err); last.State != api.JobDone || last.Documents != 1 || last.Passages == 0 {
			t.Errorf("scrape: %+v, want one page", last)
		}
	})
}

func TestWhatCannotBeFilledLeavesNothingBehind(t *testing.T) {
	eachClient(t, nil, func(t *testing.T, w *world, ops *api.Client) {
		t.Helper()
		ctx, dir := t.Context(), t.TempDir()
		empty := filepath.Join(dir, "empty.md")
		write(t, empty, "")
		binary := filepath.Join(dir, "binary.md")
		write(t, binary, "\x00\x01\x02\xff\xfe")
		for name, n := range map[string]api.NewBase{
			"a page not there":     {Scrape: "https://example.com/none"},
			"a page not to keep":   {Scrape: "https://example.com/secret"},
			"a site not there":     {Crawl: "https://example.com/none/"},
			"a site not to keep":   {Crawl: "https://example.com/secret"},
			"a pattern that is no": {Crawl: "https://example.com/site/", Include: []string{"re:("}},
		} {
			n.Name = "x"
			f, err := ops.CreateBase(ctx, n)
			leavesNothing(t, ops, name, f, err)
		}
		for name, file := range map[string]string{
			"an empty file": empty, "a binary file": binary, "an empty folder": t.TempDir(),
		} {
			f, err := fillFrom(t, ops, "x", file)
			leavesNothing(t, ops, name, f, err)
		}
	})
}

// leavesNothing fails the test unless the filling of x fails, and x is gone then.
func leavesNothing(t *testing.T, ops *api.Client, name string, f *api.Filling, err error) {
	t.Helper()
	if last := finished(t, ops, f, err); last.State != api.JobFailed || last.Error == "" {
		t.Errorf("%s: %+v, want it failed, with a reason", name, last)
	}
	if _, err := ops.Base(t.Context(), "x"); statusOf(err) != http.StatusNotFound {
		t.Errorf("%s: a base is there: %v", name, err)
	}
}

func TestAJobIsCancelledForGood(t *testing.T) {
	eachClient(t, nil, func(t *testing.T, w *world, ops *api.Client) {
		t.Helper()
		ctx := t.Context()
		f, err := ops.CreateBase(ctx, api.NewBase{Name: "slow", Scrape: "https://example.com/slow/"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ops.RefreshBase(ctx, "slow", 0); statusOf(err) != http.StatusConflict {
			t.Errorf("refresh while it is filled: %v, want a conflict", err)
		}
		if _, err := ops.DeleteBase(ctx, "slow"); statusOf(err) != http.StatusConflict {
			t.Errorf("delete while it is filled: %v, want a conflict", err)
		}
		if j, err := ops.Job(ctx, f.Job.ID); err != nil || j.State != api.JobRunning {
			t.Errorf("job: %v, %+v, want it at work", err, j)
		}
		j, err := ops.CancelJob(ctx, f.Job.ID)
		if err != nil || j.State != api.JobCancelled || j.Error != "cancelled" {
			t.Errorf("cancel: %v, %+v", err, j)
		}
		if _, err := ops.Base(ctx, "slow"); statusOf(err) != http.StatusNotFound {
			t.Errorf("the base: %v, want it gone", err)
		}
		if again, err := ops.CancelJob(ctx, f.Job.ID); err != nil || again.State != api.JobCancelled {
			t.Errorf("cancel again: %v, %+v", err, again)
		}
		list, err := ops.Jobs(ctx)
		if err != nil || len(list.Jobs) != 1 || list.Jobs[0].ID != f.Job.ID {
			t.Errorf("jobs: %v, %+v", err, list)
		}
	})
}

func TestAJobEndsWhenAnotherNodeGoesOn(t *testing.T) {
	w := newWorld(t, nil)
	slow, err := w.client.CreateBase(t.Context(), api.NewBase{Name: "slow", Crawl: "https://example.com/slow/"})
	if err != nil {
		t.Fatal(err)
	}
	w.server.Memory().StopFilling("slow", &fleet.FilledElsewhereError{Name: "slow", Node: "b"})
	var last api.Job
	watch := func(now api.Job) error { last = now; return nil }
	if err := w.client.WatchJob(t.Context(), slow.Job.ID, watch); err != nil {
		t.Fatal(err)
	}
	if last.State != api.JobCancelled || last.Error != "node b of the fleet fills slow just now" {
		t.Errorf("%+v", last)
	}
	if b, err := w.know.Base("slow"); err != nil || !b.Building || b.Paused {
		t.Errorf("base: %v, %+v, want it as it was", err, b)
	}
}

func TestAServerThatStopsLeavesItsJobsToTheNext(t *testing.T) {
	w := newWorld(t, nil)
	file := filepath.Join(t.TempDir(), "note.md")
	write(t, file, "# Quinces\n\nHard and yellow.\n")
	slow, err := w.client.CreateBase(t.Context(), api.NewBase{Name: "slow", Crawl: "https://example.com/slow/"})
	if err != nil {
		t.Fatal(err)
	}
	unfilled, err := w.know.CreateBase(knowledge.Base{
		Name: "unfilled", Source: knowledge.SourceFile, Files: []string{file},
	})
	if err != nil {
		t.Fatal(err)
	}
	w.server.Stop()
	if j, err := w.client.Job(t.Context(), slow.Job.ID); err != nil || j.State != api.JobInterrupted {
		t.Errorf("job: %v, %+v, want it interrupted", err, j)
	}
	if _, err := w.client.CreateBase(t.Context(),
		api.NewBase{Name: "late", Scrape: pageURL}); statusOf(err) != http.StatusServiceUnavailable {
		t.Errorf("a job after the stop: %v, want it refused", err)
	}
	if _, err := w.know.Base("late"); statusOf(err) != http.StatusNotFound {
		t.Errorf("the base of a job that was refused: %v, want none", err)
	}
	if b, err := w.know.Base("slow"); err != nil || !b.Building {
		t.Fatalf("base: %v, %+v, want it there, to be gone on with", err, b)
	}

	dir := t.TempDir()
	kept, err := os.Create(filepath.Join(dir, "parcel-"+unfilled.ID+".tar"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(knowledge.PackFiles(t.Context(), kept, []string{file}, ""), kept.Close()); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "parcel.123"), "files that were not sent whole")
	offline := server.New(server.Options{
		Store: w.store, Knowledge: w.know, Dir: dir, Switches: func() api.Switches { return api.Switches{Offline: true} },
	})
	t.Cleanup(offline.Stop)
	offline.Memory().Resume()
	next := offline.Client("agent/1")
	list, err := next.Jobs(t.Context())
	if err != nil || len(list.Jobs) != 2 || list.Jobs[0].KB != "unfilled" ||
		list.Jobs[1].ID != slow.Job.ID || list.Jobs[1].State != api.JobInterrupted {
		t.Fatalf("jobs offline: %v, %+v, want the files at work and the crawl remembered", err, list)
	}
	var last api.Job
	watch := func(now api.Job) error { last = now; return nil }
	if err := next.WatchJob(t.Context(), list.Jobs[0].ID, watch); err != nil {
		t.Fatal(err)
	}
	if last.State != api.JobDone || last.Documents != 1 {
		t.Errorf("job %+v, want the file read", last)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("%v, %v are left of the files", left, err)
	}
	offline.Stop()

	online := server.New(server.Options{
		Store: w.store, Knowledge: w.know, Dir: t.TempDir(),
		Crawl: func(string) (crawl.Service, error) { return nil, errors.New("no crawler") },
	})
	t.Cleanup(online.Stop)
	online.Memory().Resume()
	if j, err := online.Client("agent/1").Job(t.Context(), slow.Job.ID); err != nil || !j.Resumed {
		t.Errorf("job: %v, %+v, want it continued under its id", err, j)
	}
}

func TestBadRequestsOfMemoryAreNamed(t *testing.T) {
	eachClient(t, nil, func(t *testing.T, w *world, ops *api.Client) {
		t.Helper()
		ctx := t.Context()
		if _, err := ops.CreateBase(ctx, api.NewBase{Name: "there"}); err != nil {
			t.Fatal(err)
		}
		create := func(n api.NewBase) error { _, err := ops.CreateBase(ctx, n); return err }
		send := func(q api.FilesQuery) error {
			_, err := ops.FillFromFiles(ctx, q, strings.NewReader(""))
			return err
		}
		search := func(q api.SearchQuery) error { _, err := ops.Search(ctx, q); return err }
		for _, tt := range []struct {
			name   string
			err    error
			status int
			says   string
		}{
			{"a base that exists", create(api.NewBase{Name: "there"}), 409, "exists"},
			{"files for a base that exists", send(api.FilesQuery{Name: "there"}), 409, "exists"},
			{"files for a base of texts", send(api.FilesQuery{Name: "there", Refresh: true}), 409, "not a base of files"},
			{"files for a base that is none", send(api.FilesQuery{Name: "none", Refresh: true}), 404, "none"},
			{"files for a path", send(api.FilesQuery{Name: "../x"}), 400, "invalid knowledge base name"},
			{"a name that is a path", create(api.NewBase{Name: "../etc/passwd"}), 400, "invalid knowledge base name"},
			{"a name in upper case", create(api.NewBase{Name: "Docs"}), 400, "lower-case"},
			{"no name", create(api.NewBase{}), 400, "needs a name"},
			{"a long name", create(api.NewBase{Name: strings.Repeat("a", 101)}), 400, "longer than"},
			{"two sources", create(api.NewBase{Name: "x", Crawl: pageURL, Scrape: pageURL}), 400, "at most one of"},
			{"a URL that is none", create(api.NewBase{Name: "x", Crawl: "example"}), 400, "example"},
			{"a relative path", send(api.FilesQuery{Name: "x", Paths: []string{"notes"}}), 400, "absolute"},
			{
				"an unknown service", create(api.NewBase{Name: "x", Crawl: pageURL, Service: "bogus"}), 400,
				"Unknown crawl service: bogus",
			},
			{"a limit below 0", create(api.NewBase{Name: "x", Crawl: pageURL, Limit: -1}), 400, "limit"},
			{"a limit of no crawl", create(api.NewBase{Name: "x", Limit: 5}), 400, "need crawl"},
			{
				"refresh of texts", func() error { _, err := ops.RefreshBase(ctx, "there", 0); return err }(), 409,
				"no source to refresh",
			},
			{"refresh of none", func() error { _, err := ops.RefreshBase(ctx, "none", 0); return err }(), 404, "there"},
			{"delete none", func() error { _, err := ops.DeleteBase(ctx, "none"); return err }(), 404, "there"},
			{
				"show none", func() error { _, err := ops.Base(ctx, "none"); return err }(), 404,
				`unknown knowledge base "none": known are there`,
			},
			{
				"documents of none", func() error { _, err := ops.BaseDocuments(ctx, "none", "", 0); return err }(),
				404, "there",
			},
			{"pack none", ops.Pack(ctx, "none", io.Discard), 404, "there"},
			{"unpack nonsense", func() error {
				_, err := ops.Unpack(ctx, strings.NewReader("nonsense"), api.Unpacking{})
				return err
			}(), 400, "not a valid pack"},
			{"an empty query", search(api.SearchQuery{Text: " "}), 400, "empty"},
			{"a query of no base", search(api.SearchQuery{Text: "x", KB: "none"}), 404, "there"},
			{"a text for no base", func() error {
				_,
					err := ops.Ingest(ctx, api.Ingestion{Text: "x y z", KB: "none"})
				return err
			}(), 404, "there"},
			{
				"an empty text", func() error { _, err := ops.Ingest(ctx, api.Ingestion{KB: "there"}); return err }(),
				400, "text",
			},
			{
				"outline of nothing", func() error { _, err := ops.Outline(ctx, "0000000000000000"); return err }(), 404,
				"not found",
			},
			{"a job never begun", func() error { _, err := ops.Job(ctx, "none"); return err }(), 404, "unknown job"},
			{
				"cancel a job never begun", func() error { _, err := ops.CancelJob(ctx, "none"); return err }(), 404,
				"unknown job",
			},
			{"watch a job never begun", ops.WatchJob(ctx, "none", nil), 404, "unknown job"},
			{"a passage that is none", func() error { _, err := ops.Passage(ctx, "what"); return err }(), 400, "passage"},
		} {
			if got := statusOf(tt.err); got != tt.status || !strings.Contains(tt.err.Error(), tt.says) {
				t.Errorf("%s: %v, status %d, want %d and %q", tt.name, tt.err, got, tt.status, tt.says)
			}
		}
	})
}

func TestAPackOfAStrangerIsRefusedUntilItIsTrusted(t *testing.T) {
	dir := t.TempDir()
	ours, theirs := newWorld(t, nil).client, newWorld(t, func(o *server.Options) { o.Dir = dir }).client
	if _, err := theirs.CreateBase(t.Context(), api.NewBase{Name: "texts"}); err != nil {
		t.Fatal(err)
	}
	if _, err := theirs.Ingest(t.Context(), api.Ingestion{
		Text: "All that is known of quinces.",
		KB:   "texts",
	}); err != nil {
		t.Fatal(err)
	}
	var pack bytes.Buffer
	if err := theirs.Pack(t.Context(), "texts", &pack); err != nil {
		t.Fatal(err)
	}
	unpack := func(u api.Unpacking) error {
		_, err := ours.Unpack(t.Context(), bytes.NewReader(pack.Bytes()), u)
		return err
	}
	if err := unpack(api.Unpacking{}); api.CodeOf(err) != api.CodeUnknownSigner {
		t.Fatalf("a stranger's pack: %v, want it refused", err)
	}
	signer, err := knowledge.OpenSigner(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := unpack(api.Unpacking{Signer: signer.ID()}); err != nil {
		t.Errorf("a trusted one's: %v", err)
	}
	if err := unpack(api.Unpacking{AnySigner: true}); api.CodeOf(err) != api.CodeBaseExists {
		t.Errorf("the same again: %v, want a name that is taken", err)
	}
	if err := unpack(api.Unpacking{AnySigner: true, Name: "again"}); err != nil {
		t.Errorf("under another name: %v", err)
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
