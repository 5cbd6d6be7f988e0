package knowledge_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/readthru/readthru/knowledge"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// A document without a passage may gain one that another document has: this panicked, and each start after it.
func TestAnEmptyPageGainsAPassageThatAnotherPageHas(t *testing.T) {
	licence := "## Licence\n\n" + strings.Repeat("You may copy this walrus and change it as you like. ", 12) + "\n"
	other := "# Walrus\n\n" + strings.Repeat("Tusks are long teeth of the walrus. ", 20) + "\n\n" + licence
	for _, tt := range []struct{ name, empty, full string }{
		{"the same text", "", other},
		{"one passage", "", "# Heron\n\n" + strings.Repeat("A heron stands on one leg. ", 20) + "\n\n" + licence},
		{"white space first", " \n\n", other},
	} {
		t.Run(tt.name, func(t *testing.T) {
			k := open(t, "", knowledge.Options{})
			k.read(t, "https://a.test/a", other, true)
			k.read(t, "https://a.test/b", tt.empty, true)
			k.drain(t)
			k.read(t, "https://a.test/b", tt.full, true)
			k.drain(t)
			k.read(t, "https://a.test/a", "", true)
			k.drain(t)
			if got := k.find(t, "", "copy this walrus"); len(got) != 1 || got[0] != "https://a.test/b" {
				t.Errorf("found %q, want b alone", got)
			}
		})
	}
}

// Two pages share the passages of a section, whose title, headings and address differ. What is deleted, or renamed, is
// no longer found by its words, and the other page never is.
func TestASharedPassageIsFoundByTheWordsOfItsOwnersAlone(t *testing.T) {
	long := strings.Repeat(strings.Repeat("A flange is bolted to the next flange with a gasket between them. ", 5)+"\n\n", 30)
	book := func(title, heading string) string {
		return "# " + title + "\n\nIntroduction to the " + title + ".\n\n## " + heading + "\n\n" + long
	}
	const x, y = "https://ferry.test/quay", "https://barge.test/lock"
	for _, tt := range []struct {
		name string
		then func(t *testing.T, k *opened)
	}{
		{"the first page is deleted", func(t *testing.T, k *opened) {
			if err := k.store.DeletePage(page.KeyOf(x)); err != nil {
				t.Fatal(err)
			}
		}},
		{"the first page has another text", func(t *testing.T, k *opened) { k.readAs(t, x, "Heron", "A heron stands.\n") }},
		{"the first page is empty", func(t *testing.T, k *opened) { k.readAs(t, x, "", "") }},
		{"both pages have another title", func(t *testing.T, k *opened) {
			k.readAs(t, x, "Oar", book("Oar", "Rudder"))
			k.readAs(t, y, "Yakbook", book("Yakbook", "Submarine"))
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			k := open(t, "", knowledge.Options{})
			k.readAs(t, x, "Quokkabook", book("Quokkabook", "Zeppelin"))
			k.readAs(t, y, "Yakbook", book("Yakbook", "Submarine"))
			k.drain(t)
			for query, want := range map[string]string{
				"quokkabook": x, "zeppelin": x, "yakbook": y, "submarine": y, "ferry quay": x, "barge lock": y,
			} {
				if got := k.find(t, "", query); !slices.Equal(got, []string{want}) {
					t.Errorf("%q found %q, want %s", query, got, want)
				}
			}
			tt.then(t, k)
			k.drain(t)
			for query, want := range map[string][]string{
				"quokkabook": nil, "zeppelin": nil, "yakbook": {y}, "submarine": {y}, "barge lock": {y},
			} {
				if got := k.find(t, "", query); !slices.Equal(got, want) {
					t.Errorf("afterwards %q found %q, want %q", query, got, want)
				}
			}
			if got := k.find(t, "", "flange gasket"); !slices.Contains(got, y) {
				t.Errorf("afterwards the shared text found %q, want %s among them", got, y)
			}
		})
	}
}

