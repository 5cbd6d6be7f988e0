package statement

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/readthru/readthru/internal/processor"
	"github.com/readthru/readthru/knowledge/index"
	"github.com/readthru/readthru/knowledge/outline"
)

const guide = `# Volume snapshots

A volume snapshot is a copy of a storage volume. The snapshot controller watches volume snapshots.
See the [driver reference](https://a.test/d) and ` + "`VolumeSnapshotClass`" + `.

## Troubleshooting restore errors

The restore fails when the storage class is missing. Amazon Web Services needs another driver.

### Workaround

Set ` + "`--restore-mode`" + ` first:

` + "```yaml" + `
kind: VolumeRestore
spec:
  volumeRestore: a
  fallback: VolumeRestore
` + "```" + `
`

func TestWithoutAModelAPassageIsDescribedByItsOwnWords(t *testing.T) {
	d := &index.Document{Title: "Guide", Host: "www.docs.test", Subjects: []string{"snapshotter"}, Markdown: []byte(guide)}
	passages := outline.Split(d.Markdown, outline.SplitOptions{MaxChars: 320})
	list := Local(d, passages)
	all := Statement{}
	for i := range list {
		s := list[i]
		all.Domains = append(all.Domains, s.Domains...)
		all.Entities = append(all.Entities, s.Entities...)
		all.Problems = append(all.Problems, s.Problems...)
		all.Resolutions = append(all.Resolutions, s.Resolutions...)
		all.Contexts = append(all.Contexts, s.Contexts...)
		if s.Frame != "CAUSAL" || s.Confidence != localConfidence {
			t.Errorf("frame %s, confidence %v, want CAUSAL and %v", s.Frame, s.Confidence, localConfidence)
		}
	}
	for name, want := range map[string]struct {
		list  []string
		items []string
	}{
		"domains": {all.Domains, []string{"snapshotter"}},
		"entities": {all.Entities, []string{
			"VolumeSnapshotClass", "driver reference", "Amazon Web Services",
			"--restore-mode", "VolumeRestore",
		}},
		"problems":    {all.Problems, []string{"Troubleshooting restore errors"}},
		"resolutions": {all.Resolutions, []string{"Workaround"}},
		"contexts":    {all.Contexts, []string{"Volume snapshots", "Troubleshooting restore errors"}},
	} {
		for _, item := range want.items {
			if !slices.Contains(want.list, item) {
				t.Errorf("%s = %q, want %q among them", name, want.list, item)
			}
		}
	}
}

// TestSubjectsAreWordsThatPeopleUse: a page full of addresses is about what it says of them.
func TestSubjectsAreWordsThatPeopleUse(t *testing.T) {
	md := strings.Repeat("Get https://www.docs.test/a/index.html or [docs.test](https://docs.test/b.html), "+
		"then see ![a picture](pic.html) and [the cache manual](../manual.html#top) at mirror.docs.test.\n"+
		"HTML over https is told by `docs.test` and by Node.js.\n\n", 4) +
		"```\ncurl https://api.docs.test/v1/x.html\ncurl https://api.docs.test/v1/y.html\n```\n"
	d := &index.Document{Title: "https://www.docs.test/", Host: "www.docs.test", Markdown: []byte(md)}
	list := Subjects(Local(d, outline.Split(d.Markdown, outline.SplitOptions{})))
	for _, s := range list {
		switch fold := strings.ToLower(s); {
		case strings.Contains(fold, "docs.test"), strings.Contains(fold, "://"), fold == "http", fold == "https",
			fold == "html", fold == "test", strings.HasSuffix(fold, ".html"):
			t.Errorf("subject %q is an address", s)
		}
	}
	for _, want := range []string{"the cache manual", "Node.js"} {
		if !slices.Contains(list, want) {
			t.Errorf("subjects %q, want %q among them", list, want)
		}
	}
}

func TestDescribingTheSameTwiceGivesTheSame(t *testing.T) {
	d := &index.Document{Title: "Guide"}
	d.Markdown = []byte(guide + strings.Repeat("\nAlpha beta. Gamma delta. Epsilon zeta.\n", 50))
	passages := outline.Split(d.Markdown, outline.SplitOptions{})
	first := Local(d, passages)
	for range 5 {
		again := Local(d, passages)
		for i := range first {
			if !slices.Equal(first[i].Entities, again[i].Entities) || !slices.Equal(first[i].Domains, again[i].Domains) {
				t.Fatalf("passage %d: %q and %q, then %q and %q", i, first[i].Entities, first[i].Domains, again[i].Entities,
					again[i].Domains)
			}
		}
	}
}

