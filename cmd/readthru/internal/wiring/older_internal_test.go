package wiring

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/cmd/readthru/internal/daemon"
	"github.com/readthru/readthru/cmd/readthru/internal/settings"
	"github.com/readthru/readthru/page"
)

// olderStores are the editions of testdata/older.
var olderStores = []string{"c283f40", "9cb8774"}

// olderAt is a moment after they were filled. Tests run in a bubble at that time: no record is too old to be kept.
var olderAt = time.Date(2026, 11, 27, 7, 0, 0, 0, time.UTC)

// unpackOlder makes a data directory of an older program.
func unpackOlder(t *testing.T, edition, dir string) {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", "older", edition+".tar.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // it was only read
	packed, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for files := tar.NewReader(packed); ; {
		h, err := files.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(dir, filepath.FromSlash(h.Name))
		if h.Typeflag == tar.TypeDir {
			err = os.MkdirAll(name, 0o700)
		} else {
			err = writeHoles(name, files, h.Size)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// writeHoles writes a file without its zeros.
func writeHoles(name string, content io.Reader, size int64) error {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // it is read again
	block, zeros := make([]byte, 64<<10), make([]byte, 64<<10)
	for at := int64(0); ; at += int64(len(block)) {
		n, err := io.ReadFull(content, block)
		if n > 0 && !bytes.Equal(block[:n], zeros[:n]) {
			if _, err := f.WriteAt(block[:n], at); err != nil {
				return err
			}
		}
		if err != nil {
			return f.Truncate(size)
		}
	}
}

// openOlder opens a data directory as commands do, and has the index brought up to date. The log has warnings and
// errors.
func openOlder(t *testing.T, dir string) (c *Core, b *api.Client, log *bytes.Buffer, done func()) {
	t.Helper()
	s := &settings.Settings{Config: settings.Defaults(), Source: map[string]string{}, DataDir: dir}
	s.MarkdownNew.Mode, s.Render.Mode = "off", "never"
	log = &bytes.Buffer{}
	c, err := Open(s, dir, false, slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelWarn})))
	if err != nil {
		t.Fatalf("%v\n%s", err, log)
	}
	if err := c.knowledge.Describe(t.Context()); err != nil {
		t.Fatal(err)
	}
	server := c.Server(nil, nil, &daemon.Info{}, nil)
	return c, server.Client(daemon.UserAgent), log, func() {
		server.Stop()
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}

// olderWords is where each word is found: one for each kind of text.
var olderWords = map[string][]string{
	"quokka":      nil, // only the first version of the page said it; see checkOlder
	"wombat":      {"http://old.test/versions", "note:"},
	"zeppelin":    nil, // the page is gone; likewise
	"jubilee":     {"http://old.test/private"},
	"dolmen":      {"http://old.test/waiting"}, // its job waited
	"flange":      {"http://old.test/md", "http://texts.test/one"},
	"oxbow":       {"http://old.test/third", "text:"},
	"harpsichord": {"file:///srv/guides/guide.md"},
	"kimono":      {"http://crawl.test/"},
	"velcro":      {"http://crawl.test/second"},
}

// notTold begins what is told in the place of an answer.
const notTold = "error: "

// whatIsTold returns what the program tells of all that is stored, as JSON, by what was asked.
func whatIsTold(t *testing.T, c *Core, b *api.Client) map[string]string {
	t.Helper()
	told := map[string]string{}
	ctx := t.Context()
	note := func(what string, answer any, err error) {
		t.Helper()
		text, jerr := json.MarshalIndent(answer, "", " ")
		if told[what] = string(text); err != nil || jerr != nil {
			told[what] = fmt.Sprint(notTold, err, jerr)
		}
	}
	pages, err := b.Pages(ctx, api.PageQuery{Sort: "url"})
	if note("pages", pages, err); err == nil {
		for i := range pages.Pages {
			doc := pages.Pages[i].Doc
			whole, err := b.Page(ctx, doc)
			note("page "+pages.Pages[i].URL, whole, err)
			versions, err := b.Versions(ctx, doc)
			note("versions of "+pages.Pages[i].URL, versions, err)
		}
	}
	visits, err := b.Visits(ctx, api.VisitQuery{Limit: 500})
	note("visits", visits, err)
	bases, err := b.Bases(ctx)
	note("bases", bases, err)
	for _, name := range []string{"guides", "site", "texts"} {
		documents, err := b.BaseDocuments(ctx, name, "", 100)
		note("documents of "+name, documents, err)
	}
	notes, err := b.Notes(ctx, api.NoteQuery{})
	note("notes", notes, err)
	note("summaries", c.store.Summaries(page.KeyOf("http://old.test/versions")), nil)
	relations, err := b.Relations(ctx, api.RelationQuery{Type: "supports"})
	note("relations", relations, err)
	read, err := b.Context(ctx, "morning", "")
	note("session", read, err)
	kept, err := b.ContextPage(ctx, "morning", "http://old.test/versions")
	note("what the session read", kept, err)
	disclosed, err := b.Disclosures(ctx, "", 100)
	note("disclosures", disclosed, err)
	services, err := b.Leaving(ctx)
	note("services", services, err)
	hosts, err := b.HostFacts(ctx, api.HostQuery{})
	note("hosts", hosts, err)
	users, err := b.Users(ctx)
	note("users", users, err)
	rules, err := b.Rules(ctx, api.RuleQuery{})
	note("rules", rules, err)
	recipes, err := b.Recipes(ctx)
	note("recipes", recipes, err)
	for _, url := range []string{"/style.css", "/versions", "/md"} {
		cached, err := b.Cached(ctx, "http://old.test"+url, false)
		note("stored responses of "+url, cached, err)
	}
	jobs, err := b.StoreJobs(ctx)
	note("jobs", jobs, err)
	for word := range olderWords {
		found, err := b.Search(ctx, api.SearchQuery{Text: word, Limit: 100})
		note("search for "+word, found, err)
	}
	note("counts", c.knowledge.Stats(), nil)
	note("totals", c.store.Totals(), nil)
	return told
}

// A store of an older program is read whole: each kind of record says what it said, what waited is indexed, and the
// next start finds all as this one left it.
func TestAStoreOfAnOlderProgramIsReadWhole(t *testing.T) {
	dir := t.TempDir() // what the process makes once is made outside of bubbles
	unpackOlder(t, olderStores[0], dir)
	c, b, _, done := openOlder(t, dir)
	whatIsTold(t, c, b)
	done()
	for _, edition := range olderStores {
		t.Run(edition, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				time.Sleep(time.Until(olderAt))
				dir := t.TempDir()
				unpackOlder(t, edition, dir)
				c, b, log, done := openOlder(t, dir)
				told := whatIsTold(t, c, b)
				checkOlder(t, c, b, edition, told)
				done()
				if strings.Contains(log.String(), "lost") || strings.Contains(log.String(), "damaged") {
					t.Errorf("it says %s", log)
				}
				c, b, _, done = openOlder(t, dir)
				defer done()
				if diff := cmp.Diff(told, whatIsTold(t, c, b)); diff != "" {
					t.Errorf("the second start changes (-first +second):\n%s", diff)
				}
			})
		})
	}
}

