package journal_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/readthru/readthru/internal/journal"
	"github.com/readthru/readthru/page"
)

// TestFiltersFindTheSameInFilesAsInMemory: lines of files are looked at before they are decoded, and what a filter
// matches must not be left out by that.
func TestFiltersFindTheSameInFilesAsInMemory(t *testing.T) {
	o := journal.Options{Dir: filepath.Join(t.TempDir(), "requests"), Last: 1000}
	texts := []string{
		"plain", "UPPER", `quo"ted`, `back\slash`, "<tag>&amp;", "ümlaut", "\"ms\":7", "tab\there", "a b",
		`"outcome":"hit"`, `\u003c`, "é", "İ",
	}
	outcomes := []string{"hit", "miss", "failed", "tunnel", ""}
	var told []*journal.Entry
	for i, text := range texts {
		for n := range 5 {
			e := request(fmt.Sprintf("https://Host%d.test:8443/x?q=%s", i, text), []int{200, 404, 502, 0, 301}[n], outcomes[n])
			e.Door = []string{"", journal.DoorProxy, journal.DoorMCP, journal.DoorCrawl, journal.DoorHook}[n]
			e.MS, e.Micros, e.Tokens, e.BytesOut = int64(n*700), int64(n*700000), n*5000, int64(n*20000)
			e.Why, e.Error, e.Session, e.Agent, e.User = text, text, text, text, text
			e.Warnings, e.Type, e.Source, e.Client = []string{text}, text, text, "127.0.0.1"
			e.Attempts = []page.Attempt{
				{Step: "llm", Outcome: page.Skipped, MS: 9999}, {Step: []string{"local", "llm"}[n%2], Outcome: "answered", MS: 5},
			}
			e.Asked, e.Answered = journal.Fields("Referer: "+text+"\n"), journal.Fields("Etag: \"ms\":8000\n")
			e.Time = time.Now().Add(-time.Duration(len(told)) * time.Hour).In(time.FixedZone("", 3600*n))
			told = append(told, e)
		}
	}
	kept(t, o, func(j *journal.Journal) {
		for _, e := range told {
			j.Add(e)
		}
	})
	files := journal.New(o)
	filters := []string{
		"", "host:host3.test", "host:HOST3.test:8443", "host:*.test", "host:test", "-host:host3.test", "outcome:hit",
		"outcome:HIT", "outcome:hit,failed", "host:host3.test,host4.test", "status:4xx,301", "door:mcp,crawl",
		"door:mcp,proxy", "is:failed", "method:get,post",
		"-outcome:miss", "door:mcp", "door:proxy", "-door:crawl", "ms:>1000", "ms:0", "ms:<1",
		"-ms:>1000", "tokens:>9000", "tokens:0", "bytes:<=20000", "status:4xx", "status:0", "status:>=400", "step:llm",
		"step:local", "step:llm,local", "step:none", "method:get", "client:127", "https://host3.test", "-plain",
		journal.Sent, "since:90m", "until:30h", "since:40h until:20h", "-since:20h", "since:2d status:404",
	}
	for _, text := range texts {
		for _, term := range []string{
			"", "why:", "session:", "agent:", "user:", "warning:", "type:", "source:", "url:", "-why:",
		} {
			filters = append(filters, fmt.Sprintf("%s%q", term, text), term+text)
		}
	}
	for _, text := range filters {
		f, err := journal.ParseFilter(text)
		if err != nil {
			continue // as in memory
		}
		want := []string{}
		for _, e := range slices.Backward(told) {
			e := *e
			if e.Door == "" {
				e.Door = journal.DoorProxy // so it is read
			}
			if f.Match(&e) {
				want = append(want, e.URL)
			}
		}
		list, next, damage := files.List(f, "", 1000)
		if got := urls(list); next != "" || len(damage) > 0 || !slices.Equal(got, want) {
			t.Errorf("%s finds %d requests (%q, %q), want %d", text, len(got), next, damage, len(want))
		}
	}
}

// BenchmarkAFilterThatMatchesLittle looks for the requests of one of a thousand hosts among those of files.
func BenchmarkAFilterThatMatchesLittle(b *testing.B) {
	o := journal.Options{Dir: b.TempDir(), Days: 1}
	j := journal.New(o)
	for i := range 4000 {
		e := request(fmt.Sprintf("https://host%d.test/docs/section/page-%d.html", i%1000, i), 200, "miss")
		e.Why = "The cache had nothing for this URL, so the origin was asked."
		e.Asked = "Accept: */*\nUser-Agent: curl/8\nAccept-Encoding: gzip\n"
		e.Answered = "Content-Type: text/html\nCache-Control: max-age=600\nEtag: \"abcdef\"\nDate: now\n"
		e.Attempts = []page.Attempt{{Step: "negotiate", Outcome: page.Skipped, Reason: "the origin answered HTML"}}
		e.Time = time.Now()
		j.Add(e)
	}
	j.Close()
	f, err := journal.ParseFilter("host:host500.test")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if list, _, _ := journal.New(o).List(f, "", 50); len(list) != 4 {
			b.Fatalf("%d requests", len(list))
		}
	}
}
