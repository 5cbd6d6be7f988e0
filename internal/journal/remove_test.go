package journal_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/readthru/readthru/internal/journal"
	"github.com/readthru/readthru/page"
)

func TestAHostThatIsRemovedStandsNowhere(t *testing.T) {
	o := journal.Options{Dir: filepath.Join(t.TempDir(), "requests"), Last: 100}
	naming := func(change func(*journal.Entry)) *journal.Entry {
		e := request("https://other.test/", 200, "miss")
		change(e)
		return e
	}
	gone := []*journal.Entry{
		request("https://a.test/x", 200, "miss"),
		request("http://A.test:8080/x?q=1", 200, "hit"),
		{Method: "CONNECT", URL: "a.test:443", Outcome: journal.Tunnelled, Time: request("", 0, "").Time},
		request("https://archive.test/web/2020/https://a.test/x", 200, "miss"),
		naming(func(e *journal.Entry) { e.Asked = "Referer: https://a.test/\n" }),
		naming(func(e *journal.Entry) { e.Answered = "Location: https://a.test/y\n" }),
		naming(func(e *journal.Entry) { e.Error = "dial a.test: no such host" }),
		naming(func(e *journal.Entry) { e.Attempts = []page.Attempt{{Step: "alternate", Reason: "a.test."}} }),
	}
	stay := []*journal.Entry{
		request("https://b.a.test/x", 200, "miss"),
		request("https://a.test.example/x", 200, "miss"),
		request("https://ba.test/x", 200, "miss"),
		request("https://other.test/a.testing", 200, "miss"),
	}
	round := func(j *journal.Journal) {
		for _, e := range slices.Concat(gone, stay) {
			j.Add(e)
		}
	}
	kept(t, o, round)
	cut := files(t, o.Dir)[0]
	whole, err := os.ReadFile(cut)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(cut, append(whole, `{"url":"https://a.test/cut off`...), 0o600); err != nil {
		t.Fatal(err)
	}
	want := []string{}
	for range 3 {
		for _, e := range stay {
			want = append(want, e.URL)
		}
	}
	kept(t, o, func(j *journal.Journal) {
		round(j)
		if _, _, damage := j.List(journal.Filter{}, "", 1000); len(damage) != 1 { // which is told once
			t.Errorf("damage: %q, want the request that is cut off", damage)
		}
		id := all(t, j, "", 100)
		n, err := j.Remove(journal.Naming("a.test"))
		if err != nil || n != 2*len(gone) {
			t.Errorf("%d requests were removed (%v), want %d of %q", n, err, 2*len(gone), id)
		}
		round(j)
		if n, err := j.Remove(journal.Naming("A.test")); err != nil || n != len(gone) {
			t.Errorf("%d requests were removed (%v), want %d", n, err, len(gone))
		}
		if got := all(t, j, "", 3); !slices.Equal(got, want) {
			t.Errorf("left are %q, want %q", got, want)
		}
		if got, _, _ := j.After(0, journal.Filter{}, 1000); !slices.Equal(urls(got), want[len(stay):]) {
			t.Errorf("in memory are %q, want %q", urls(got), want[len(stay):])
		}
	})
	for _, name := range files(t, o.Dir) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(text) {
			if !strings.Contains(string(line), "b.a.test") && bytes.Contains(line, []byte("//a.test/")) {
				t.Errorf("%s tells of it: %s", name, line)
			}
		}
	}
	if got := all(t, journal.New(o), "", 100); !slices.Equal(got, want) {
		t.Errorf("the next process lists %q, want %q", got, want)
	}
}

func TestALineThatWasCutOffGoesWithItsHost(t *testing.T) {
	o := journal.Options{Dir: t.TempDir()}
	whole := `{"id":"0000000100000001","url":"https://b.test/"}` + "\n"
	name := filepath.Join(o.Dir, "00000001-20261101-00000001.jsonl")
	if err := os.WriteFile(name, []byte(whole+`{"url":"https://a.test/cut off`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, host := range []string{"c.test", "a.test"} {
		t.Run(host, func(t *testing.T) {
			if n, err := journal.New(o).Remove(journal.Naming(host)); n != 0 || err != nil {
				t.Errorf("%d requests were removed, %v", n, err)
			}
			text, err := os.ReadFile(name)
			if err != nil || !strings.HasPrefix(string(text), whole) || host == "a.test" && string(text) != whole {
				t.Errorf("left is %q, %v", text, err)
			}
		})
	}
}

func TestRemovedRequestsAreNotFoundAndFreeTheirMemory(t *testing.T) {
	j := journal.New(journal.Options{})
	id := j.Add(request("https://a.test/", 200, "miss"))
	stays := j.Add(request("https://b.test/", 200, "miss"))
	for range 3 {
		if _, err := j.Remove(journal.Naming("a.test")); err != nil {
			t.Fatal(err)
		}
	}
	if _, ok := j.Find(id); ok {
		t.Error("a removed request is found")
	}
	if _, ok := j.Find(stays); !ok {
		t.Error("a request of another host is gone")
	}
	for range 12000 { // the ring goes around
		j.Add(request("https://c.test/", 200, "miss"))
	}
	if list, _, _ := j.List(journal.Filter{}, "", 10000); len(list) != 5000 {
		t.Errorf("%d requests are kept, want 5000", len(list))
	}
}
