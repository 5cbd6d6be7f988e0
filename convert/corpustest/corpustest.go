// Package corpustest has a small corpus of pages, whose content is known, for the tests of what converts pages.
package corpustest

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Dir returns the folder of a corpus that a test was given. Without one it makes a small one of our own, so that what
// is held of a corpus is held in each run of the tests. given is the folder, or empty. The small one has eight layouts
// of four pages each, with the form of a real corpus: a manifest, pages and the text that is expected of each,
// compressed.
func Dir(tb testing.TB, given string) string {
	tb.Helper()
	if given != "" {
		return given
	}
	dir := tb.TempDir()
	var manifest bytes.Buffer
	for site, layout := range layouts {
		for n := range 4 {
			id := fmt.Sprintf("site%d-%d", site, n)
			name := filepath.Join("html", id+".html.gz")
			line, err := json.Marshal(map[string]string{
				"set": "wcxb-dev", "id": id, "url": fmt.Sprintf("https://site%d.test/page/%d", site, n),
				"type": "article", "html": name,
			})
			if err != nil {
				tb.Fatal(err)
			}
			fmt.Fprintf(&manifest, "%s\n", line)
			content, text := layoutPage(layout, 100*site+n)
			expected, err := json.Marshal(map[string]string{"text": text})
			if err != nil {
				tb.Fatal(err)
			}
			writeGz(tb, filepath.Join(dir, name), []byte(content))
			writeGz(tb, filepath.Join(dir, "expect", "wcxb-dev", id+".json.gz"), expected)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "manifest.jsonl"), manifest.Bytes(), 0o600); err != nil {
		tb.Fatal(err)
	}
	return dir
}

// layouts are how the sites of our own corpus build a page. MENU, TITLE, TEXT, ASIDE and END stand for its parts. They
// differ in names and elements, so that a rule cannot be right by one name.
var layouts = []string{
	`<header class=top><nav class=menu>MENU</nav></header><main><article class=post>TITLETEXT</article></main>
		<aside class=sidebar>ASIDE</aside><footer class=footer>END</footer>`,
	`<div id=menu class=nav>MENU</div>
		<div id=page><div class=sidebar>ASIDE</div><div class="content text">TITLETEXT</div></div>
		<div id=footer class=footer>END</div>`,
	`<div class="bar top">MENU</div><div class=story>TITLE<div class=body>TEXT</div><div class=related>ASIDE</div></div>
		<div class=bottom>END</div>`,
	`<table width=100%><tr><td colspan=2 class=top>MENU<tr><td class=menu>ASIDE<td class=content>TITLETEXT</table>
		<p class=footer>END</p>`,
	`<header>MENU</header><section class=wrapper><div class=post>TITLE<div class=content>TEXT</div></div></section>
		<section class=related>ASIDE</section><footer>END</footer>`,
	`<div class=wrapper><ul class=nav>MENU</ul>TITLE<div class=story>TEXT</div>
		<div class="sidebar related">ASIDE</div></div>
		<div class=bottom>END</div>`,
	`<nav>MENU</nav><div class=page><main class=content>TITLETEXT</main></div><div class=sidebar>ASIDE</div>
		<div class=legal>END</div>`,
	`<div class=top><div class=menu>MENU</div></div><article>TITLETEXT</article><div class=related>ASIDE</div>
		<div class=legal>END</div>`,
}

// layoutPage builds a page of the small corpus, and returns it with the text that is its content. Equal seeds give
// equal pages.
func layoutPage(layout string, seed int) (page, content string) {
	words := strings.Fields(`water river morning window garden village letter answer market winter engine bridge forest
		paper harbour summer mountain question evening kitchen station machine holiday picture teacher island`)
	next := seed
	word := func() string {
		next = (next*7 + 11) % 6007
		return words[next%len(words)]
	}
	sentence := func() string {
		return fmt.Sprintf("The %s near the %s was older than the %s, and nobody in the %s remembered the %s.",
			word(), word(), word(), word(), word())
	}
	title := fmt.Sprintf("A %s without a %s", word(), word())
	var body strings.Builder
	text := []string{title}
	for part := range 6 {
		if part%2 == 1 {
			text = append(text, fmt.Sprintf("The %s and the %s", word(), word()))
			fmt.Fprintf(&body, "<h2>%s</h2>", text[len(text)-1])
		}
		text = append(text, strings.Join([]string{sentence(), sentence(), sentence()}, " "))
		fmt.Fprintf(&body, "<p>%s</p>", text[len(text)-1])
	}
	links := func(list ...string) string {
		var b strings.Builder
		for _, l := range list {
			fmt.Fprintf(&b, "<li><a href=/%s>%s</a></li>", strings.ToLower(l), l)
		}
		return "<ul>" + b.String() + "</ul>"
	}
	page = strings.NewReplacer(
		"MENU", links("Home", "News", "Shop", "Contact", "Login"), "TITLE", "<h1>"+title+"</h1>", "TEXT", body.String(),
		"ASIDE", "<h3>Read next</h3>"+links("Our "+word(), "Your "+word(), "More about "+word(), "Best "+word()),
		"END", "Copyright 2024 "+links("Imprint", "Privacy", "Terms"),
	).Replace(layout)
	return "<!DOCTYPE html><html lang=en><head><title>" + title + "</title></head><body>" + page + "</body></html>",
		strings.Join(text, "\n")
}

// writeGz writes a compressed file of the small corpus, with the folders that it lies in.
func writeGz(tb testing.TB, name string, content []byte) {
	tb.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write(content)
	if err := cmp.Or(err, z.Close(), os.MkdirAll(filepath.Dir(name), 0o700)); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(name, b.Bytes(), 0o600); err != nil {
		tb.Fatal(err)
	}
}
