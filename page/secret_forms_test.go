package page_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/readthru/readthru/page"
)

// testdata/secret-urls.txt has what products send in mails, show on pages and call as hooks, with made-up values, and
// where some of it is described. What stands between « and » is secret.
func TestSecretsOfProductsAreMasked(t *testing.T) {
	text, err := os.ReadFile("testdata/secret-urls.txt")
	if err != nil {
		t.Fatal(err)
	}
	marked := regexp.MustCompile(`«([^»]*)»`)
	forms := 0
	for line := range strings.Lines(string(text)) {
		forms++
		what, form, _ := strings.Cut(strings.TrimSpace(line), "\t")
		form, _, _ = strings.Cut(form, "\t")
		raw := strings.NewReplacer("«", "", "»", "").Replace(form)
		u := mustParse(t, raw)
		if !page.HasSecret(u) {
			t.Errorf("%s: HasSecret(%s) = false", what, raw)
		}
		if !page.Unlisted(u) {
			t.Errorf("%s: Unlisted(%s) = false", what, raw)
		}
		masked := page.Mask(u)
		for _, secret := range marked.FindAllStringSubmatch(form, -1) {
			if strings.Contains(masked, secret[1]) && len(secret[1]) > 3 {
				t.Errorf("%s: Mask(%s) = %s", what, raw, masked)
			}
		}
		if again := page.MaskString(masked); again != masked {
			t.Errorf("%s: masked again, %s is %s", what, masked, again)
		}
	}
	if forms < 450 {
		t.Errorf("%d forms, want 450", forms)
	}
}
