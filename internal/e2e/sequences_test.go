package e2e_test

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/readthru/readthru/internal/eventually"
)

// Whichever door a page is read by, it is the same page: none that is older than what any door has shown before, and
// none that a reader with a cookie was shown. What one reader asks for in another form, others get as it is. A search
// finds what a look at all stored pages finds.
//
// A sequence has a small web (sequences_world_test.go) and a daemon. Some seeds run each time; make sequences runs them
// for hours. A seed that failed once is run each time: name it in failedOnce.
func TestRandomSequencesGiveThePageByEachDoor(t *testing.T) {
	runSequences(t, 2, func(t *testing.T, seed uint64) *sequence {
		t.Helper()
		s := newSequence(t, seed)
		s.start(serveIn(t, s.web, t.TempDir(), s.env...))
		return s
	})
}

// failedOnce are seeds that failed, and what was wrong.
var failedOnce []uint64

// runSequences runs some sequences, and more of them if that is asked for.
func runSequences(t *testing.T, atLeast uint64, start func(*testing.T, uint64) *sequence) {
	t.Helper()
	limit, err := time.ParseDuration(cmp.Or(os.Getenv("READTHRU_SEQUENCES_FOR"), "0"))
	if err != nil {
		t.Fatal(err)
	}
	first, err := strconv.ParseUint(cmp.Or(os.Getenv("READTHRU_SEQUENCES_FROM"), "1"), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	steps := 0
	run := func(seed uint64) {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			s := start(t, seed)
			s.run()
			steps += s.steps
		})
	}
	for _, seed := range failedOnce {
		run(seed)
	}
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	n := uint64(0)
	for ; n < atLeast || ctx.Err() == nil && !t.Failed(); n++ {
		run(first + n)
	}
	t.Logf("%d sequences of %d steps in all", n, steps)
}

// sequence is a small web, the daemons before it, and what must be true of them.
type sequence struct {
	t     *testing.T
	seed  uint64
	rng   *rand.Rand
	web   *web
	small *small
	env   []string
	nodes []*node
	done  []string // what was done, for a person
	end   func()   // what is checked in the end
	steps int
}

// node is a daemon, and what its readers know of the pages. Places are places in the history of a page.
type node struct {
	*doors
	floor map[string]int            // by URL: nothing older is shown
	forms map[string]map[int]string // by URL and number: the markdown that was shown first
}

func newSequence(t *testing.T, seed uint64) *sequence {
	t.Helper()
	s := &sequence{t: t, seed: seed, rng: rand.New(rand.NewPCG(seed, 37))}
	browser := ""
	if seed%8 == 0 && os.Getenv("READTHRU_SEQUENCES_FOR") != "" {
		browser, _ = exec.LookPath("chromium")
	}
	s.env = []string{"READTHRU_RENDER_MODE=never"}
	if browser != "" {
		// A busy machine does not decide what a page shows.
		s.env = []string{"READTHRU_RENDER_MODE=auto"}
	}
	s.small = newSmall(rand.New(rand.NewPCG(seed, 38)), browser != "")
	s.web = newWeb(t, s.small)
	s.end = s.check
	return s
}

// start has the sequence ask daemons.
func (s *sequence) start(daemons ...*daemon) {
	for _, d := range daemons {
		s.nodes = append(s.nodes, &node{
			doors: openDoors(d), floor: map[string]int{}, forms: map[string]map[int]string{},
		})
	}
}

func (s *sequence) note(format string, args ...any) {
	s.done = append(s.done, fmt.Sprintf(format, args...))
}

// wrong says that something is not as it must be.
func (s *sequence) wrong(format string, args ...any) {
	s.t.Helper()
	s.t.Errorf("step %d: "+format, append([]any{len(s.done)}, args...)...)
}

func (s *sequence) run() {
	defer func() {
		if s.t.Failed() {
			s.t.Logf("seed %d:\n%s", s.seed, strings.Join(s.done, "\n"))
		}
	}()
	for range 60 + s.rng.IntN(60) {
		s.steps++
		i := s.rng.IntN(len(s.nodes))
		before := len(s.done)
		if s.step(s.nodes[i]); len(s.nodes) > 1 && len(s.done) > before {
			s.done[before] = fmt.Sprintf("node %d: %s", i, s.done[before])
		}
		if s.t.Failed() {
			return
		}
	}
	s.end()
}

// any returns a page.
func (s *sequence) any() *changing {
	urls := slices.Sorted(maps.Keys(s.small.pages))
	return s.small.pages[urls[s.rng.IntN(len(urls))]]
}

