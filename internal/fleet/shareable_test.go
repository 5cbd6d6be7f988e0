package fleet_test

import (
	"os"
	"strings"
	"testing"

	"github.com/readthru/readthru/internal/fleet"
)

// No node learns of a link that a product gives to one reader: none of the forms that package page masks.
func TestNoNodeLearnsOfTheLinksOfProducts(t *testing.T) {
	text, err := os.ReadFile("../../page/testdata/secret-urls.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.Split(strings.TrimSpace(line), "\t")
		if uri := strings.NewReplacer("«", "", "»", "").Replace(fields[1]); fleet.ShareableURI(uri) {
			t.Errorf("%s: nodes learn of %s", fields[0], uri)
		}
	}
	if !fleet.ShareableURI("https://docs.test/guide?page=2") {
		t.Error("nodes do not learn of an ordinary page")
	}
}
