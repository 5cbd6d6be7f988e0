package outline_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/readthru/readthru/knowledge/outline"
)

func TestChangesNamesTheSectionsThatDiffer(t *testing.T) {
	const old = "Intro.\n\n# Guide\n\nWelcome.\n\n## Install\n\nRun `make`.\n\n## Use\n\nCall it.\n\n## Gone\n\nOld news.\n"
	kept, _, _ := strings.Cut(old, "## Gone")
	added := func(heading, fragment, text string) outline.SectionChange {
		return outline.SectionChange{Kind: outline.SectionAdded, Heading: heading, Fragment: fragment, Text: text}
	}
	for _, tt := range []struct {
		name       string
		old, newer string
		want       []outline.SectionChange
	}{
		{"the same text has no changes", old, old, nil},
		{"white space alone is no change", old, strings.ReplaceAll(old, "\n\n", "\n\n\n"), nil},
		{"both empty", "", "", nil},
		{"all is new", "", "# A\n\nText.\n", []outline.SectionChange{added("A", "a", "# A\n\nText.")}},
		{
			"a paragraph changed", old, strings.Replace(old, "Run `make`.", "Run `make all`.", 1),
			[]outline.SectionChange{{
				Kind: outline.SectionChanged, Heading: "Guide › Install", Fragment: "install",
				Text: "## Install\n\nRun `make all`.", Removed: 1,
			}},
		},
		{
			"a section went", old, kept,
			[]outline.SectionChange{{Kind: outline.SectionRemoved, Heading: "Guide › Gone"}},
		},
		{
			"a section came, with a heading that was there already", old, old + "\n## Use\n\nCall it twice.\n",
			[]outline.SectionChange{added("Guide › Use", "use-1", "## Use\n\nCall it twice.")},
		},
		{"sections that only moved have not changed", "# A\n\none\n\n# B\n\ntwo\n", "# B\n\ntwo\n\n# A\n\none\n", nil},
		{
			"children of a heading that got another name have not changed", "# Old\n\n## Child\n\ntext\n",
			"# New\n\n## Child\n\ntext\n",
			[]outline.SectionChange{added("New", "new", "# New"), {Kind: outline.SectionRemoved, Heading: "Old"}},
		},
		{
			"text before the first heading", old, strings.Replace(old, "Intro.", "Hello.", 1),
			[]outline.SectionChange{{Kind: outline.SectionChanged, Text: "Hello.", Removed: 1}},
		},
		{"a heading in a fence is none", "# A\n\n```\n# x\n```\n", "# A\n\n```\n# y\n```\n", []outline.SectionChange{
			{Kind: outline.SectionChanged, Heading: "A", Fragment: "a", Text: "# A\n\n```\n# y\n```", Removed: 1},
		}},
	} {
		if diff := cmp.Diff(tt.want, outline.Changes([]byte(tt.old), []byte(tt.newer))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestALongSectionShowsWhatChangedInIt(t *testing.T) {
	var paragraphs, items, table strings.Builder
	table.WriteString("| key | value |\n|---|---|\n")
	for i := range 200 {
		fmt.Fprintf(&paragraphs, "Paragraph %d tells about the weather.\n\n", i)
		fmt.Fprintf(&items, "- item %d of the list\n", i)
		fmt.Fprintf(&table, "| k%d | v%d |\n", i, i)
	}
	for _, tt := range []struct {
		name, text, from, to string
		holds                []string
	}{
		{
			"a paragraph", paragraphs.String(), "Paragraph 100 tells", "Paragraph 100 now tells",
			[]string{
				"Paragraph 99 tells", "Paragraph 100 now tells", "Paragraph 101 tells", "[… 99 unchanged …]",
				"[… 98 unchanged …]",
			},
		},
		{
			"an item of a list", items.String(), "item 7 of", "item 7 from",
			[]string{"- item 6 of the list\n- item 7 from the list\n- item 8 of the list"},
		},
		{
			"a row of a table, with its head", table.String(), "| v150 |", "| w150 |",
			[]string{"| key | value |\n|---|---|", "| k150 | w150 |"},
		},
	} {
		older := "# Log\n\n" + tt.text
		got := outline.Changes([]byte(older), []byte(strings.Replace(older, tt.from, tt.to, 1)))
		if len(got) != 1 || got[0].Kind != outline.SectionChanged || got[0].Removed != 1 ||
			!strings.HasPrefix(got[0].Text, "# Log\n") {
			t.Errorf("%s: %+v, want one change of section Log", tt.name, got)
			continue
		}
		if len(got[0].Text) > 400 {
			t.Errorf("%s: %d bytes of %d are shown, want a few", tt.name, len(got[0].Text), len(older))
		}
		for _, part := range tt.holds {
			if !strings.Contains(got[0].Text, part) {
				t.Errorf("%s: %q lacks %q", tt.name, got[0].Text, part)
			}
		}
	}
}

func FuzzChanges(f *testing.F) {
	f.Add("# A\n\ntext\n", "# A\n\nother\n")
	f.Add("| a |\n|---|\n| 1 |\n", "- x\n- y\n\n```\n# z")
	f.Fuzz(func(t *testing.T, older, newer string) {
		if got := outline.Changes([]byte(newer), []byte(newer)); got != nil {
			t.Errorf("a text differs from itself: %+v", got)
		}
		for _, c := range outline.Changes([]byte(older), []byte(newer)) {
			if (c.Kind == outline.SectionRemoved) != (c.Text == "") {
				t.Errorf("%+v: text stands with what is there, and only with that", c)
			}
		}
	})
}