// step does one thing at a node.
func (s *sequence) step(n *node) {
	p := s.any()
	d := &allDoors[s.rng.IntN(len(allDoors))]
	if p.kind == "route" && !d.fragment {
		return
	}
	switch k := s.rng.IntN(40); {
	case k < 12:
		s.read(n, d, p, false)
	case k < 16:
		s.read(n, d, p, true)
	case k < 20:
		s.note("%s changes", p.url)
		s.small.mu.Lock()
		s.small.change(p)
		s.done[len(s.done)-1] += fmt.Sprint(" ", p.history)
		s.small.mu.Unlock()
	case k < 28:
		option := s.rng.IntN(1000)
		s.note("%s by %s with options %d", p.url, d.name, option)
		if got := d.odd(n.doors, p.url, option); secret.MatchString(got.text) {
			s.wrong("%s by %s with options: %s", p.url, d.name, got.text)
		}
	case k < 33:
		s.readSecret(n, p)
	case k < 35 && p.kind != "moved" && p.kind != "route":
		s.note("PUT %s", p.url)
		n.send(n.client, http.MethodPut, p.url, "new")
		n.floor[p.url] = s.now(p)
		s.done[len(s.done)-1] += fmt.Sprint(" ", p.history)
	case k == 35:
		s.note("uncache %s", p.url)
		n.send(http.DefaultClient, http.MethodDelete, "http://"+n.admin+"/api/v1/cache?url="+url.QueryEscape(p.url), "")
		n.floor[p.url] = s.now(p)
	case k == 36:
		s.note("delete %s", p.url)
		n.send(http.DefaultClient, http.MethodDelete, "http://"+n.admin+"/api/v1/pages/"+url.PathEscape(p.url), "")
	case k == 37 && s.rng.IntN(3) == 0:
		s.restart(n)
	case k == 38 && s.rng.IntN(3) == 0 && len(s.nodes) == 1: // pages of other nodes come while one looks
		s.check()
	default:
		s.readByAll(n, p)
	}
}

// now returns the place of what a page is.
func (s *sequence) now(p *changing) int {
	s.small.mu.Lock()
	defer s.small.mu.Unlock()
	return len(p.history) - 1
}

// read has a reader read a page.
func (s *sequence) read(n *node, d *door, p *changing, anew bool) {
	s.t.Helper()
	s.note("%s by %s, anew %v", p.url, d.name, anew)
	got := d.read(n.doors, p.url, anew)
	s.judge(n, d, p, anew, got)
}

// readByAll has all readers read a page, one after the other.
func (s *sequence) readByAll(n *node, p *changing) {
	s.t.Helper()
	s.note("%s by all", p.url)
	for _, i := range s.rng.Perm(len(allDoors)) {
		if d := &allDoors[i]; p.kind != "route" || d.fragment {
			s.judge(n, d, p, false, d.read(n.doors, p.url, false))
		}
	}
}

// judge compares an answer with what the page was.
func (s *sequence) judge(n *node, d *door, p *changing, anew bool, got said) {
	s.t.Helper()
	if secret.MatchString(got.text) {
		s.wrong("%s by %s: another reader's %q", p.url, d.name, got.text)
		return
	}
	if p.kind == "moved" {
		if !d.own {
			if got.status != http.StatusMovedPermanently {
				s.wrong("%s by %s: %d %q, want that it moved", p.url, d.name, got.status, got.text)
			}
			return
		}
		p = s.small.pages[p.to]
	}
	s.small.mu.Lock()
	defer s.small.mu.Unlock()
	now := len(p.history) - 1
	least := n.floor[p.url]
	if anew || p.fresh == "no-cache" || strings.Contains(p.fresh, "no-store") || strings.HasSuffix(p.fresh, "no-cache") {
		least = now
	}
	if p.kind == "negotiated" && !anew {
		least = 0 // each form is fresh for as long as it says
	}
	is := edition(got.text)
	if got.status >= 400 {
		is = -got.status
	} else if got.status != http.StatusOK {
		s.wrong("%s by %s: %d %q", p.url, d.name, got.status, got.text)
		return
	}
	s.done[len(s.done)-1] += fmt.Sprintf(" %d", is)
	place := -1
	for i := least; i <= now && place < 0; i++ {
		if p.history[i] == is {
			place = i
		}
	}
	if place < 0 {
		s.wrong("%s (%s, %q) by %s, anew %v: text %d (%d %.2000q), want one of %v", p.url, p.kind, p.fresh, d.name, anew,
			is, got.status, got.text, p.history[least:])
		return
	}
	n.floor[p.url] = max(n.floor[p.url], place)
	if is <= 0 {
		return
	}
	t := &s.small.texts[is]
	if p.kind == "html" || p.kind == "private" || p.kind == "route" {
		for i, paragraph := range t.paragraphs(fmt.Sprintf("edition%dx", is)) {
			if !strings.Contains(got.text, paragraph) || i > 0 && !strings.Contains(got.text, t.sections[i-1].heading) {
				s.wrong("%s by %s lacks %q: %q", p.url, d.name, paragraph, got.text)
			}
		}
		if !d.html && strings.Contains(got.text, "Navigation") {
			s.wrong("%s by %s has the navigation: %q", p.url, d.name, got.text)
		}
	}
	if d.html || p.kind != "html" && p.kind != "private" {
		return
	}
	forms := n.forms[p.url]
	if forms == nil {
		forms = map[int]string{}
		n.forms[p.url] = forms
	}
	if text := strings.TrimSpace(got.text); cmp.Or(forms[is], text) != text {
		s.wrong("%s by %s: %q, want as before %q", p.url, d.name, text, forms[is])
	} else {
		forms[is] = text
	}
}

