package journal_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/readthru/readthru/internal/journal"
	"github.com/readthru/readthru/page"
)

func request(url string, status int, outcome string) *journal.Entry {
	return &journal.Entry{Time: time.Now(), Method: "GET", URL: url, Status: status, Outcome: outcome, Micros: 1500}
}

func urls(list []journal.Entry) (all []string) {
	for i := range list {
		all = append(all, list[i].URL)
	}
	return all
}

func TestRequestsAreListedInPartsNewestFirst(t *testing.T) {
	j := journal.New(journal.Options{})
	var want []string
	for i := range 1000 {
		url := fmt.Sprintf("https://a.test/%d", i)
		j.Add(request(url, 200, "miss"))
		want = append(want, url)
	}
	slices.Reverse(want)
	var got []string
	for cursor := ""; ; {
		list, next, _ := j.List(journal.Filter{}, cursor, 333)
		got = append(got, urls(list)...)
		if cursor = next; cursor == "" {
			break
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%d requests in parts, want %d", len(got), len(want))
	}
	if list, next, _ := j.List(journal.Filter{}, "0123456789abcdef", 5); len(list) != 0 || next != "" {
		t.Errorf("a cursor of another process gives %d requests", len(list))
	}
}

func TestTheJournalIsBounded(t *testing.T) {
	j := journal.New(journal.Options{})
	j.Add(request("https://a.test/first", 200, "miss"))
	first, _, _ := j.List(journal.Filter{}, "", 1)
	for range 5000 {
		j.Add(request("https://a.test/", 200, "miss"))
	}
	if list, _, _ := j.List(journal.Filter{}, "", 1<<20); len(list) != 5000 {
		t.Errorf("%d requests are kept, want 5000", len(list))
	}
	if _, ok := j.Find(first[0].ID); ok {
		t.Error("a request that was dropped is found")
	}
	for range 100 {
		e := request("https://a.test/", 200, "miss")
		e.Error = strings.Repeat("x", 1<<20)
		j.Add(e)
	}
	if list, _, _ := j.List(journal.Filter{}, "", 1<<20); len(list) > 16 || len(list) < 10 {
		t.Errorf("%d requests of 1 MiB are kept, want as many as 16 MiB hold", len(list))
	}
}

func TestARepetitionTellsItsOwnTime(t *testing.T) {
	j := journal.New(journal.Options{})
	e := request("https://a.test/", 200, "hit")
	e.BytesOut = 9
	j.Add(e)
	later := e.Time.Add(time.Hour)
	j.Again(e, later, 7*time.Microsecond, false)
	j.Again(e, later, 8*time.Microsecond, true)
	list, _, _ := j.List(journal.Filter{}, "", 10)
	if len(list) != 3 || list[2].Again || !list[1].Again || list[1].Micros != 7 || !list[1].Time.Equal(later) ||
		list[1].BytesOut != 9 || list[0].Error != journal.Gone || list[0].BytesOut != 0 {
		t.Errorf("requests %+v", list)
	}
	for i := range list {
		if got, ok := j.Find(list[i].ID); !ok || got.Micros != list[i].Micros {
			t.Errorf("find %s: %v, %+v", list[i].ID, ok, got)
		}
	}
}

func TestFilters(t *testing.T) {
	j := journal.New(journal.Options{})
	entries := []*journal.Entry{
		request("https://docs.a.test/guide", 200, "hit"), request("https://b.test/Guide", 404, "miss"),
		request("c.test:443", 200, "tunnel"), request("https://a.test/", 502, "failed"),
	}
	entries[2].Tunnel, entries[2].Method = `preset; category="banks"`, "CONNECT"
	entries[3].Why, entries[3].MS, entries[3].Session = "Connection error fetching", 250, "s1"
	entries[1].Attempts = []page.Attempt{{Step: "browser", Outcome: page.Answered}, {Step: "llm", Outcome: page.Skipped}}
	entries[3].Attempts = []page.Attempt{{Step: "markdown_new", Outcome: page.Failed}}
	for _, e := range entries {
		j.Add(e)
	}
	for filter, want := range map[string]string{
		"":                               "3 2 1 0",
		"guide":                          "1 0",
		"host:a.test":                    "3 0",
		"host:a.test:8080":               "3 0",
		"host:*.a.test":                  "0",
		"-host:a.test":                   "2 1",
		"host:c.test":                    "2",
		"status:404":                     "1",
		"status:>=400":                   "3 1",
		"status:2xx host:c.test":         "2",
		"outcome:hit":                    "0",
		"why:banks":                      "2",
		`why:"connection error"`:         "3",
		"method:connect":                 "2",
		"session:s1 why:error":           "3",
		"step:browser":                   "1",
		journal.Sent:                     "3",
		"status:404,5xx":                 "3 1",
		"host:a.test,c.test:443":         "3 2 0",
		"is:failed":                      "3 1",
		"method:get,connect -status:404": "3 2 0",
		"outcome:hit,tunnel":             "2 0",
		"door:mcp,cli":                   "",
		"https://b.test":                 "1",
		"-status:200 -status:404":        "3",
		"nothing-has-this-in-it":         "",
		"status:<300 -method:connect":    "0",
	} {
		f, err := journal.ParseFilter(filter)
		if err != nil {
			t.Errorf("%q: %v", filter, err)
			continue
		}
		list, _, _ := j.List(f, "", 10)
		var got []string
		for _, url := range urls(list) {
			got = append(got, fmt.Sprint(slices.IndexFunc(entries, func(e *journal.Entry) bool { return e.URL == url })))
		}
		if text := strings.Join(got, " "); text != want {
			t.Errorf("%q matches %q, want %q", filter, text, want)
		}
	}
	for _, bad := range []string{
		"status:abc", "status:4xx,abc", "outcome:bogus", "outcome:hit,bogus", "door:bogus", "method:bogus", "is:new",
		"colour:red", "ms:>x", "since:soon", "until:", "since:-1h",
	} {
		if _, err := journal.ParseFilter(bad); err == nil {
			t.Errorf("%q is taken for a filter", bad)
		}
	}
}

func TestFiltersOfTime(t *testing.T) {
	j := journal.New(journal.Options{})
	now := time.Now()
	for i, age := range []time.Duration{50 * time.Hour, 2 * time.Hour, time.Minute} {
		e := request(fmt.Sprintf("https://%d.test/", i), 200, "hit")
		e.Time = now.Add(-age)
		j.Add(e)
	}
	for filter, want := range map[string]int{
		"since:today until:today": 0,
		"since:1h":                1, "since:3h": 2, "since:7d": 3, "until:1h": 2, "since:3h until:1h": 1, "-since:1h": 2,
		"since:" + now.Add(-3*time.Hour).Format(time.RFC3339): 2, "since:2020-01-31 host:2.test": 1, "until:2020-01-31": 0,
	} {
		f, err := journal.ParseFilter(filter)
		if err != nil {
			t.Errorf("%q: %v", filter, err)
			continue
		}
		if list, _, _ := j.List(f, "", 10); len(list) != want {
			t.Errorf("%q matches %q, want %d", filter, urls(list), want)
		}
	}
	rest, times := journal.InTime(`why:"since: then" SINCE:1h host:a.test -until:2h`)
	if rest != `why:"since: then" host:a.test` || times != "SINCE:1h -until:2h" {
		t.Errorf("parted: %q, %q", rest, times)
	}
}

func TestAWatcherGetsTheLastOnesAndHowManyWereDropped(t *testing.T) {
	j := journal.New(journal.Options{})
	j.Add(request("https://a.test/before", 200, "hit"))
	from := j.Last()
	if list, last, dropped := j.After(from, journal.Filter{}, 10); len(list) != 0 || last != from || dropped != 0 {
		t.Errorf("%d requests, %d dropped, where none is new", len(list), dropped)
	}
	for i := range 30 {
		j.Add(request(fmt.Sprint("https://a.test/", i), 200, "hit"))
	}
	list, last, dropped := j.After(from, journal.Filter{}, 10)
	if len(list) != 10 || dropped != 20 || last != from+30 || list[9].URL != "https://a.test/29" {
		t.Errorf("%d requests, %d dropped, last %d %v", len(list), dropped, last, urls(list))
	}
	const many = 5200 // 200 more than there is room for
	for i := range many {
		j.Add(request(fmt.Sprint("https://a.test/", i), 200, "hit"))
	}
	if list, _, dropped := j.After(last, journal.Filter{}, 10); len(list) != 10 || len(list)+dropped != many {
		t.Errorf("of %d requests %d were told and %d dropped", many, len(list), dropped)
	}
	none, err := journal.ParseFilter("host:b.test")
	if err != nil {
		t.Fatal(err)
	}
	if list, _, dropped := j.After(last, none, 10); len(list) != 0 || dropped != 200 {
		t.Errorf("%d match, %d may have", len(list), dropped)
	}
}

func TestFieldsAreMasked(t *testing.T) {
	asked := journal.RequestFields(http.Header{
		"Accept": {"*/*"}, "Authorization": {"Bearer s3cret"}, "Cookie": {"id=s3cret"}, "X-Api-Key": {"s3cret"},
		"Referer": {"https://a.test/?token=s3cret"}, "X-Readthru-Mode": {"raw"}, "Proxy-Authorization": {"Basic s3cret"},
	})
	answered := journal.ResponseFields(http.Header{
		"Set-Cookie": {"id=s3cret"}, "Location": {"https://u:s3cret@a.test/?token=s3cret"}, "Content-Type": {"text/html"},
		"Link": {`</next?api_key=s3cret>; rel="next", <https://a.test/?access_token=s3cret>; rel="prev"`},
	})
	if text := string(asked + answered); strings.Contains(text, "s3cret") {
		t.Errorf("fields tell a secret:\n%s", text)
	}
	for _, want := range []string{"Accept: */*\n", "X-Readthru-Mode: raw\n", "Cookie: ***\n", "X-Api-Key: ***\n"} {
		if !strings.Contains(string(asked), want) {
			t.Errorf("fields lack %q:\n%s", want, asked)
		}
	}
}

func TestAnArchiveIsWhatToolsRead(t *testing.T) {
	e := request("https://a.test/x?a=1", 302, "miss")
	e.Asked, e.Answered = "Accept: */*\n", "Location: /y\nContent-Type: text/html\n"
	var b bytes.Buffer
	if err := journal.WriteHAR(&b, "v1", slices.Values([]journal.Entry{*e})); err != nil {
		t.Fatal(err)
	}
	var har struct {
		Log struct {
			Version string
			Entries []struct {
				StartedDateTime time.Time
				Time            float64
				Request         struct {
					URL                  string
					Headers, QueryString []struct{ Name, Value string }
				}
				Response struct {
					Status      int
					RedirectURL string
				}
				Readthru journal.Entry `json:"_readthru"`
			}
		}
	}
	if err := json.Unmarshal(b.Bytes(), &har); err != nil {
		t.Fatal(err)
	}
	got := har.Log.Entries[0]
	if har.Log.Version != "1.2" || got.Time != 1.5 || got.Request.URL != e.URL ||
		got.Request.QueryString[0].Name != "a" ||
		got.Response.Status != 302 || got.Response.RedirectURL != "/y" || got.Readthru.Outcome != "miss" ||
		!strings.Contains(string(got.Readthru.Answered), "Location: /y\n") {
		t.Errorf("archive %s", b.String())
	}
}

func TestReadersAndWritersDoNotDisturbEachOther(t *testing.T) {
	j := journal.New(journal.Options{})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 3000 {
				j.Add(request("https://a.test/", 200, "hit"))
			}
		})
		wg.Go(func() {
			for range 20 {
				list, _, _ := j.List(journal.Filter{}, "", 100)
				for i := range list {
					if list[i].URL == "" {
						t.Error("an empty request is listed")
					}
				}
			}
		})
	}
	wg.Wait()
	if j.Last() != 12000 {
		t.Errorf("%d requests, want 12000", j.Last())
	}
}

