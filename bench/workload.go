package main

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strconv"
	"strings"
)

// A page names one page of the origin: page number n is on host n mod hosts.
type page struct {
	host int
	path string
}

// Kinds of content. HTML is converted to markdown by readthru; text passes untouched everywhere.
const (
	textKind = "text"
	htmlKind = "html"
)

// numbered returns page n of a kind and size, in bytes.
func numbered(kind string, size, n int) page {
	return page{n % hosts, fmt.Sprintf("/%s/%d/%d", kind, size, n)}
}

// A workload is what a load asks for: request n of connection conn. A connection through a tunnel reaches one host
// alone, so that each connection keeps to one.
type workload func(conn, n int) page

// inTurn asks for each of count pages, beginning at another one on each connection.
func inTurn(kind string, size, count int) workload {
	perHost := max(1, count/hosts)
	return func(conn, n int) page { return numbered(kind, size, conn%hosts+hosts*((conn*7919+n)%perHost)) }
}

// atRandom asks for count pages in random order, another one in each round: what a round asked for is in memory then.
func atRandom(kind string, size, count int) workload {
	perHost := max(1, count/hosts)
	return func(conn, _ int) page { return numbered(kind, size, conn%hosts+hosts*rand.IntN(perHost)) }
}

var vocabulary = strings.Fields(`the of and to in is that it for as was with be by on not he his but at are this have
	from or had an they which one you were all her she there would their we him been has when who will no more if out so
	up said what its about than into them can only other time new some could these two may first then do any like my now
	over such our man me even most made after also did many off before must well back through years where much your way
	down should because long each just state those people too mr how little good world make very year still see work
	life day get here old between both against under last own great same being know used cache harbour version field
	origin header table index request response stored fresh stale page content window reader server client request`)

// contentOf returns the content of a page, which is the same each time; nil for a path that names none.
func contentOf(path string) (kind string, content []byte) {
	parts := strings.Split(path, "/")
	if len(parts) < 4 {
		return "", nil
	}
	size, err := strconv.Atoi(parts[2])
	if err != nil || size < 0 || size > 1<<28 {
		return "", nil
	}
	switch parts[1] {
	case textKind:
		return textKind, bytes.Repeat([]byte("all work and no play makes a dull page\n"), size/39+1)[:size]
	case htmlKind:
		return htmlKind, document(path, size)
	}
	return "", nil
}

// document is an article of about size bytes, different on every path.
func document(path string, size int) []byte {
	h := fnv.New64a()
	_, _ = h.Write([]byte(path)) // never an error
	r := rand.New(rand.NewPCG(h.Sum64(), 0))
	var b bytes.Buffer
	words := func(n int) {
		for range n {
			b.WriteString(vocabulary[r.IntN(len(vocabulary))])
			b.WriteByte(' ')
		}
	}
	fmt.Fprintf(&b, "<!doctype html><html lang=en><head><title>Page %[1]s</title></head><body><nav><a href=/>Home</a> "+
		"<a href=/about>About</a></nav><main><h1>Page %[1]s</h1>", path)
	for n := 1; b.Len() < size; n++ {
		fmt.Fprintf(&b, "<h2>Section %d</h2><p>", n)
		words(60)
		fmt.Fprintf(&b, "and a <a href=/html/%d>link</a> with <code>code_%x</code>.</p><p>", n, r.Uint32())
		words(40)
		b.WriteString("</p><ul><li>")
		words(6)
		b.WriteString("<li>")
		words(5)
		b.WriteString("</ul>\n")
	}
	b.WriteString("</main><footer>Imprint</footer></body></html>")
	return b.Bytes()
}
