package page_test

import (
	"net/url"
	"testing"

	"go.uber.org/goleak"

	"github.com/readthru/readthru/page"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func mustParse(tb testing.TB, raw string) *url.URL {
	tb.Helper()
	u, err := url.Parse(raw)
	if err != nil {
		tb.Fatal(err)
	}
	return u
}

func TestNewPageKnowsWhatItsURLTells(t *testing.T) {
	p := page.New(mustParse(t, "https://GitHub.com:443/golang/go/?utm_source=x#readme"))
	if p.NormalizedURL != "https://github.com/golang/go" || p.Type != page.GitHubRepo || p.Display != "golang/go" {
		t.Errorf("normalised %q, type %q, display %q", p.NormalizedURL, p.Type, p.Display)
	}
	if want := page.KeyOf(p.NormalizedURL).Doc(); p.Doc != want {
		t.Errorf("doc %q, want %q", p.Doc, want)
	}
}
