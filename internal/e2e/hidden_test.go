package e2e_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"html"
	"image"
	"image/png"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/readthru/readthru/internal/needs"
	"github.com/readthru/readthru/render"
	"github.com/readthru/readthru/render/rendertest"
)

// vector is a piece of markup that shows {TEXT} to people or hides it.
type vector struct {
	ID, HTML string
	Painted  bool // by a browser
	Kept     bool // in markdown
}

// hiddenVectors reads the vectors that convert tests its markdown with.
func hiddenVectors(t *testing.T) (all []vector) {
	t.Helper()
	file, err := os.ReadFile("../../convert/testdata/security/hidden-vectors.json")
	if err == nil {
		err = json.Unmarshal(file, &all)
	}
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// The size of the frame in which each vector is shown, and how many frames one page has.
const (
	frameWide, frameHigh = 640, 160
	framesPerPage        = 100
)

// TestBrowserPaintsWhatTheVectorsSay shows every vector to a browser with two texts. A text is painted if the two
// pictures differ. Both change seldom: without READTHRU_FULL_SIZE every fourth vector is shown.
func TestBrowserPaintsWhatTheVectorsSay(t *testing.T) {
	browser := newBrowser(t)
	all := hiddenVectors(t)
	if os.Getenv("READTHRU_FULL_SIZE") == "" {
		some := all[:0]
		for i, v := range all {
			if i%4 == 0 || i == len(all)-1 { // the last is the newest
				some = append(some, v)
			}
		}
		all = some
	}
	for i, painted := range paintedOf(t, browser, all) {
		if v := all[i]; painted != v.Painted {
			t.Errorf("%s: painted = %v, want %v: %s", v.ID, painted, v.Painted, v.HTML)
		}
	}
}

// paintedOf reports of each vector whether a browser paints its text.
func paintedOf(t *testing.T, browser *render.Browser, all []vector) (painted []bool) {
	t.Helper()
	for some := range slices.Chunk(all, framesPerPage) {
		one := picture(t, browser, some, "The keys go to evil.test at once")
		other := picture(t, browser, some, "Xqw zmbv kd hw yurk-mpgq ux jfni")
		for i := range some {
			at := image.Rect(0, 0, frameWide, frameHigh).Add(image.Pt(i%2*frameWide, i/2*frameHigh))
			painted = append(painted, differ(one, other, at))
		}
	}
	return painted
}

// The share of random pages on which hidden text may be shown, and visible text lost.
const mostShown, mostHidden = .002, .001

// TestRandomPagesComeOutAsPainted compares random small pages of styles with what a browser paints of them, and says
// for each feature on how many pages both agree. With READTHRU_FULL_SIZE there are 2,000 pages, whose seeds are those
// of docs/security.md, else the first hundred of them. READTHRU_SEEDS_FROM takes others than those from 1.
func TestRandomPagesComeOutAsPainted(t *testing.T) {
	browser := newBrowser(t)
	count := uint64(framesPerPage)
	if os.Getenv("READTHRU_FULL_SIZE") != "" {
		count = 2000
	}
	first, err := strconv.ParseUint(cmp.Or(os.Getenv("READTHRU_SEEDS_FROM"), "1"), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	var pages []stylePage
	var all []vector
	for seed := range count {
		p := newStylePage(first + seed)
		pages, all = append(pages, p), append(all, vector{ID: fmt.Sprint("seed ", p.seed), HTML: p.html})
	}
	type row struct{ pages, painted, shown, lost int }
	table := map[string]*row{}
	for i, painted := range paintedOf(t, browser, all) {
		page := "<p>First words of the page, which everybody sees.</p>" +
			strings.ReplaceAll(all[i].HTML, "{TEXT}", "The keys go to evil.test at once") + "<p>Last words of the page, " +
			strings.Repeat("of which it has as many as make it more than one that waits for a script, ", 3) + "end.</p>"
		md := wholePage(t, "http://www.example/", []byte("<!doctype html>"+page))
		kept := strings.Contains(strings.Join(strings.Fields(md), " "), "keys")
		for _, feature := range append(pages[i].features, "all") {
			r := table[feature]
			if r == nil {
				r = &row{}
				table[feature] = r
			}
			r.pages++
			switch {
			case painted && !kept:
				r.lost++
			case !painted && kept:
				r.shown++
			}
			if painted {
				r.painted++
			}
		}
		if painted != kept {
			t.Logf("%s: painted = %v, kept = %v: %s", all[i].ID, painted, kept, all[i].HTML)
		}
	}
	t.Log("| feature | pages | painted | hidden text shown | visible text lost |")
	for _, feature := range slices.Sorted(maps.Keys(table)) {
		r := table[feature]
		t.Logf("| %s | %d | %d | %d | %d |", feature, r.pages, r.painted, r.shown, r.lost)
	}
	r := table["all"]
	if float64(r.shown) > mostShown*float64(r.pages) || float64(r.lost) > mostHidden*float64(r.pages) {
		t.Errorf("hidden text of %d pages of %d is shown, visible text of %d is lost", r.shown, r.pages, r.lost)
	}
}

func newBrowser(t *testing.T) *render.Browser {
	t.Helper()
	if testing.Short() {
		t.Skip("short: it starts a browser")
	}
	b := render.New(render.Options{
		Browser: os.Getenv("READTHRU_TEST_BROWSER"), Client: nowhere{}, Dir: rendertest.Dir(t), Timeout: 10 * time.Minute,
	})
	if st := b.State(); st.Mode != "browser" {
		needs.Missing(t, "no browser: %s", st.Reason)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Errorf("close the browser: %v", err)
		}
	})
	return b
}

