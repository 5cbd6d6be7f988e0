package e2e_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// small is the web of a random sequence: few pages that change, and are empty, equal, nearly equal, gone or moved. Some
// show whoever has a cookie a text of their own.
type small struct {
	mu    sync.Mutex
	rng   *rand.Rand
	pages map[string]*changing // by URL
	texts []text               // by number; the first is empty
}

// changing is a page that changes.
type changing struct {
	url     string
	kind    string // html, markdown, text, negotiated, private, route or moved
	fresh   string // Cache-Control
	vary    string
	to      string // of a page that moved: where it is
	history []int  // what it was: numbers of texts, or statuses below 0. The last one is what it is
}

// text is what a page may say. Pages that say the same are equal.
type text struct {
	title    string
	sections []section
}

type section struct{ heading, word string }

// The words are so far from each other that none is a misspelling or another form of another one.
var words = []string{
	"quokka", "zeppelin", "flange", "wombat", "harpsichord", "jubilee", "oxbow", "velcro", "kimono", "dolmen",
}

// freshness are what origins say of how long an answer may be used.
var freshness = []string{
	"max-age=600", "max-age=600", "max-age=600, stale-while-revalidate=600", "no-cache", "", "no-store",
}

func newSmall(rng *rand.Rand, routes bool) *small {
	w := &small{rng: rng, pages: map[string]*changing{}, texts: []text{{}}}
	kinds := []string{"html", "html", "html", "markdown", "text", "negotiated", "private", "private"}
	for host := range 4 {
		for _, path := range []string{"x", "y/z", "w?q=1"} {
			p := &changing{
				url:  fmt.Sprintf("https://h%d.test/%s", host, path),
				kind: kinds[rng.IntN(len(kinds))], fresh: freshness[rng.IntN(len(freshness))],
			}
			p.vary = map[string]string{"negotiated": "Accept", "private": []string{"", "Cookie"}[rng.IntN(2)]}[p.kind]
			if p.kind == "private" && rng.IntN(2) == 0 && p.fresh != "" {
				p.fresh = "private, " + p.fresh
			}
			w.pages[p.url] = p
			w.change(p)
		}
	}
	for i := range 2 {
		url := fmt.Sprintf("https://h%d.test/moved", i)
		to := fmt.Sprintf("https://h%d.test/x", rng.IntN(4))
		w.pages[url] = &changing{url: url, kind: "moved", fresh: freshness[rng.IntN(len(freshness))], to: to}
	}
	if routes {
		for _, name := range []string{"one", "two"} {
			p := &changing{url: "https://routes.test/#/" + name, kind: "route", fresh: "max-age=600"}
			w.pages[p.url] = p
			w.change(p)
		}
	}
	return w
}

// change has a page say something else. The caller holds mu, or is alone.
func (w *small) change(p *changing) {
	var n int
	switch k := w.rng.IntN(16); {
	case p.kind == "moved":
		return
	case k < 1 && p.kind != "route":
		n = []int{-http.StatusNotFound, -http.StatusGone}[w.rng.IntN(2)]
	case k < 3 && p.kind == "html":
		n = 0 // empty
	case k < 7 && len(w.texts) > 1: // as another page is, or was
		n = 1 + w.rng.IntN(len(w.texts)-1)
	case k < 10 && len(w.texts) > 1: // nearly so
		t := w.texts[1+w.rng.IntN(len(w.texts)-1)]
		t.sections = slices.Clone(t.sections)
		t.sections[w.rng.IntN(len(t.sections))].word = w.word()
		n = len(w.texts)
		w.texts = append(w.texts, t)
	default:
		t := text{title: w.word() + " " + w.word()}
		for range 1 + w.rng.IntN(4) {
			t.sections = append(t.sections, section{w.word(), w.word()})
		}
		n = len(w.texts)
		w.texts = append(w.texts, t)
	}
	p.history = append(p.history, n)
}

func (w *small) word() string { return words[w.rng.IntN(len(words))] }

// marker is what in a text says which one it is; secret what says whose a private one is.
var (
	marker = regexp.MustCompile(`\bedition(\d+)x\b`)
	secret = regexp.MustCompile(`secretof(\w+)x`)
)

// paragraphs returns what a text says under each heading, "" being the title's.
func (t *text) paragraphs(mark string) []string {
	list := []string{"This is " + mark + " of a text, and it is long enough to be what this page is about, as its readers say."}
	for _, s := range t.sections {
		list = append(list, "What is said of the "+s.word+" is this: it is there, and it is no other one. "+
			"More of it is said here by those who know it, and some more by others.")
	}
	return list
}

