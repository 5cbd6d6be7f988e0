package wiring

import (
	"bytes"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/readthru/readthru/cmd/readthru/internal/settings"
	"github.com/readthru/readthru/internal/fault/faulttest"
	"github.com/readthru/readthru/internal/journal"
	"github.com/readthru/readthru/knowledge"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// A program that knew fewer kinds of secrets has kept some: the next one removes them everywhere when it starts, and
// nothing else. After a compaction none is left on disk.
func TestSecretsOfAnOlderProgramAreRemoved(t *testing.T) {
	const canary, honest = "k7Qx2mZp9Rt4Vw6Y", "https://a.test/honest?page=2"
	s := &settings.Settings{Config: settings.Defaults(), Source: map[string]string{}, DataDir: t.TempDir()}
	s.MarkdownNew.Mode, s.Render.Mode, s.Requests.Days = "off", "never", 7
	var log bytes.Buffer
	open := func() *Core {
		t.Helper()
		c, err := Open(s, s.DataDir, false, slog.New(slog.NewTextHandler(&log, nil)))
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	c := open()
	keepSecrets(t, c, canary, honest)
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	canaryOnDisk := strings.ToLower(canary)
	if found := textsOnDisk(t, s.DataDir, canaryOnDisk)[canaryOnDisk]; !slices.Contains(found, ".jsonl") ||
		!slices.Contains(found, ".sst") && !slices.Contains(found, ".mem") {
		t.Fatalf("the older program kept the secret at %v", found)
	}

	panics := faulttest.Once(t, "serve: remove secrets")
	c = open() // a panic of it stops no start, and the next one removes them
	panics.End()
	if len(pagesOf(t, c.store)) == 1 || !strings.Contains(log.String(), "an older program are not all removed") {
		t.Errorf("pages after a panic: %v; log: %s", pagesOf(t, c.store), &log)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}

	log.Reset()
	c = open()
	if err := c.knowledge.Describe(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(log.String(), "were removed") || !strings.Contains(log.String(), "pages=3") {
		t.Errorf("log: %s", &log)
	}
	pages := pagesOf(t, c.store)
	if len(pages) != 1 || !strings.Contains(pages[honest], "plenty") {
		t.Errorf("pages: %v", pages)
	}
	found, err := c.knowledge.Search(t.Context(), knowledge.Query{Text: "balance account plenty", Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	var urls []string
	for _, h := range found.Hits {
		urls = append(urls, h.URL)
	}
	slices.Sort(urls)
	if len(urls) != 2 || urls[0] != honest || !strings.HasPrefix(urls[1], "note:") {
		t.Errorf("found: %v", urls)
	}
	documents, _, err := c.knowledge.Documents("docs", "", 10) // the text that was handed in cannot be read again
	if err != nil || len(documents) != 1 || documents[0].URL != "https://a.test/text?token="+page.SecretMask {
		t.Errorf("documents of the base: %v, %v", documents, err)
	}
	if b, err := c.knowledge.Base("docs"); err != nil || b.URL != "https://a.test/start?token="+page.SecretMask {
		t.Errorf("base: %+v, %v", b, err)
	}
	visits, _, err := c.store.Visits(store.VisitQuery{Limit: 100})
	if err != nil || len(visits) != 2 {
		t.Errorf("%d visits, %v", len(visits), err)
	}
	notes, _, err := c.knowledge.Notes(knowledge.NoteQuery{})
	if err != nil || len(notes) != 1 || !slices.Equal(notes[0].Pages, []string{honest}) {
		t.Errorf("notes: %+v, %v", notes, err)
	}
	if set := c.store.Fetched("work"); len(set.Pages) != 1 || set.Pages[0].URL != honest {
		t.Errorf("fetched: %+v", set.Pages)
	}
	if list, _ := c.store.Responses("https://a.test/honest"); len(list) != 1 {
		t.Errorf("%d honest responses", len(list))
	}
	told, _, _ := c.journal.List(journal.Filter{}, "", 10)
	if len(told) != 2 || !strings.Contains(told[0].URL, honest) && !strings.Contains(told[1].URL, honest) {
		t.Errorf("requests: %+v", told)
	}
	if err := c.knowledge.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := c.store.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if places := textsOnDisk(t, s.DataDir, canaryOnDisk)[canaryOnDisk]; len(places) > 0 {
		t.Errorf("the secret is at %v", places)
	}

	log.Reset()
	if err := open().Close(); err != nil {
		t.Fatal(err)
	}
	if log.Len() > 0 {
		t.Errorf("the start after that logs: %s", &log)
	}
}

// keepSecrets has the parts keep what a program does that knows no secrets in URLs, and what every program keeps of
// an honest URL.
func keepSecrets(t *testing.T, c *Core, canary, honest string) {
	t.Helper()
	ctx, secret := t.Context(), "https://a.test/page?token="+canary
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	markdown := func(url string) []byte {
		next := url[:len("https://a.test/")]
		return []byte("# Account\n\nThe balance of the account is plenty. [Next](" + next + ")\n")
	}
	put := func(url, final string) {
		t.Helper()
		u, err := page.Parse(url)
		check(err)
		p := &page.Record{
			URL: url, FinalURL: final, NormalizedURL: page.Normalize(u), Title: "Account", ContentHash: final + url,
		}
		_, err = c.store.PutPage(p, markdown(url), store.Sum{})
		check(err)
		c.store.AddVisit(page.KeyOf(p.NormalizedURL), store.Visit{URL: url, Agent: "curl"})
		_, err = c.store.PutFetched("work", &page.Page{Record: *p}, markdown(url))
		check(err)
		c.journal.Add(&journal.Entry{
			Time: time.Now(), Door: journal.DoorProxy, Method: "GET", URL: url, Error: "read " + url + ": cut",
			Asked: journal.Fields("Referer: " + url + "\n"),
		})
	}
	put(honest, honest)
	put(secret, secret)
	for _, raw := range []string{"https://a.test/moved", "https://a.test/again?sig=" + canary} {
		u, err := page.Parse(raw)
		check(err)
		record := &page.Record{URL: raw, FinalURL: secret, NormalizedURL: page.Normalize(u)}
		_, err = c.store.PutPage(record, markdown(raw), store.Sum{})
		check(err)
	}
	// A visit by another address of the honest page, and one of a page that is not stored.
	u, err := page.Parse(honest)
	check(err)
	c.store.AddVisit(page.KeyOf(page.Normalize(u)), store.Visit{URL: honest + "#access_token=" + canary, Agent: "wget"})
	for _, uri := range []string{"https://a.test/honest", "https://a.test/data?api_key=" + canary} {
		r := &store.Response{URL: uri, Status: 200, ResponseTime: time.Now()}
		check(c.store.PutResponse(r, strings.NewReader("{}"), nil))
	}
	check(c.store.Disclose(store.Disclosure{Service: "markdown.new", URL: secret}))
	// Package knowledge refuses such URLs, as it did; so they are put in the place of others.
	const placeholder = "page=placeholder"
	_, err = c.knowledge.CreateBase(knowledge.Base{
		Name: "docs", Source: knowledge.SourceCrawl, URL: "https://a.test/start?" + placeholder,
	})
	check(err)
	b, err := c.knowledge.Build("docs")
	check(err)
	check(b.Add(ctx, knowledge.Document{
		URL: "https://a.test/document?" + placeholder, Title: "Account", Markdown: markdown(honest),
	}))
	_, err = b.Commit(ctx)
	check(err)
	_, err = c.knowledge.Ingest(ctx, knowledge.Ingestion{
		Label: "mine", URL: "https://a.test/text?" + placeholder, Text: string(markdown(honest)), KB: "docs",
	})
	check(err)
	_, err = c.knowledge.AddNote(knowledge.Note{
		Text: "The balance of the account is plenty.", Pages: []string{honest, "https://a.test/page?" + placeholder},
	})
	check(err)
	check(c.store.Flush())
	records := c.store.Records()
	replaced := 0
	records.Walk("k/", "", func(key string, value []byte) bool {
		if bytes.HasPrefix(value, []byte("{")) && bytes.Contains(value, []byte(placeholder)) {
			replaced++
			check(records.Apply(store.Change{
				Key: key, Value: bytes.ReplaceAll(value, []byte(placeholder), []byte("token="+canary)),
			}))
		}
		return true
	})
	if replaced < 6 { // a base, two heads, two members, a note
		t.Fatalf("%d records name a placeholder", replaced)
	}
	check(c.store.SetSecretEdition(0))
}