// readSecret has a reader with a cookie read a page.
func (s *sequence) readSecret(n *node, p *changing) {
	s.t.Helper()
	who := []string{"alice", "bob"}[s.rng.IntN(2)]
	i := s.rng.IntN(len(secretDoors))
	s.note("%s by %s at %d", p.url, who, i)
	if p.kind == "route" {
		return
	}
	got := secretDoors[i](n.doors, p.url, "who="+who)
	m := secret.FindStringSubmatch(got.text)
	// an origin that does not name the field says that its answer to others is for this reader, too
	if m != nil && m[1] != who || m == nil && p.kind == "private" && p.vary != "" {
		s.wrong("%s by %s at %d: %d %q", p.url, who, i, got.status, got.text)
	}
}

// restart ends a daemon, in order or not, and starts it again.
func (s *sequence) restart(n *node) {
	s.t.Helper()
	d := n.daemon
	if s.rng.IntN(2) == 0 {
		s.note("restart")
		d.stop()
	} else {
		s.note("kill")
		d.kill() // what was not written yet is lost
		clear(n.floor)
	}
	again := serveIn(s.t, s.web, d.dir, s.env...)
	n.doors = openDoors(again)
}

// check compares what is stored and found with what there is.
func (s *sequence) check() {
	s.t.Helper()
	for _, n := range s.nodes {
		s.checkNode(n)
	}
}

type listed struct {
	URL           string
	NormalizedURL string `json:"normalized_url"`
	Title         string
	Error         *struct{ Status int }
	text          string
}

// gone reports whether the origin of a page says that there is none any more.
func (p *listed) gone() bool {
	return p.Error != nil && (p.Error.Status == http.StatusNotFound || p.Error.Status == http.StatusGone)
}

// pages returns the stored pages. The error is that of a page that is listed and not there: while nodes still tell each
// other of deletions, that may be.
func (s *sequence) pages(n *node) (list []listed, err error) {
	s.t.Helper()
	var got struct{ Pages []listed }
	if a := n.get("/api/v1/pages?limit=500", &got); a.status != http.StatusOK {
		return nil, fmt.Errorf("list pages: %d %s", a.status, a.text)
	}
	for _, p := range got.Pages {
		var full struct{ Content string }
		if a := n.get("/api/v1/pages/"+url.PathEscape(p.URL), &full); a.status != http.StatusOK {
			return nil, fmt.Errorf("page %s is listed: %d %s", p.URL, a.status, a.text)
		}
		p.text = full.Content
		list = append(list, p)
	}
	return list, nil
}

func (s *sequence) checkNode(n *node) {
	s.t.Helper()
	s.note("check")
	if got := n.post("/api/v1/flush", object{}); got.status != http.StatusOK {
		s.wrong("flush: %d %s", got.status, got.text)
	}
	var stats struct {
		Index struct{ Queued, Failed int }
		Pages struct{ Total, Visits int }
		Work  struct{ Requests int }
	}
	var found object
	n.get("/api/v1/search?q=now", &found) // what was read is indexed in a second, or when somebody searches
	eventually.True(s.t, "what was read is indexed", func() bool {
		n.get("/stats", &stats)
		return stats.Index.Queued == 0 && stats.Work.Requests == 0
	})
	pages, err := s.pages(n)
	if err != nil {
		s.wrong("%s", err)
	}
	if stats.Pages.Total != len(pages) || stats.Index.Failed != 0 {
		s.wrong("%d pages are listed, stats %+v", len(pages), stats)
	}
	for _, p := range pages {
		if secret.MatchString(p.text) {
			s.wrong("%s is kept: another reader's %q", p.URL, p.text)
		}
	}
	for _, word := range append(slices.Clone(words), "secretofalicex", "secretofbobx") {
		want := []string{}
		for _, p := range pages {
			if !p.gone() && strings.Contains(p.text+" "+p.Title, word) {
				want = append(want, p.URL)
			}
		}
		var found struct {
			Results []struct {
				URL  string
				Also []string
			}
		}
		n.get("/api/v1/search?limit=100&q="+word, &found)
		got := []string{}
		for _, h := range found.Results {
			got = append(append(got, h.URL), h.Also...)
		}
		slices.Sort(got)
		slices.Sort(want)
		if got = slices.Compact(got); !slices.Equal(got, want) {
			s.wrong("%q is found in %q, and is in %q", word, got, want)
		}
	}
}
