package render_test

import (
	"context"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/readthru/readthru/convert"
	"github.com/readthru/readthru/internal/needs"
	"github.com/readthru/readthru/render"
)

// TestPagesOfRealFrameworksAskForABrowser holds what tells shells and thin pages against pages that are just that.
func TestPagesOfRealFrameworksAskForABrowser(t *testing.T) { // rule C2
	files, err := os.ReadDir("testdata/pages")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		b, err := os.ReadFile("testdata/pages/" + f.Name())
		if err != nil {
			t.Fatal(err)
		}
		base, _ := url.Parse("http://www.example/pages/" + f.Name())
		doc, err := convert.Parse(context.Background(), b, "text/html; charset=utf-8", base)
		if err != nil {
			t.Fatal(err)
		}
		res, err := doc.Convert(context.Background(), convert.Options{})
		if err != nil || !slices.Contains(res.Warnings, convert.WarnShell) &&
			!slices.Contains(res.Warnings, convert.WarnThin) {
			t.Errorf("%s: %v, %v: neither a shell nor thin", f.Name(), res, err)
		}
	}
}

// TestPagesOfRealFrameworksAreComplete renders small pages made with what the web is made with, two at once: machines
// that test are busy, and a page that has its time is shown as far as it came.
func TestPagesOfRealFrameworksAreComplete(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b := s.browser(t, func(o *render.Options) { o.Concurrency = 2 })
	files, err := os.ReadDir("testdata/pages")
	if err != nil {
		t.Fatal(err)
	}
	if err := unpackAll(); err != nil { // unpack here, because under load it takes longer than the timeout of a page
		needs.Missing(t, "the packages are not there, .ci/npm fetches them: %v", err)
	}
	told := len(strings.Fields(strings.Join(append([]string{story.Title}, story.Paragraphs...), " ")))
	var all sync.WaitGroup
	for _, f := range files {
		all.Go(func() {
			at := "/pages/" + f.Name()
			if f.Name() == "vue-hash.html" {
				at += "#/story"
			}
			began := time.Now()
			p, err := b.Render(context.Background(), s.page(t, at))
			if err != nil {
				t.Errorf("%s: %v", f.Name(), err)
				return
			}
			missing := 0
			for _, want := range append([]string{story.Title}, story.Paragraphs...) {
				if !strings.Contains(string(p.HTML), want) {
					missing++
				}
			}
			t.Logf("%-20s missing %d  %5d ms  %3d requests, %d refused  %s", f.Name(), missing, time.Since(began).Milliseconds(),
				p.Requests, p.Refused, p.Unsettled)
			if missing > 0 {
				t.Errorf("%s lacks %d of %d parts", f.Name(), missing, 1+len(story.Paragraphs))
			}
			doc, err := convert.Parse(context.Background(), p.HTML, "text/html; charset=utf-8", p.URL)
			if err != nil {
				t.Errorf("%s: %v", f.Name(), err)
				return
			}
			if words := doc.Signs().Words; words < told {
				t.Errorf("%s: %d words are counted, the story has %d", f.Name(), words, told)
			}
		})
	}
	all.Wait()
}

// A page that draws in frames is read when they were painted: they follow no clock, and the page's time may be over
// before the next one.
func TestAPageIsReadWithTheFramesItWaitsFor(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.add("/frames", `<p id=p>nothing</p><script>
		const draw = (text) => requestAnimationFrame(() => { document.getElementById('p').textContent += text; });
		cancelAnimationFrame(requestAnimationFrame(() => { draw(' never'); }));
		setTimeout(() => { draw(' first'); setTimeout(() => draw(' last'), 1); }, 4998);
	</script>`)
	p, err := s.browser(t).Render(t.Context(), s.page(t, "/frames"))
	if err != nil {
		t.Fatal(err)
	}
	if got := string(p.HTML); !strings.Contains(got, ">nothing first last</p>") {
		t.Errorf("frames were left out: %s", got)
	}
}
