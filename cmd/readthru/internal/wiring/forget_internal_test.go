package wiring

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/dgraph-io/badger/v4/table"
	"github.com/dgraph-io/ristretto/v2/z"
	"github.com/klauspost/compress/zstd"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/cmd/readthru/internal/daemon"
	"github.com/readthru/readthru/cmd/readthru/internal/settings"
	"github.com/readthru/readthru/knowledge"
	"github.com/readthru/readthru/page"
)

// A diskReader finds texts in the files of a data directory, whatever they are packed in.
type diskReader struct {
	texts [][]byte            // lower case
	found map[string][]string // places by text
	zstd  *zstd.Decoder
}

// textsOnDisk returns the places on disk of each text: the class of its record, or the file.
func textsOnDisk(t *testing.T, dir string, texts ...string) map[string][]string {
	t.Helper()
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	defer decoder.Close()
	d := &diskReader{found: map[string][]string{}, zstd: decoder}
	for _, text := range texts {
		d.texts = append(d.texts, []byte(strings.ToLower(text)))
	}
	err = filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		content, err := os.ReadFile(name)
		d.look(filepath.Ext(name), content)
		if err == nil && filepath.Ext(name) == ".sst" {
			err = d.table(name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, places := range d.found {
		slices.Sort(places)
	}
	return d.found
}

// table looks at all records of a table, deleted ones and older ones too.
func (d *diskReader) table(name string) error {
	file, err := z.OpenMmapFile(name, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	opened, err := table.OpenTable(file, table.Options{})
	if err != nil {
		return err
	}
	all := opened.NewIterator(0)
	for all.Rewind(); all.Valid(); all.Next() {
		key := all.Key()
		class := string(key[:bytes.IndexByte(append(bytes.Clone(key), '/'), '/')])
		if class == "k" {
			class = string(key[:min(4, len(key))])
		}
		d.look(class, key)
		d.look(class, all.ValueCopy().Value)
	}
	return errors.Join(all.Close(), opened.Close(-1))
}

// look looks at bytes, and at what is packed in them.
func (d *diskReader) look(place string, content []byte) {
	lower := bytes.ToLower(content)
	for _, text := range d.texts {
		if bytes.Contains(lower, text) && !slices.Contains(d.found[string(text)], place) {
			d.found[string(text)] = append(d.found[string(text)], place)
		}
	}
	for {
		at := bytes.Index(content, []byte{0x28, 0xb5, 0x2f, 0xfd}) // a frame of zstd
		if at < 0 {
			return
		}
		if plain := d.unpack(content[at:]); len(plain) > 0 {
			d.look(place, plain)
		}
		content = content[at+4:]
	}
}

// unpack returns what a frame at the beginning of content holds.
func (d *diskReader) unpack(content []byte) []byte {
	if d.zstd.Reset(bytes.NewReader(content)) != nil {
		return nil
	}
	var plain bytes.Buffer
	_, _ = io.Copy(&plain, d.zstd.IOReadCloser()) // what follows the frame is none
	return plain.Bytes()
}

// forgotten is an origin of pages whose words are to be forgotten. Each word is found by its end: dictionaries leave
// out how words begin.
type forgotten struct{ readings atomic.Int64 }

const (
	wordOfTitle   = "qzebrontitle"
	wordOfHeading = "xqualtheading"
	wordOfText    = "jqumbletext"
	wordOfOld     = "vqarpleold"
	wordOfTwin    = "zqimbertwin"
	wordOfBase    = "wqondlebase"
	wordOfFile    = "yqandrilfile"
	wordOfMemo    = "kqestermemo"
	wordOfNote    = "fqelbannote"
	wordOfData    = "gqorvandata"
	wordOfTagged  = "pqadrictagged"
	wordOfAddress = "bqulmeaddress"
	wordOfKept    = "hquivenkept"
)

func (f *forgotten) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "max-age=600")
	word, head := wordOfText, ""
	switch r.URL.Path {
	case "/page":
		if f.readings.Add(1) == 1 {
			word = wordOfOld
		}
	case "/moved":
		http.Redirect(w, r, "/page", http.StatusFound)
		return
	case "/twin":
		head = `<link rel="alternate" type="text/markdown" href="/named-so.md">`
	case "/named-so.md":
		w.Header().Set("Content-Type", "text/markdown; charset=utf-8")
		_, _ = fmt.Fprintf(w, "# %s\n\nThe twin says %s, and much more that is long enough to be read.\n", wordOfTwin, wordOfTwin)
		return
	case "/base":
		word = wordOfBase
	case "/kept":
		word = wordOfKept
	case "/" + wordOfAddress:
	case "/data", "/tagged":
		word = wordOfData
		if r.URL.Path == "/tagged" {
			word = wordOfTagged
			w.Header().Set("Cache-Tag", "forgotten")
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"text": %q, "more": %q}`, word, strings.Repeat("It goes on for a while. ", 40))
		return
	default:
		http.NotFound(w, r)
		return
	}
	title, heading := wordOfTitle, wordOfHeading
	if r.URL.Path == "/kept" {
		title, heading = "A title", "A heading"
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = fmt.Fprintf(w, `<!doctype html><html lang="en"><head><title>%s of a page</title>%s</head><body><main>
		<h1>%s of a page</h1><p>The library %s is what this page is about, and it is described in a sentence that is long
		enough to be content for whoever looks. %s</p><h2>%s again</h2><p>What is said here of %s is said once more.</p>
		</main></body></html>`, title, head, title, word, strings.Repeat("It goes on for a while. ", 40), heading, word)
}

func TestNothingIsLeftOnDiskOfWhatWasDeleted(t *testing.T) {
	if testing.Short() {
		t.Skip("short: it compacts a store again and again")
	}
	for _, running := range []bool{false, true} {
		name := map[bool]string{false: "commands without a daemon", true: "a daemon"}[running]
		t.Run(name, func(t *testing.T) {
			origin := httptest.NewServer(&forgotten{})
			defer origin.Close()
			s := &settings.Settings{Config: settings.Defaults(), Source: map[string]string{}, DataDir: t.TempDir()}
			s.MarkdownNew.Mode, s.Render.Mode, s.Fetch.AllowPrivate, s.Requests.Days = "off", "never", true, 7
			if running {
				do := openForCommands(t, s, true)
				defer do(nil)
				rememberAndForget(t, running, s.DataDir, origin.URL, func(f func(b *api.Client, c *Core) error) { do(f) })
				return
			}
			rememberAndForget(t, running, s.DataDir, origin.URL, func(f func(b *api.Client, c *Core) error) {
				do := openForCommands(t, s, false)
				do(f)
				do(nil)
			})
		})
	}
}

// openForCommands opens the store of a data directory. What it returns calls a function with a client, and with nil
// closes the store.
func openForCommands(t *testing.T, s *settings.Settings, running bool) func(f func(b *api.Client, c *Core) error) {
	t.Helper()
	c, err := Open(s, s.DataDir, false, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	if running {
		go func() { ended <- c.knowledge.Run(ctx) }()
	} else {
		ended <- nil
	}
	server := c.Server(nil, nil, &daemon.Info{}, nil)
	return func(f func(b *api.Client, c *Core) error) {
		t.Helper()
		if f != nil {
			if err := f(server.Client(daemon.UserAgent), c); err != nil {
				t.Fatal(err)
			}
			return
		}
		cancel()
		server.Stop()
		if err := errors.Join(<-ended, c.Close()); err != nil {
			t.Error(err)
		}
	}
}

// rememberAndForget reads and stores texts in every way, deletes them all, and looks at the disk before and after.
func rememberAndForget(t *testing.T, running bool, dir, origin string, do func(f func(b *api.Client, c *Core) error)) {
	t.Helper()
	ctx := t.Context()
	fetch := func(r api.FetchRequest) {
		t.Helper()
		do(func(b *api.Client, _ *Core) error {
			r.URL = origin + r.URL
			_, err := b.Fetch(ctx, r)
			return err
		})
	}
	filled := func(b *api.Client, f *api.Filling, err error) error {
		if err != nil {
			return err
		}
		return b.WatchJob(ctx, f.Job.ID, func(api.Job) error { return nil })
	}
	fetch(api.FetchRequest{URL: "/kept"})
	fetch(api.FetchRequest{URL: "/page", Session: "reading"})
	fetch(api.FetchRequest{URL: "/page?utm_source=letter", Force: true, Summary: "brief"})
	fetch(api.FetchRequest{URL: "/moved", Format: "text"})
	fetch(api.FetchRequest{URL: "/twin"})
	do(func(b *api.Client, _ *Core) error {
		f, err := b.CreateBase(ctx, api.NewBase{Name: "scraped", Scrape: origin + "/base"})
		return filled(b, f, err)
	})
	file := filepath.Join(t.TempDir(), "file.md")
	if err := os.WriteFile(file, fmt.Appendf(nil, "# A file\n\nThe file says %s.\n", wordOfFile), 0o600); err != nil {
		t.Fatal(err)
	}
	do(func(b *api.Client, _ *Core) error {
		var parcel bytes.Buffer
		if err := knowledge.PackFiles(ctx, &parcel, []string{file}, dir); err != nil {
			return err
		}
		f, err := b.FillFromFiles(ctx, api.FilesQuery{Name: "files", Paths: []string{file}}, &parcel)
		return filled(b, f, err)
	})
	do(func(b *api.Client, _ *Core) error {
		if _, err := b.CreateBase(ctx, api.NewBase{Name: "texts"}); err != nil {
			return err
		}
		_, err := b.Ingest(ctx, api.Ingestion{KB: "texts", Title: wordOfMemo, Text: "The memo says " + wordOfMemo + "."})
		return err
	})
	do(func(_ *api.Client, c *Core) error { return c.knowledge.Describe(ctx) })
	fetch(api.FetchRequest{URL: "/" + wordOfAddress})
	note := ""
	do(func(b *api.Client, _ *Core) error {
		n, err := b.AddNote(ctx, api.NewNote{
			Text: "The note says " + wordOfNote + ".", Label: wordOfNote, Pages: []string{origin + "/kept"},
			Subjects: []string{wordOfNote}, Metadata: page.Metadata{"said": wordOfNote},
		})
		if err == nil {
			note = n.ID
		}
		return err
	})
	for _, path := range []string{"/data", "/tagged"} { // which a page's scripts load
		do(func(_ *api.Client, c *Core) error {
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, origin+path, http.NoBody)
			if err != nil {
				return err
			}
			resp, err := c.cache.RoundTrip(req) //nolint:contextcheck // it has one
			if err != nil {
				return err
			}
			_, err = io.Copy(io.Discard, resp.Body)
			return errors.Join(err, resp.Body.Close())
		})
	}

	tails := func(words ...string) (tails []string) {
		for _, w := range words {
			tails = append(tails, w[2:])
		}
		return tails
	}
	gone := tails(wordOfTitle, wordOfHeading, wordOfText, wordOfOld, wordOfTwin, wordOfBase, wordOfFile, wordOfMemo,
		wordOfNote, wordOfData, wordOfTagged, wordOfAddress)
	before := textsOnDisk(t, dir, gone...)
	var places []string
	for _, w := range gone {
		if len(before[w]) == 0 {
			t.Errorf("before anything is deleted, %q is nowhere on disk", w)
		}
		places = append(places, before[w]...)
	}
	if !running {
		// Tables, bodies, sets of sessions, pages, versions, renditions, summaries; of package knowledge the parts of
		// documents, terms of the index, titles, statements and subjects.
		for _, class := range []string{".sst", "b", "f", "p", "pv", "r", "s", "k/dp", "k/t/", "k/g/", "k/a/", "k/o/"} {
			if !slices.Contains(places, class) {
				t.Errorf("before anything is deleted, no text is in %s: it is in %v", class, before)
			}
		}
	}

	for _, path := range []string{"/page", "/moved", "/twin", "/" + wordOfAddress} {
		do(func(b *api.Client, _ *Core) error { return b.DeletePage(ctx, origin+path) })
	}
	for _, name := range []string{"scraped", "files", "texts"} {
		do(func(b *api.Client, _ *Core) error {
			_, err := b.DeleteBase(ctx, name)
			return err
		})
	}
	do(func(b *api.Client, _ *Core) error { return b.DeleteNote(ctx, note) })
	for _, sel := range []api.Selection{{URL: origin + "/data"}, {Tag: "forgotten"}} {
		do(func(b *api.Client, _ *Core) error {
			_, err := b.Uncache(ctx, sel)
			return err
		})
	}
	do(func(b *api.Client, _ *Core) error {
		_, err := b.CompactStore(ctx)
		return err
	})
	after := textsOnDisk(t, dir, gone...)
	for _, w := range gone {
		if w == wordOfAddress[2:] {
			after[w] = slices.DeleteFunc(after[w], func(place string) bool { return place == ".jsonl" }) // the log of requests
		}
		if len(after[w]) > 0 {
			t.Errorf("%q is still on disk: in %v", w, after[w])
		}
	}
	if len(textsOnDisk(t, dir, wordOfKept[2:])) == 0 {
		t.Error("what was not deleted is nowhere on disk")
	}
}
