package knowledge_test

import (
	"strings"
	"testing"

	"readthru/knowledge"
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
