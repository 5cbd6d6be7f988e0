package main

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/readthru/readthru/internal/webtest"
)

// web serves a folder of documentation on each host, and a site with traps. What it does otherwise can be changed.
type web struct {
	folders map[string]http.Handler // by host

	mu       sync.Mutex
	asked    map[string]int  // requests by URI, since the last reset
	pages    map[string]bool // paths that were answered with a page
	bytes    int64           // of answers
	delay    time.Duration   // before each answer
	robots   string
	moved    map[string]string // paths that redirect
	gone     map[string]bool
	replaced map[string]string // paths whose page is another
}

func (w *web) reset() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked, w.pages, w.bytes = map[string]int{}, map[string]bool{}, 0
}

// usual has the web do what it did at first.
func (w *web) usual() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.delay, w.robots, w.moved, w.gone, w.replaced = 0, "", nil, nil, nil
}

func (w *web) requests() (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, times := range w.asked {
		n += times
	}
	return n
}

// read returns the pages that were read.
func (w *web) read() map[string]bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := map[string]bool{}
	for p := range w.pages {
		all[p] = true
	}
	return all
}

// answer counts what is written.
type answer struct {
	http.ResponseWriter
	status int
	bytes  int64
}

func (a *answer) WriteHeader(status int) { a.status = status; a.ResponseWriter.WriteHeader(status) }

func (a *answer) Write(b []byte) (int, error) {
	n, err := a.ResponseWriter.Write(b)
	a.bytes += int64(n)
	return n, err
}

func (w *web) ServeHTTP(to http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	w.asked[r.URL.RequestURI()]++
	delay, robots, moved, gone := w.delay, w.robots, w.moved[r.URL.Path], w.gone[r.URL.Path]
	other := w.replaced[r.URL.Path]
	from := ""
	for old, at := range w.moved {
		if at == r.URL.Path {
			from = old
		}
	}
	w.mu.Unlock()
	if delay > 0 {
		time.Sleep(delay)
	}
	a := &answer{to, http.StatusOK, 0}
	switch {
	case r.URL.Path == "/robots.txt" && robots != "":
		a.Header().Set("Content-Type", "text/plain")
		_, _ = a.Write([]byte(robots)) // the client may have left, here and below
	case moved != "":
		http.Redirect(a, r, moved, http.StatusMovedPermanently)
	case gone:
		http.NotFound(a, r)
	case other != "":
		a.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = a.Write([]byte(other))
	case r.Host == trapHost:
		serveTraps(a, r)
	case w.folders[r.Host] != nil:
		if from != "" {
			r.URL.Path = from
		}
		w.folders[r.Host].ServeHTTP(a, r)
	default:
		http.NotFound(a, r)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.bytes += a.bytes
	page := a.status == http.StatusOK && strings.HasPrefix(a.Header().Get("Content-Type"), "text/html")
	if page || a.status == http.StatusNotModified {
		w.pages[strings.TrimSuffix(r.URL.RequestURI(), "index.html")] = true
	}
}

const (
	trapHost  = "traps.test"
	trapPages = 200 // of the site that say something
)

// serveTraps answers with pages that link to each other, and the first one to traps before them.
func serveTraps(w http.ResponseWriter, r *http.Request) {
	var n int
	_, err := fmt.Sscanf(r.URL.Path, "/page/%d", &n)
	var links []string
	switch {
	case r.URL.Path == "/":
		for _, trap := range webtest.Traps {
			links = append(links, trap.Path)
		}
		links = append(links, "/page/1")
	case webtest.TrapAt(r.URL.Path) != nil:
		webtest.TrapAt(r.URL.Path).ServeHTTP(w, r)
		return
	case err == nil && n > 0 && n <= trapPages:
		links = []string{fmt.Sprintf("/page/%d", n%trapPages+1), fmt.Sprintf("/page/%d", (n+1)%trapPages+1)}
	default:
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = fmt.Fprintf(w, "<!doctype html><title>Page %d</title><main><h1>Page %[1]d</h1>", n)
	for i := range 12 { // words that no other page has
		_, _ = fmt.Fprintf(w, "<p>Here the %s meets its %s in a sentence of this page alone.</p>", word(n*50+i),
			word(n*50+20+i))
	}
	for _, link := range links {
		_, _ = fmt.Fprintf(w, "<a href=%q>on</a> ", link)
	}
	_, _ = fmt.Fprint(w, "</main>")
}

// word returns a word without digits for a number.
func word(n int) string {
	text := []byte("w")
	for ; n > 0; n /= 20 {
		text = append(text, "bcdfghjklmnpqrstvwxz"[n%20], 'a')
	}
	return string(text)
}
