package store_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

func TestASummaryIsFoundByContentKindAndMaker(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, store.Options{Dir: dir})
	const url = "https://a.test/x"
	k := page.KeyOf(url)
	putPage(t, s, url, "one")
	sums := []store.Summary{
		{ContentHash: "one", Kind: "brief", By: "extract 1", Text: "Extracted."},
		{
			ContentHash: "one", Kind: "brief", By: "openai m 1", Text: "By a model.", Model: "m", Took: time.Second,
			PromptTokens: 100, CompletionTokens: 10,
		},
		{ContentHash: "one", Kind: "usage", By: "extract 1", Text: "Of another kind."},
	}
	for i, sum := range sums {
		sums[i].Time = time.Date(2026, 1, 2, 3, 4, i, 0, time.UTC)
		sum.Time = sums[i].Time
		if err := s.AddSummary(k, sum); err != nil {
			t.Fatal(err)
		}
	}
	again := sums[0]
	again.Text = "Extracted again."
	if err := s.AddSummary(k, again); err != nil {
		t.Fatal(err)
	}
	for pass := range 2 {
		for _, want := range []store.Summary{again, sums[1], sums[2]} {
			got, err := s.Summary(k, want.ContentHash, want.Kind, want.By)
			if err != nil {
				t.Fatalf("pass %d: Summary: %v", pass, err)
			}
			if diff := cmp.Diff(want, *got); diff != "" {
				t.Errorf("pass %d: summary (-want +got):\n%s", pass, diff)
			}
		}
		if diff := cmp.Diff([]store.Summary{again, sums[2], sums[1]}, s.Summaries(k)); diff != "" {
			t.Errorf("pass %d: all, newest first (-want +got):\n%s", pass, diff)
		}
		for _, none := range [][3]string{
			{"two", "brief", "extract 1"},
			{"one", "api", "extract 1"},
			{"one", "brief", "openai n 1"},
		} {
			if got, err := s.Summary(k, none[0], none[1], none[2]); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("pass %d: Summary(%v) = %v, %v, want ErrNotFound", pass, none, got, err)
			}
		}
		closeStore(t, s)
		s = openStore(t, store.Options{Dir: dir})
	}
}

func TestSummariesGoWithTheirContent(t *testing.T) {
	s := openStore(t, store.Options{})
	const url = "https://a.test/x"
	k := page.KeyOf(url)
	brief := func(content string) store.Summary {
		return store.Summary{ContentHash: content, Kind: "brief", By: "extract 1", Text: "Of " + content}
	}
	if err := s.AddSummary(k, brief("one")); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("of a page that is not stored: %v, want ErrNotFound", err)
	}
	for _, content := range []string{"zero", "one"} {
		putPage(t, s, url, content)
		if err := s.AddSummary(k, brief(content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.AddSummary(k, brief("never read")); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("of content that the page never had: %v, want ErrNotFound", err)
	}
	for i := range store.MaxVersions - 1 {
		putPage(t, s, url, fmt.Sprint("content ", i))
	}
	if list := s.Summaries(k); len(list) != 1 || list[0].ContentHash != "one" {
		t.Errorf("after the oldest version went: %v, want that of one alone", list)
	}
	if err := s.DeletePage(k); err != nil {
		t.Fatal(err)
	}
	if list, keys := s.Summaries(k), s.Keys("s/"); len(list) != 0 || len(keys) != 0 {
		t.Errorf("after the page was deleted: %v, keys %q, want none", list, keys)
	}
}

func TestSummariesOfAPageAreBounded(t *testing.T) {
	s := openStore(t, store.Options{})
	const url = "https://a.test/x"
	k := page.KeyOf(url)
	putPage(t, s, url, "one")
	text := strings.Repeat("\x01", 16<<10) // six times as long in JSON
	for _, tt := range []struct {
		name        string
		text        string
		n           int
		least, most int // of the list
	}{
		{"in number", "A summary.", 45, 40, 40},
		{"in bytes", text, 16, 5, 15},
	} {
		for i := range tt.n {
			if err := s.AddSummary(k, store.Summary{
				ContentHash: "one", Kind: "brief", By: fmt.Sprint(i),
				Text: tt.text,
			}); err != nil {
				t.Fatal(err)
			}
		}
		list, newest := s.Summaries(k), fmt.Sprint(tt.n-1)
		if len(list) < tt.least || len(list) > tt.most || list[0].By != newest || list[0].Text != tt.text {
			t.Errorf("%s: %d summaries, the newest by %q, want %d to %d, the newest by %s", tt.name, len(list), list[0].By,
				tt.least, tt.most, newest)
		}
	}
	if err := s.AddSummary(k, store.Summary{ContentHash: "one", Kind: "brief", Text: text + "x"}); err == nil {
		t.Error("a summary over 16 KiB was taken")
	}
}