// readAs is read of a page with a title.
func (o *opened) readAs(t *testing.T, url, title, md string) {
	t.Helper()
	p := pageOf(t, url, md)
	p.Title = title
	if _, err := o.store.PutPage(&p.Record, []byte(md), store.Sum{}); err != nil {
		t.Fatalf("PutPage(%s): %v", url, err)
	}
}

// A page is found by its title although its text has no passage, or none that is its own.
func TestAPageIsFoundByItsTitleWhateverItsText(t *testing.T) {
	text := "# Yak\n\n" + strings.Repeat("A yak has long hair. ", 30)
	k := open(t, "", knowledge.Options{})
	k.readAs(t, "https://a.test/empty", "Ocelot", "")
	k.readAs(t, "https://a.test/first", "Yak", text)
	k.readAs(t, "https://a.test/copy", "Serval", text)
	k.drain(t)
	for query, want := range map[string]string{
		"ocelot": "https://a.test/empty", "serval": "https://a.test/copy", "serval copy": "https://a.test/copy",
	} {
		if got := k.find(t, "", query); !slices.Equal(got, []string{want}) {
			t.Errorf("%q found %q, want %s", query, got, want)
		}
	}
	r, err := k.Search(t.Context(), knowledge.Query{Text: "serval"})
	if err != nil || len(r.Hits) != 1 || !strings.Contains(r.Hits[0].Snippet, "long hair") {
		t.Errorf("serval: %+v, %v, want a snippet of the copy's text", r, err)
	}
	k.readAs(t, "https://a.test/empty", "Caracal", "")
	k.readAs(t, "https://a.test/copy", "Margay", text)
	k.drain(t)
	for query, want := range map[string][]string{
		"ocelot": nil, "serval": nil, "caracal": {"https://a.test/empty"}, "margay": {"https://a.test/copy"},
	} {
		if got := k.find(t, "", query); !slices.Equal(got, want) {
			t.Errorf("renamed: %q found %q, want %q", query, got, want)
		}
	}
}

// The heading of a page is its title; the words of its title element find it, too.
func TestAPageIsFoundByItsTitleElement(t *testing.T) {
	k := open(t, "", knowledge.Options{})
	p := pageOf(t, "https://a.test/x", "# Installing\n\nRun the program.\n")
	p.Title, p.Meta = "Installing", page.Meta{"title": "Installing - Wombat 2 manual"}
	if _, err := k.store.PutPage(&p.Record, []byte("# Installing\n\nRun the program.\n"), store.Sum{}); err != nil {
		t.Fatal(err)
	}
	k.drain(t)
	if got := k.find(t, "", "installing wombat"); len(got) != 1 {
		t.Errorf("found %q, want the page", got)
	}
}

// A section that many pages have is indexed twice, however many have it.
func TestASectionOfManyPagesIsIndexedTwice(t *testing.T) {
	k := open(t, "", knowledge.Options{})
	licence := "# Licence\n\n" + strings.Repeat("You may copy this walrus and change it as you like. ", 40)
	for n := range 30 {
		k.read(t, fmt.Sprintf("https://a.test/%d", n), prose("heron", n)+"\n"+licence, true)
	}
	k.drain(t)
	alone := open(t, "", knowledge.Options{})
	for n := range 30 {
		alone.read(t, fmt.Sprintf("https://a.test/%d", n), prose("heron", n), true)
	}
	alone.drain(t)
	if got, want := k.Stats().Passages, alone.Stats().Passages+2; got != want {
		t.Errorf("%d passages, want %d", got, want)
	}
	r, err := k.Search(t.Context(), knowledge.Query{Text: "copy this walrus", Limit: 100})
	if err != nil || len(r.Hits) != 1 || len(r.Hits[0].Also) == 0 {
		t.Errorf("found %d hits, %v, want one with others that say the same", len(r.Hits), err)
	}
}