// markdown and html return the two forms of a text.
func (t *text) markdown(mark string) string {
	list := t.paragraphs(mark)
	b := "# " + t.title + "\n\n" + list[0] + "\n"
	for i, s := range t.sections {
		b += "\n## " + s.heading + "\n\n" + list[i+1] + "\n"
	}
	return b
}

func (t *text) html(mark string) string {
	list := t.paragraphs(mark)
	b := `<!doctype html><html lang="en"><head><title>` + t.title + `</title></head><body><nav><a href="/">Start</a>
		<a href="/n">Navigation</a></nav><main><h1>` + t.title + `</h1><p>` + list[0] + `</p>`
	for i, s := range t.sections {
		b += `<h2>` + s.heading + `</h2><p>` + list[i+1] + `</p>`
	}
	return b + `<p>See <a href="/more">more of it</a> and <img src="/i.png" alt="a picture"> there.</p></main>
		<footer>All rights are with somebody.</footer></body></html>`
}

// ServeHTTP implements [http.Handler].
func (w *small) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	h := rw.Header()
	if r.Host == "routes.test" {
		w.serveRoutes(rw, r)
		return
	}
	p := w.pages["https://"+r.Host+r.URL.RequestURI()]
	if p == nil {
		http.NotFound(rw, r)
		return
	}
	if p.fresh != "" {
		h.Set("Cache-Control", p.fresh)
	}
	if p.vary != "" {
		h.Set("Vary", p.vary)
	}
	if p.kind == "moved" {
		http.Redirect(rw, r, p.to, http.StatusMovedPermanently)
		return
	}
	if r.Method == http.MethodPut {
		w.change(p)
		rw.WriteHeader(http.StatusNoContent)
		return
	}
	n := p.now()
	mark := fmt.Sprintf("edition%dx", n)
	who := ""
	if c, err := r.Cookie("who"); err == nil && p.kind == "private" {
		who, mark = c.Value, "secretof"+c.Value+"x"
		n = max(n, 1)
	}
	if n < 0 {
		http.Error(rw, "There is nothing here.", -n)
		return
	}
	tag := fmt.Sprintf(`"%d%s"`, n, who)
	t := &w.texts[n]
	h.Set("Content-Type", "text/html; charset=utf-8")
	body := t.html(mark)
	if n == 0 {
		body = "<html><body></body></html>"
	}
	switch wanted := strings.HasPrefix(r.Header.Get("Accept"), "text/markdown"); {
	case p.kind == "markdown", p.kind == "negotiated" && wanted:
		h.Set("Content-Type", "text/markdown; charset=utf-8")
		body, tag = t.markdown(mark), tag[:len(tag)-1]+`m"`
	case p.kind == "text":
		h.Set("Content-Type", "text/plain; charset=utf-8")
		body = strings.Join(t.paragraphs(mark), "\n")
	}
	if p.fresh != "max-age=600" { // others can be validated
		h.Set("ETag", tag)
		if r.Header.Get("If-None-Match") == tag {
			rw.WriteHeader(http.StatusNotModified)
			return
		}
	}
	_, _ = io.WriteString(rw, body)
}

// serveRoutes answers for a site whose only page shows what its script fetches for the route.
func (w *small) serveRoutes(rw http.ResponseWriter, r *http.Request) {
	rw.Header().Set("Content-Type", "text/html; charset=utf-8")
	switch p := w.pages["https://routes.test/#"+strings.TrimPrefix(r.URL.Path, "/d")]; {
	case r.URL.Path == "/":
		rw.Header().Set("Cache-Control", "max-age=600")
		_, _ = io.WriteString(rw, `<html><body><div id="root"></div><script>fetch("/d"+location.hash.slice(1)).then(r=>
			r.text()).then(t=>document.getElementById("root").innerHTML=t)</script></body></html>`)
	case p != nil:
		rw.Header().Set("Cache-Control", p.fresh)
		_, _ = io.WriteString(rw, w.texts[p.now()].html(fmt.Sprintf("edition%dx", p.now())))
	default:
		http.NotFound(rw, r)
	}
}

// now returns what the page is.
func (p *changing) now() int { return p.history[len(p.history)-1] }

// edition returns the number of the text that an answer has, 0 if it has none.
func edition(answer string) int {
	if m := marker.FindStringSubmatch(answer); m != nil {
		n, _ := strconv.Atoi(m[1])
		return n
	}
	return 0
}