// checkOlder checks what is told of the store of an edition.
func checkOlder(t *testing.T, c *Core, b *api.Client, edition string, told map[string]string) {
	t.Helper()
	if h := c.store.Health(); h.State != "ok" || h.SetAside != "" {
		t.Errorf("the store is %+v", h)
	}
	words := maps.Clone(olderWords)
	if edition == "c283f40" { // a redirect was a page of its own, and of a page that is gone only an error was known
		words["quokka"], words["zeppelin"] = []string{"http://old.test/old"}, []string{"http://old.test/gone"}
	}
	for word, want := range words {
		found, err := b.Search(t.Context(), api.SearchQuery{Text: word, Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for i := range found.Hits {
			url := found.Hits[i].URL
			for _, kind := range []string{"note:", "text:"} {
				if strings.HasPrefix(url, kind) {
					url = kind
				}
			}
			got = append(got, url)
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s is found in %q, want %q", word, got, want)
		}
	}
	visits := 5
	if edition == "c283f40" {
		visits = 4 // and one of the page that a redirect was
	}
	said := map[string][]string{
		"page http://old.test/versions":        {"The wombat of the second version", fmt.Sprintf(`"visit_count": %d`, visits)},
		"versions of http://old.test/versions": {"1a3cea0887d68c37", "f50c25403376de79"},
		"visits":                               {"morning", "agent/1", "http://old.test/private"},
		"documents of guides":                  {"guide.md"},
		"documents of site":                    {"http://crawl.test/second"},
		"documents of texts":                   {"Added"},
		"bases":                                {"a small site"},
		"notes":                                {"digs at night", `"by": "ann"`, "finding"},
		"relations":                            {`"weight": 0.5`},
		"session":                              {"http://old.test/versions"},
		"what the session read":                {"The quokka of the first version"},
		"page http://old.test/private":         {"to one reader with a cookie"},
		"disclosures":                          {"markdown.new", "http://old.test/third"},
		"stored responses of /style.css":       {"text/css"},
		"stored responses of /md":              {"text/markdown"},
	}
	if edition != "c283f40" { // which had none of them; what it learnt of hosts is learnt anew
		said["hosts"] = []string{"old.test", "negotiates"}
		said["users"] = []string{`"ann"`, "admin"}
		said["rules"] = []string{"ruled.test", "tunnel"}
		said["recipes"] = []string{"sample"}
		said["services"] = []string{`"off": true`}
	}
	if edition == "c283f40" && told["summaries"] != "[]" { // it summarised texts that were not cleaned
		t.Errorf("summaries are told: %s", told["summaries"])
	}
	for what, text := range told {
		if strings.HasPrefix(text, notTold) {
			t.Errorf("%s: %s", what, text)
		}
	}
	for what, texts := range said {
		for _, text := range texts {
			if !strings.Contains(told[what], text) {
				t.Errorf("%s lacks %q:\n%s", what, text, told[what])
			}
		}
	}
}

// A store of an older program that is damaged opens all the same, and what is not told any more is said to be lost.
func TestADamagedStoreOfAnOlderProgramSaysSo(t *testing.T) {
	if testing.Short() {
		t.Skip("short: it opens a store dozens of times")
	}
	dir := t.TempDir() // what the process makes once is made outside of bubbles
	unpackOlder(t, olderStores[0], dir)
	c, b, _, done := openOlder(t, dir)
	whatIsTold(t, c, b)
	done()
	editions := olderStores
	if testing.Short() {
		editions = editions[:1]
	}
	for _, edition := range editions {
		var whole map[string]string
		said := 0 // lines of the log
		synctest.Test(t, func(t *testing.T) {
			time.Sleep(time.Until(olderAt))
			dir := t.TempDir()
			unpackOlder(t, edition, dir)
			c, b, log, done := openOlder(t, dir)
			defer done()
			whole, said = whatIsTold(t, c, b), bytes.Count(log.Bytes(), []byte("\n"))
		})
		for name, damage := range olderDamages(t, edition) {
			t.Run(edition+"/"+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					time.Sleep(time.Until(olderAt))
					dir := t.TempDir()
					unpackOlder(t, edition, dir)
					damage(t, dir)
					c, b, log, done := openOlder(t, dir)
					defer done()
					told := whatIsTold(t, c, b)
					h := c.store.Health()
					if cmp.Equal(whole, told) {
						return
					}
					if h.SetAside == "" && h.Damaged == 0 && !h.Lost && bytes.Count(log.Bytes(), []byte("\n")) <= said {
						t.Errorf("%s: nothing is said of what is lost (-whole +told):\n%s", log, cmp.Diff(whole, told))
					}
				})
			})
		}
	}
}

