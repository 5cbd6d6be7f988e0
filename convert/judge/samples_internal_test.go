package judge

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"hash/fnv"
	"io"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/chars"
	"github.com/readthru/readthru/convert/dom"
	"github.com/readthru/readthru/convert/rules"
)

// sample is a page of a corpus and what its reference says of its blocks: what the model is made from.
type sample struct {
	set, id, typ, site string
	url                *url.URL
	page               Page
	choice             rules.Choice
	ref                []string // reference words
	refBag             map[string]int
	with, without      []string
	labels             []float32 // per block
	weights            []float32
	words              [][]string // per block
}

var tokRe = regexp.MustCompile(`[\p{L}\p{M}\p{N}_]+`)

func toks(s string) []string { return tokRe.FindAllString(strings.ToLower(s), -1) }

func readGz(path string) []byte {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil
	}
	b, _ := io.ReadAll(z)
	return b
}

func htmlText(s string) string {
	n, err := html.Parse(strings.NewReader(s))
	if err != nil {
		return ""
	}
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode && !dom.Is(d.Parent, atom.Script, atom.Style) {
			b.WriteString(d.Data)
		} else if dom.IsBlock(d) || dom.Is(d, atom.Br) {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

func siteOf(u string) string {
	p, err := url.Parse(u)
	if err != nil {
		return u
	}
	parts := strings.Split(p.Hostname(), ".")
	if len(parts) > 2 {
		k := 2
		if len(parts[len(parts)-2]) <= 3 && len(parts[len(parts)-1]) == 2 {
			k = 3
		}
		parts = parts[len(parts)-min(k, len(parts)):]
	}
	return strings.Join(parts, ".")
}

func loadSamples(t *testing.T, dir string, sets map[string]bool) []*sample {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, "manifest.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	var out []*sample
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 1<<20)
	type job struct{ Set, ID, URL, Type, HTML string }
	var jobs []job
	for sc.Scan() {
		var p job
		if err := json.Unmarshal(sc.Bytes(), &p); err != nil {
			t.Fatal(err)
		}
		if sets[p.Set] {
			jobs = append(jobs, p)
		}
	}
	out = make([]*sample, len(jobs))
	parallel(len(jobs), func(i int) {
		p := jobs[i]
		var e struct {
			Text          *string
			With, Without []string
			HTML          string
		}
		if json.Unmarshal(readGz(filepath.Join(dir, "expect", p.Set, p.ID+".json.gz")), &e) != nil {
			return
		}
		u, _ := url.Parse(p.URL)
		page, err := readPage(context.Background(), readGz(filepath.Join(dir, p.HTML)), "text/html", u)
		if err != nil {
			return
		}
		s := &sample{set: p.Set, id: p.ID, typ: p.Type, site: siteOf(p.URL), url: u, page: page}
		s.choice = rules.Choose(context.Background(), page.Body, page.Kind)
		ref := ""
		switch {
		case e.Text != nil:
			ref = *e.Text
		case e.HTML != "":
			ref = htmlText(e.HTML)
		default:
			s.with, s.without = e.With, e.Without
		}
		s.ref = toks(ref)
		s.refBag = bag(s.ref)
		s.label()
		if p.Set == "struct-dev" { // its references are elements of the page
			s.labelBox(e.HTML)
		}
		out[i] = s
	})
	var kept []*sample
	for _, s := range out {
		if s != nil {
			kept = append(kept, s)
		}
	}
	return kept
}

func bag(w []string) map[string]int {
	m := map[string]int{}
	for _, x := range w {
		m[x]++
	}
	return m
}

func parallel(n int, f func(int)) {
	var wg sync.WaitGroup
	ch := make(chan int)
	for range 2 {
		wg.Go(func() {
			for i := range ch {
				f(i)
			}
		})
	}
	for i := range n {
		ch <- i
	}
	close(ch)
	wg.Wait()
}

func (b *block) textOf() string {
	var s strings.Builder
	for n := b.first; n != nil; n = n.NextSibling {
		if n.Type == html.TextNode {
			s.WriteString(n.Data)
		} else {
			for d := range n.Descendants() {
				if d.Type == html.TextNode {
					s.WriteString(d.Data)
				} else if dom.IsBlock(d) || dom.Is(d, atom.Br) {
					s.WriteByte(' ')
				}
			}
		}
		if n == b.last {
			break
		}
	}
	return s.String()
}

// label aligns blocks to the reference.
func (s *sample) label() {
	o := newOutline(context.Background(), s.page.Body, s.choice, odds{})
	n := len(o.blocks)
	s.labels, s.weights, s.words = make([]float32, n), make([]float32, n), make([][]string, n)
	total := 0
	for i := range o.blocks {
		s.words[i] = toks(o.blocks[i].textOf())
		total += len(s.words[i])
	}
	if len(s.ref) == 0 && s.with != nil {
		for i := range o.blocks {
			text := chars.OneLine(o.blocks[i].textOf())
			for _, w := range s.with {
				if w = chars.OneLine(w); strings.Contains(text, w) || len(text) > 20 && strings.Contains(w, text) {
					s.labels[i], s.weights[i] = 1, 1
				}
			}
			for _, w := range s.without {
				if w = chars.OneLine(w); strings.Contains(text, w) {
					s.labels[i], s.weights[i] = 0, 1
				}
			}
		}
		return
	}
	grams := map[string][]int32{}
	const g = 4
	for i := 0; i+g <= len(s.ref); i++ {
		k := strings.Join(s.ref[i:i+g], " ")
		grams[k] = append(grams[k], int32(i))
	}
	begin, end := make([]int, n), make([]int, n)
	at := 0
	for i := range s.words {
		begin[i], end[i] = -1, -1
		w := s.words[i]
		if len(w) < g+1 {
			continue
		}
		hit := make([]bool, len(w))
		lo, hi := -1, -1
		for j := 0; j+g <= len(w); j++ {
			pos := grams[strings.Join(w[j:j+g], " ")]
			if len(pos) == 0 {
				continue
			}
			best := int(pos[0])
			for _, p := range pos {
				if int(p) >= at-5 {
					best = int(p)
					break
				}
			}
			for k := range g {
				hit[j+k] = true
			}
			if lo < 0 {
				lo = best
			}
			hi = best + g
		}
		c := 0
		for _, h := range hit {
			if h {
				c++
			}
		}
		s.labels[i] = float32(c) / float32(len(w))
		if s.labels[i] > .5 {
			begin[i], end[i] = lo, hi
			at = hi
		}
	}
	prevEnd := 0
	nextStart := make([]int, n+1)
	nextStart[n] = len(s.ref)
	for i := n - 1; i >= 0; i-- {
		nextStart[i] = nextStart[i+1]
		if begin[i] >= 0 {
			nextStart[i] = begin[i]
		}
	}
	for i := range s.words {
		if end[i] >= 0 {
			prevEnd = end[i]
		}
		w := s.words[i]
		if len(w) > g || len(w) == 0 {
			continue
		}
		lo, hi := max(0, prevEnd-1), min(len(s.ref), nextStart[i]+1)
		if hi-lo > 400 && prevEnd > 0 {
			hi = lo + 400
		}
		if k := index(s.ref[min(lo, hi):hi], w); k >= 0 {
			s.labels[i] = 1
			prevEnd = lo + k + len(w)
		}
	}
	if total == 0 {
		return
	}
	ref := max(len(s.ref), 30)
	for i := range s.words {
		// a page weighs about as much as another
		s.weights[i] = float32(math.Pow(float64(len(s.words[i])), .7)) / float32(math.Pow(float64(min(ref+total/4, total)),
			.7))
	}
	sum := float32(0)
	for _, w := range s.weights {
		sum += w
	}
	for i := range s.weights {
		s.weights[i] /= float32(math.Sqrt(float64(sum)))
	}
}

// labelBox labels by the box whose blocks are most like those of ref, an element of the page as it was written. Where
// none is like it the labels stay.
func (s *sample) labelBox(ref string) {
	page, err := readPage(context.Background(), []byte("<body>"+ref), "text/html", s.url)
	if err != nil {
		return
	}
	value := func(b *block) float64 { return math.Sqrt(float64(b.words)) }
	wanted, total := map[uint64]int{}, 0.0
	r := newOutline(context.Background(), page.Body, rules.Choice{Root: page.Body}, odds{})
	for i := range r.blocks {
		wanted[r.blocks[i].hash]++
		total += value(&r.blocks[i])
	}
	o := newOutline(context.Background(), s.page.Body, s.choice, odds{})
	best, at := .6, -1
	for i := range o.boxes {
		met := map[uint64]int{}
		good, all := 0.0, 0.0
		for j := o.boxes[i].begin; j < o.boxes[i].end; j++ {
			v := value(&o.blocks[j])
			all += v
			if h := o.blocks[j].hash; met[h] < wanted[h] {
				met[h]++
				good += v
			}
		}
		if f := 2 * good / (all + total); f > best {
			best, at = f, i
		}
	}
	if at < 0 {
		return
	}
	sum := 0.0
	for j := range o.blocks {
		s.labels[j] = flag(int32(j) >= o.boxes[at].begin && int32(j) < o.boxes[at].end)
		// A short block weighs nearly as much as a long one: an item of a list, a heading or a link is one as another.
		s.weights[j] = float32(math.Pow(float64(o.blocks[j].words), .3))
		sum += float64(s.weights[j])
	}
	for j := range s.weights {
		s.weights[j] /= 9 * float32(math.Sqrt(sum)) // a page weighs about as much as one of another set
	}
}

func index(ref, w []string) int {
outer:
	for i := 0; i+len(w) <= len(ref); i++ {
		for j := range w {
			if ref[i+j] != w[j] {
				continue outer
			}
		}
		return i
	}
	return -1
}

// f1 is the F1 of two bags of words.
func f1(pred, ref map[string]int) float64 {
	np, nr, o := 0, 0, 0
	for w, c := range pred {
		np += c
		o += min(c, ref[w])
	}
	for _, c := range ref {
		nr += c
	}
	if np == 0 && nr == 0 {
		return 1
	}
	if np+nr == 0 {
		return 0
	}
	return 2 * float64(o) / float64(np+nr)
}

func (s *sample) score(keep func(i int) bool) float64 {
	if s.set == "traf" {
		tp, fp, fn := 0, 0, 0
		var b strings.Builder
		for i := range s.words {
			if keep(i) {
				b.WriteString(strings.Join(s.words[i], " ") + " ")
			}
		}
		text := b.String()
		for _, w := range s.with {
			if strings.Contains(text, strings.Join(toks(w), " ")) {
				tp++
			} else {
				fn++
			}
		}
		for _, w := range s.without {
			if strings.Contains(text, strings.Join(toks(w), " ")) {
				fp++
			}
		}
		return 2 * float64(tp) / float64(max(1, 2*tp+fp+fn))
	}
	m := map[string]int{}
	for i := range s.words {
		if keep(i) {
			for _, w := range s.words[i] {
				m[w]++
			}
		}
	}
	return f1(m, s.refBag)
}

// foldOf puts all pages of a site into one of k parts.
func foldOf(site string, k int) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(site))
	return int(h.Sum32()>>8) % k
}