// BenchmarkTell is what the story of a request costs: of one that is answered again, also while the last ones are kept
// on disk, and of one that net/http answers.
func BenchmarkTell(b *testing.B) {
	asked := http.Header{"Accept": {"*/*"}, "User-Agent": {"curl/8.5.0"}, "Accept-Encoding": {"gzip"}}
	answered := http.Header{
		"Content-Type": {"text/markdown; charset=utf-8"}, "Etag": {`"abcdef"`},
		"Cache-Status": {"readthru; hit; ttl=86399"},
		"Vary":         {"Accept"}, "X-Markdown-Tokens": {"812"}, "Via": {"1.1 readthru"}, "Content-Length": {"3024"},
		"X-Readthru-Source": {"local"}, "X-Readthru-Doc": {"0123456789abcdef"}, "Date": {"Mon, 23 Nov 2026 03:00:00 GMT"},
	}
	j := journal.New(journal.Options{})
	e := request("https://a.test/docs/page", 200, "hit")
	now := time.Now()
	b.Run("again", func(b *testing.B) {
		for b.Loop() {
			j.Again(e, now, time.Microsecond, false)
		}
	})
	b.Run("again, kept", func(b *testing.B) {
		j := journal.New(journal.Options{Dir: b.TempDir(), Last: 5000})
		e := request("https://a.test/docs/page", 200, "hit")
		e.Asked, e.Answered = journal.RequestFields(asked), journal.ResponseFields(answered)
		ctx, stop := context.WithCancel(b.Context())
		done := make(chan error)
		go func() { done <- j.Run(ctx) }()
		for b.Loop() {
			j.Again(e, now, time.Microsecond, false)
		}
		stop()
		if err := <-done; err != nil {
			b.Error(err)
		}
	})
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			e := request("https://a.test/docs/page", 200, "hit")
			e.Asked, e.Answered = journal.RequestFields(asked), journal.ResponseFields(answered)
			j.Add(e)
		}
	})
}