func TestPhrasesStandBetweenStopWordsAndPunctuation(t *testing.T) {
	for text, want := range map[string][]string{
		"The snapshot controller watches the storage class.": {"snapshot controller watches", "storage class"},
		"The thing itself is once more of use":               nil,
		"an API":                                             nil, // three letters say little
		"use rate-limiting":                                  {"rate-limiting"},
		"Größe der Tabelle":                                  {"Größe der Tabelle"},
		"12 345":                                             nil,
		"":                                                   nil,
	} {
		if got := candidatePhrases(text); !slices.Equal(got, want) {
			t.Errorf("candidatePhrases(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestHostileProseIsDescribedInTime(t *testing.T) {
	for name, unit := range map[string]string{
		"brackets": "[", "links": "[a b c](", "backticks": "`", "capitals": "Aa Bb ", "words": "alpha beta gamma, ",
		"fences": "```\n", "one word": "a",
		"broken UTF-8": "\xff\xc0 ",
	} {
		md := []byte(strings.Repeat(unit, 50_000/len(unit)))
		begun := processor.Time()
		d := &index.Document{Title: unit, Markdown: md}
		for _, s := range Local(d, outline.Split(md, outline.SplitOptions{})) {
			for _, item := range append(s.Entities, s.Domains...) {
				if !utf8.ValidString(item) || len(item) > maxItemBytes {
					t.Errorf("%s: item %q", name, item)
				}
			}
			if len(s.Entities) > MaxItems {
				t.Errorf("%s: %d entities", name, len(s.Entities))
			}
		}
		if used := processor.Time() - begun; used > 30*time.Second {
			t.Errorf("%s: %v of processor time for 50 KB", name, used)
		}
	}
}

func FuzzLocalStatements(f *testing.F) {
	f.Add([]byte(guide))
	f.Add([]byte("```\nfoo_bar foo_bar\n"))
	f.Add([]byte("\xff[`\x00](`Ab Cd"))
	f.Fuzz(func(t *testing.T, md []byte) {
		d := &index.Document{Title: "T", Host: "a.test", Markdown: md}
		for _, s := range Local(d, outline.Split(md, outline.SplitOptions{MaxChars: 200})) {
			before := s
			s.Tidy()
			if !slices.Equal(before.Entities, s.Entities) || !slices.Equal(before.Domains, s.Domains) ||
				!slices.Equal(before.Contexts, s.Contexts) {
				t.Errorf("statement is not tidy: %+v, tidied %+v", before, s)
			}
		}
	})
}

func TestAForeignStatementIsBroughtWithinBounds(t *testing.T) {
	s := Statement{
		NormalizedText: "a\x1b[31m  b\u202e" + strings.Repeat("x", 5000), Frame: "drop table", Confidence: 7,
		Domains: []string{" Go ", "go", "GO", "", strings.Repeat("y", 500)}, Entities: slices.Repeat([]string{"a", "b"}, 100),
	}
	for i := range 100 {
		s.Problems = append(s.Problems, strings.Repeat("p", i+1))
	}
	s.Tidy()
	switch {
	case !strings.HasPrefix(s.NormalizedText, "a[31m bx"), len(s.NormalizedText) > maxStatementLen:
		t.Errorf("text = %.40q… of %d bytes", s.NormalizedText, len(s.NormalizedText))
	case s.Frame != "CAUSAL", s.Confidence != 1:
		t.Errorf("frame %q, confidence %v, want the defaults", s.Frame, s.Confidence)
	case !slices.Equal(s.Domains, []string{"Go"}), !slices.Equal(s.Entities, []string{"a", "b"}),
		len(s.Problems) != MaxItems:
		t.Errorf("lists = %q, %q, %d problems", s.Domains, s.Entities, len(s.Problems))
	case s.Resolutions == nil, s.Contexts == nil:
		t.Error("an empty list is nil")
	}
}

func TestSubjectsThatDifferInCaseAndSpaceAreOne(t *testing.T) {
	list := Subjects([]Statement{
		{Domains: []string{"Storage Class"}, Entities: []string{"storage  class", "CSI"}},
		{Entities: []string{"csi"}},
	})
	if !slices.Equal(list, []string{"Storage Class", "CSI"}) {
		t.Errorf("subjects = %q", list)
	}
}
