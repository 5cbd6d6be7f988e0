package journal_test

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/readthru/readthru/internal/journal"
)

func TestARequestCountsForTheSessionThatItBelongsTo(t *testing.T) {
	o := journal.Options{Dir: filepath.Join(t.TempDir(), "requests"), Days: 3}
	// The rows of sessions are those that were counted, but for what is hidden.
	rows := func(j *journal.Journal, kind string) {
		for filter, want := range map[string]int{
			"session:s1": 4, "session:default": 3, "session:ann+default": 1, "session:efau": 3, "-session:default": 4,
			"session:ann": 1,
		} {
			if got := all(t, j, filter, 100); len(got) != want {
				t.Errorf("%s, %s: %d rows, want %d", kind, filter, len(got), want)
			}
		}
	}
	kept(t, o, func(j *journal.Journal) {
		for _, e := range []journal.Entry{
			{
				Door: "proxy", Session: "s1", Method: "GET", Status: 200, Outcome: "hit", Doc: "1", Visit: true, Tokens: 5,
				HTMLTokens: 9,
			},
			{Door: "proxy", Session: "s1", Method: "GET", Status: 101},
			{Door: "proxy", Session: "s1", Method: "CONNECT", Status: 200, Tunnel: "preset"},
			{Door: "proxy", Session: "s1", Method: "CONNECT", Status: 200, Outcome: journal.Failed, Error: "it went away"},
			{Door: "cli", Method: "GET", Status: 200, Doc: "2", Visit: true, Tokens: 7},
			{Door: "firecrawl", Method: "GET", Status: 502},
			{Door: "mcp", User: "ann", Method: "GET", Status: 200},
			{Door: "api", User: "ann", Session: "ann+x", Method: "GET", Status: 200, Hidden: true},
		} {
			e.URL = "https://a.test/"
			j.Add(&e)
		}
		want := []journal.NamedSession{
			{Name: "ann+x", SessionStats: journal.SessionStats{Requests: 1}},
			{Name: "ann+default", SessionStats: journal.SessionStats{Requests: 1}},
			{Name: "default", SessionStats: journal.SessionStats{Requests: 2, Pages: 1, Errors: 1, Tokens: 7, HTMLTokens: 7}},
			{Name: "s1", SessionStats: journal.SessionStats{
				Requests: 3, Pages: 1, Hits: 1, Errors: 1, Tunnels: 2, Tokens: 5, HTMLTokens: 9,
			}},
		}
		if diff := cmp.Diff(want, j.Sessions()); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		if got := j.Session("s1"); got != want[3].SessionStats {
			t.Errorf("Session = %+v", got)
		}
		rows(j, "in memory")
	})
	rows(journal.New(o), "in files")
}
