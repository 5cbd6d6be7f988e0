package outline

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/readthru/readthru/page"
)

const reference = `# tools

Words.

## Functions

reduce(*f*, x)
: Applies f.

  ` + "```" + `
  reduce(f)
  ` + "```" + `

-n
--dry-run
: Shows it.

class Queue
: A queue.

  Queue.put(x)
  : Puts x.

  Queue.get()
  : Gets one.

  More of the class.

After the definitions.

### Notes

Words.

## Functions

Other words.
`

func TestLandmarksAreHeadingsAndTerms(t *testing.T) {
	var got []string
	list := Landmarks([]byte(reference))
	for i, l := range list {
		text := strings.Fields(reference[l.Start:l.end])
		got = append(got, fmt.Sprintf("%d %s … %s", l.level, PathOf(list, i), text[len(text)-1]))
	}
	want := []string{
		"1 tools … words.",
		"2 tools › Functions … Words.",
		"0 tools › Functions › reduce(f, x) … ```",
		"0 tools › Functions › -n, --dry-run … it.",
		"0 tools › Functions › class Queue … class.",
		"0 tools › Functions › class Queue › Queue.put(x) … x.",
		"0 tools › Functions › class Queue › Queue.get() … one.",
		"3 tools › Functions › Notes … Words.",
		"2 tools › Functions … words.",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, tt := range []struct{ at, want string }{
		{"Applies f", "reduce(f, x)"},
		{"More of the class", "class Queue"},
		{"After the def", "Functions"},
		{"# tools", "tools"},
	} {
		i := LandmarkAt(list, strings.Index(reference, tt.at))
		if i < 0 || list[i].title() != tt.want {
			t.Errorf("landmark at %q is %d, want %s", tt.at, i, tt.want)
		}
	}
	if i := LandmarkAt(Landmarks([]byte("Words.\n\n# A")), 0); i != -1 {
		t.Errorf("landmark before the first heading = %d, want none", i)
	}
}

// A passage stands under the term that is being defined where it begins, and under no other.
func TestPassagesStandUnderTerms(t *testing.T) {
	long := strings.Repeat("More of what is to be said. ", 80)
	md := "# tools\n\nclass Queue\n: A queue. " + long + "\n\n  Queue.put(x)\n  : Puts x. " + long + "\n\n  " + long +
		"\n\n  Words of the class. " + long + "\n\nWords of tools. " + long + "\n\nreduce(*f*)\n: Reduces. " + long +
		"\n\n## Notes\n\nA note. " + long
	var got []string
	for _, p := range Split([]byte(md), SplitOptions{}) {
		got = append(got, strings.Join(p.Path, " › "))
	}
	want := []string{
		"tools › class Queue",
		"tools › class Queue › Queue.put(x)",
		"tools › class Queue",
		"tools › class Queue",
		"tools",
		"tools › reduce(f)",
		"tools › Notes",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// What follows a box beside the text does not stand under the box's title.
func TestBoxesAreNoLandmarks(t *testing.T) {
	long := strings.Repeat("More of what is to be said. ", 80)
	md := "# pg_dump\n\n## Options\n\n" + long + "\n\n### Note\n\nA box. " + long + "\n\n## Notes\n\n" + long
	var got []string
	for _, p := range Split([]byte(md), SplitOptions{}) {
		got = append(got, strings.Join(p.Path, " › "))
	}
	if diff := cmp.Diff([]string{"pg_dump › Options", "pg_dump › Options", "pg_dump › Notes"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if list := Landmarks([]byte(md)); len(list) != 3 || PathOf(list, 2) != "pg_dump › Notes" {
		t.Errorf("the landmarks are %+v", list)
	}
}

func TestAnchorOf(t *testing.T) {
	anchors := func(list ...string) (all []page.Anchor) {
		for _, a := range list {
			id, text, _ := strings.Cut(a, "=")
			all = append(all, page.Anchor{ID: id, Text: text})
		}
		return all
	}
	for _, tt := range []struct {
		name, md string
		at, term int
		anchors  []page.Anchor
		want     string
	}{
		{"by its text", "# A `b` C", 0, 0, anchors("x=Other", "abc=A b C ¶"), "abc"},
		{"an id of its own", "# A {#own}", 0, 0, anchors("a=A"), "own"},
		{"none", "# A", 0, 0, anchors("b=B"), ""},
		{"the second of two", "# A\n\n# B\n\n# A", 2, 0, anchors("a=A", "b=B", "a_1=A"), "a_1"},
		{"the page has more of that name", "# A\n\n# B", 0, 0, anchors("nav=A", "a=A"), ""},
		{"a term", "f(*x*)\n: Words.", 0, 0, anchors("m.f=f(x)¶"), "m.f"},
		{"the first of two terms", "-n\n--dry-run\n: Words.", 0, 0, anchors("n=-n", "dry=--dry-run"), "n"},
		{"the second of two terms", "-n\n--dry-run\n: Words.", 0, 1, anchors("n=-n", "dry=--dry-run"), "dry"},
		{"the second has none", "-n\n--dry-run\n: Words.", 0, 1, anchors("n=-n"), "n"},
		{"a button beside it", "# Install", 0, 0, anchors("install=Install Copy link"), "install"},
		{"much beside it", "# In", 0, 0, anchors("x=In the beginning was the command line, and"), ""},
		{"a long one", "# " + strings.Repeat("long ", 100), 0, 0, anchors("long=" + strings.Repeat("long ", 100)), "long"},
		{"no text", "# ![](x.png)", 0, 0, anchors("x=¶"), ""},
	} {
		if got := AnchorOf(Landmarks([]byte(tt.md)), tt.at, tt.term, tt.anchors); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestSectionFindsDefinitions(t *testing.T) {
	for _, tt := range []struct{ name, want string }{
		{"tools › Functions › class Queue › Queue.get()", "Queue.get()"},
		{"tools > Functions > reduce(f, x)", "reduce(f, x)"},
		{"reduce", "reduce(f, x)"},
		{"Queue.put", "Queue.put(x)"},
		{"put", "Queue.put(x)"},
		{"queue", "class Queue"},
		{"Functions", "Functions"},
	} {
		h, err := Section([]byte(reference), tt.name, nil)
		if err != nil || h.Title != tt.want {
			t.Errorf("Section(%q) = %q, %v, want %q", tt.name, h.Title, err, tt.want)
		}
	}
	if h, err := Section([]byte(reference), "walrus", nil); err == nil {
		t.Errorf("Section(walrus) = %+v, want none", h)
	}
}

func FuzzLandmarks(f *testing.F) {
	f.Add([]byte(reference))
	f.Fuzz(func(t *testing.T, md []byte) {
		at := 0
		for _, l := range Landmarks(md) {
			if l.Start < at || l.end < l.Start || l.end > len(md) {
				t.Fatalf("landmark %+v after %d in %d bytes", l, at, len(md))
			}
			at = l.Start
		}
	})
}

func BenchmarkLandmarks(b *testing.B) {
	md := []byte(strings.Repeat(reference, 300))
	b.SetBytes(int64(len(md)))
	for b.Loop() {
		Landmarks(md)
	}
}