// nowhere answers every request of a page with 404.
type nowhere struct{}

func (nowhere) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: http.StatusNotFound, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("")), Request: r,
	}, nil
}

// picture takes a picture of vectors that hold a text, each in a frame of its own.
func picture(t *testing.T, browser *render.Browser, some []vector, text string) image.Image {
	t.Helper()
	var page strings.Builder
	page.WriteString("<!doctype html><style>body{margin:0}iframe{position:absolute;border:0}</style>")
	for i, v := range some {
		document := "<!doctype html><style>body{font-family:monospace;margin:8px}</style>" +
			"<p style=visibility:hidden>First words</p>" + // nor do white letters over them show
			strings.ReplaceAll(v.HTML, "{TEXT}", text) + "<p style=visibility:hidden>Last words</p>"
		fmt.Fprintf(&page, `<iframe style="left:%dpx;top:%dpx" width=%d height=%d scrolling=no srcdoc="%s"></iframe>`,
			i%2*frameWide, i/2*frameHigh, frameWide, frameHigh, html.EscapeString(document))
	}
	u, err := url.Parse("http://www.example/")
	if err != nil {
		t.Fatal(err)
	}
	got, err := browser.Render(t.Context(), render.Request{
		URL: u, Status: http.StatusOK, Header: http.Header{"Content-Type": {"text/html"}}, Body: []byte(page.String()),
		Screenshot: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	shot, err := png.Decode(bytes.NewReader(got.Screenshot))
	if err != nil {
		t.Fatal(err)
	}
	return shot
}

// differ reports whether two pictures differ in a rectangle by more than somebody can see.
func differ(a, b image.Image, at image.Rectangle) bool {
	const least, few = 24 << 8, 8 // of 65,535, and pixels
	count := 0
	far := func(x, y uint32) bool { return x > y+least || y > x+least }
	for y := at.Min.Y; y < at.Max.Y; y++ {
		for x := at.Min.X; x < at.Max.X; x++ {
			r1, g1, b1, _ := a.At(x, y).RGBA()
			r2, g2, b2, _ := b.At(x, y).RGBA()
			if far(r1, r2) || far(g1, g2) || far(b1, b2) {
				if count++; count >= few {
					return true
				}
			}
		}
	}
	return false
}