// olderDamages returns what can happen to the files of an edition's store: bytes in their middle change, or half of
// what was written is cut off.
func olderDamages(t *testing.T, edition string) map[string]func(t *testing.T, dir string) {
	t.Helper()
	dir := t.TempDir()
	unpackOlder(t, edition, dir)
	names, err := filepath.Glob(filepath.Join(dir, "store", "db", "*"))
	if err != nil {
		t.Fatal(err)
	}
	damages := map[string]func(t *testing.T, dir string){}
	for _, name := range append(names, filepath.Join(dir, "store", "head")) {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		written := len(bytes.TrimRight(content, "\x00"))
		name, err := filepath.Rel(dir, name)
		if err != nil || written < 2 {
			continue
		}
		damages[filepath.Base(name)+" changed"] = func(t *testing.T, dir string) {
			t.Helper()
			f, err := os.OpenFile(filepath.Join(dir, name), os.O_RDWR, 0)
			if err != nil {
				t.Fatal(err)
			}
			at := written / 2
			some := bytes.Clone(content[at:min(at+16, written)])
			for i := range some {
				some[i] ^= 0xff
			}
			if _, err := f.WriteAt(some, int64(at)); err != nil {
				t.Fatal(err)
			}
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
		}
		damages[filepath.Base(name)+" cut"] = func(t *testing.T, dir string) {
			t.Helper()
			if err := os.Truncate(filepath.Join(dir, name), int64(written/2)); err != nil {
				t.Fatal(err)
			}
		}
	}
	return damages
}
