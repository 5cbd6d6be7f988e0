package index

import (
	"math"
	"strings"
	"testing"
)

// A query that names a site beside other words is asked of that.
func TestASiteThatIsNamedIsFavoured(t *testing.T) {
	docs := []*Document{
		doc("https://docs.python.org/3/library/argparse.html", "", "Parse arguments of the command line, parse."),
		doc("https://nodejs.org/api/util.html", "", "How to parse arguments of the command line of a program in it."),
		doc("https://blog.example.com/node", "", "Parse arguments, said a blog about arguments to parse, and arguments."),
	}
	x := openTestIndex(t, docs)
	indexAllOf(t, x, docs)
	for _, tt := range []struct{ asked, want string }{
		{"how do I parse arguments in python", "https://docs.python.org/3/library/argparse.html"},
		{"parse arguments nodejs", "https://nodejs.org/api/util.html"},
		{"parse command line arguments", "https://docs.python.org/3/library/argparse.html"},
	} {
		r, err := x.Search(t.Context(), Query{Text: tt.asked, Explain: true})
		if err != nil || len(r.Hits) != 3 || r.Hits[0].URL != tt.want {
			t.Errorf("%s: %+v, %v, want %s first", tt.asked, r, err, tt.want)
			continue
		}
		sum := 0.0
		for _, term := range r.Hits[0].Explain {
			sum += term.Score
		}
		if math.Abs(sum-r.Hits[0].Score) > 1e-3 {
			t.Errorf("%s: the parts %+v come to %v, want %v", tt.asked, r.Hits[0].Explain, sum, r.Hits[0].Score)
		}
	}
}

func TestSiteNames(t *testing.T) {
	for host, want := range map[string]string{
		"docs.python.org": "python", "www.postgresql.org": "postgresql", "git-scm.com": "git-scm git scm",
		"go.dev": "go", "requests.readthedocs.io": "requests readthedocs", "localhost:80": "", "": "", "docs.dev": "",
	} {
		if got := strings.Join(siteNames(host), " "); got != want {
			t.Errorf("siteNames(%s) = %q, want %q", host, got, want)
		}
	}
}
