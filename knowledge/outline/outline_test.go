package outline_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/readthru/readthru/knowledge/outline"
)

func TestOutlineAndSections(t *testing.T) {
	md := []byte("intro\n\n# Guide\n\na\n\n## Install `it`\n\nb\n\n```\n# no heading\n```\n\n## Use\n\nc\n\n" +
		"## Install it\n\nd\n\nOther\n=====\n\ne\n\n## Größe & 文字!\n")
	var got []string
	for _, h := range outline.Of(md) {
		got = append(got, strings.Repeat("#", h.Level)+" "+h.Title+" "+h.Fragment)
	}
	want := []string{
		"# Guide guide", "## Install it install-it", "## Use use", "## Install it install-it-1",
		"# Other other", "## Größe & 文字! größe--文字",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Outline (-want +got):\n%s", diff)
	}
	for name, want := range map[string]string{
		"#install-it":         "## Install `it`\n\nb\n\n```\n# no heading\n```",
		"Install it":          "## Install `it`\n\nb\n\n```\n# no heading\n```",
		"install-it-1":        "## Install it\n\nd",
		"guide > USE":         "## Use\n\nc",
		"Other › Größe & 文字!": "## Größe & 文字!",
		"## use":              "## Use\n\nc",
		"größe":               "## Größe & 文字!",
	} {
		h, err := outline.Section(md, name, nil)
		if err != nil {
			t.Errorf("Section(%q): %v", name, err)
		} else if got := strings.TrimSpace(string(md[h.Start:h.End])); got != want {
			t.Errorf("Section(%q) = %q, want %q", name, got, want)
		}
	}
	for _, name := range []string{"", "#", "nope"} {
		if _, err := outline.Section(md, name, nil); !errors.Is(err, outline.ErrNoSection) {
			t.Errorf("Section(%q): error %v, want ErrNotFound", name, err)
		}
	}
	if _, err := outline.Section(md, "nope", nil); err == nil || !strings.Contains(err.Error(), "install-it") {
		t.Errorf("error %v, want it to name the headings", err)
	}
	if n := len(outline.Of([]byte(strings.Repeat("# a\n## a\n", 50_000)))); n != 100_000 {
		t.Errorf("outline of 100,000 headings has %d", n)
	}
}

func TestTitleText(t *testing.T) {
	for md, want := range map[string]string{
		" Install ##":                     "Install",
		"`useEffect()` and **bold**":      "useEffect() and bold",
		"[link](https://a.test/(x)) here": "link here",
		"[![badge](b.svg)](x) Name":       "badge Name",
		"array[0] and foo[]":              "array[0] and foo[]",
		"a * b, SELECT *":                 "a * b, SELECT *",
		"Title {#custom-id}":              "Title",
		"x<br/>y &amp; z \\* \\#":         "xy & z * #",
		"snake_case_name":                 "snake_case_name",
		"a\u00a0\u00a0b":                  "a b",
		strings.Repeat("ä", 300):          strings.Repeat("ä", 200) + "…",
		"C#":                              "C#",
		"~~old~~ new":                     "old new",
		"<script>alert(1)</script> x":     "alert(1) x",
		strings.Repeat("[", 5000) + "x":   strings.Repeat("[", 200) + "…",
	} {
		if got := outline.TitleText([]byte(md)); got != want {
			t.Errorf("TitleText(%.40q) = %.60q, want %.60q", md, got, want)
		}
	}
}
