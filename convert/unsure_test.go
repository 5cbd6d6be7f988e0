package convert_test

import (
	"slices"
	"testing"

	"github.com/readthru/readthru/convert"
)

// A report says why more may be hidden than could be told, and is silent where all is known.
func TestAReportSaysWhatIsNotKnown(t *testing.T) {
	const text = "<p>The heron stands in the shallows of the lake until a fish comes near enough.</p>"
	for name, tt := range map[string]struct {
		head, body string
		want       []string
	}{
		"styles of the page": {"<style>.a{display:none}</style>", "<p class=a>Unseen.</p>", nil},
		"sheets in addresses": {
			`<link rel=stylesheet href="data:text/css,.a{display:none}">`, "<p class=a>Unseen.</p>", nil,
		},
		"linked sheets":     {"<link rel=stylesheet href=/a.css>", "", []string{"sheets"}},
		"imported sheets":   {"<style>@import '/a.css';</style>", "", []string{"sheets"}},
		"scripts":           {"<script src=/a.js></script>", "", []string{"scripts"}},
		"scripts in a body": {"", "<script type=module>import '/a.js'</script>", []string{"scripts"}},
		"data":              {"", `<script type=application/ld+json>{"name":"Heron"}</script>`, nil},
		"both": {
			"<link rel=stylesheet href=/a.css><script>1</script>", "<p hidden>Unseen.</p>", []string{"sheets", "scripts"},
		},
	} {
		res := convertPage(t, "<!doctype html><head><title>t</title>"+tt.head+"</head><body><main>"+text+tt.body+"</main>",
			convert.Options{})
		if !slices.Equal(res.Removed.Unsure, tt.want) {
			t.Errorf("%s: %q, want %q", name, res.Removed.Unsure, tt.want)
		}
	}
}
