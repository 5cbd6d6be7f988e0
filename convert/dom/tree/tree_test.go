package tree_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/readthru/readthru/convert/dom/tree"
)

// pages are what goes through what is written anew: names, values, references, newlines and texts side by side.
var pages = []string{
	"", "text", "<p>a&amp;b &lt &notit; &#65;&#x42 &#; &# & &;",
	"<TITLE>A&ampb</TITLE><script>a&amp;b</script>",
	"<a href=?a=1&b=2&copy=3&copy;&notit;&semi;&fjlig;&amp&ampx&NotEqualTilde;&#65x&#x;&unknown;&ngE;>",
	"<a title='\r\n\x00&#0;'>",
	"<P CLASS=x class=y İd=z ID=1 data-Ü='1' =a=b a\x00=1 a\x00=2 b/c>",
	"a\r\nb\rc\x00d", "<!-- a\r\n\x00 --><!doctype\r\nhtml>",
	"<table>text<tr>more<td>&nbsp;<b>x</table>y</b>z",
	"<p>a<b id=1 class=2>b<p>c<p>d</b>e",
	"<svg viewbox=1><ForeignObject><p>x<![CDATA[a&amp;b]]></svg><math definitionurl=1>",
	"<p " + strings.Repeat("a ", 3) + strings.Repeat("b1 C2 ", 30) + ">",
	"<template><p>x</template><select><option>a<select>b",
	"<noscript><p>x</noscript><textarea>\n\nx</textarea><pre>\nx</pre>",
	"<x" + strings.Repeat("y", 50) + " " + strings.Repeat("Z", 50) + "=1>",
	"<p>" + strings.Repeat("short &amp; ", 500), strings.Repeat("<div>", 600),
	"<frameset><frame></frameset>", "<body a=1><body a=2 b=3><html c=4>",
	"<p a", "<p a=", "<p a='x", "</p></br><br/><p/>", "<a a=1 b=2 c=3><a>",
}

func TestTreeIsThatOfXNet(t *testing.T) {
	for _, page := range pages {
		compare(t, page)
	}
}

// TestTreeOfTheConformanceSuite compares the trees of the pages of html5lib-tests, which x/net's module holds.
func TestTreeOfTheConformanceSuite(t *testing.T) {
	dir := moduleDir(t)
	names, err := filepath.Glob(filepath.Join(dir, "html/testdata/*/tree-construction/*.dat"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no files of the suite below %s: %v", dir, err)
	}
	for _, name := range names {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for part := range strings.SplitSeq(string(content), "#data\n") {
			page, _, _ := strings.Cut(part, "\n#errors")
			compare(t, page)
		}
		compare(t, string(content))
	}
}

func FuzzTree(f *testing.F) {
	for _, page := range pages {
		f.Add(page)
	}
	f.Fuzz(compare)
}

func TestParsingEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	calls := 0
	_, err := tree.Parse([]byte(strings.Repeat("<p>text", 10_000)), func() error {
		if calls++; calls == 3 {
			cancel(nil)
		}
		return ctx.Err()
	})
	if !errors.Is(err, context.Canceled) || calls != 3 {
		t.Errorf("Parse = %v after %d calls, want %v after 3", err, calls, context.Canceled)
	}
}

// TestManyAttributesAreRead parses a tag with each of many attributes twice: they are looked up then, not compared.
func TestManyAttributesAreRead(t *testing.T) {
	const many = 2000
	var page strings.Builder
	page.WriteString("<p")
	for i := range 2 * many {
		fmt.Fprintf(&page, " a%d=%d", i%many, i)
	}
	page.WriteString(">")
	compare(t, page.String())
}

// compare parses a page with x/net's parser, too.
func compare(t *testing.T, page string) {
	t.Helper()
	want, wantErr := html.Parse(strings.NewReader(page))
	text := []byte(page)
	got, err := tree.Parse(text, func() error { return nil })
	if (err == nil) != (wantErr == nil) {
		t.Fatalf("%.200q: %v, want %v", page, err, wantErr)
	}
	if string(text) != page {
		t.Errorf("%.200q: the text has changed", page)
	}
	if err != nil {
		return
	}
	if g, w := shown(got), shown(want); g != w {
		t.Errorf("%.200q:\n%s\nwant\n%s", page, g, w)
	}
}

// shown writes down everything in a tree.
func shown(root *html.Node) string {
	var b strings.Builder
	var walk func(n *html.Node, depth int)
	walk = func(n *html.Node, depth int) {
		fmt.Fprintf(&b, "%*s%d %d %q %q %q\n", depth, "", n.Type, n.DataAtom, n.Namespace, n.Data, n.Attr)
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			if c.Parent != n || c.NextSibling != nil && c.NextSibling.PrevSibling != c {
				b.WriteString("a broken link\n")
			}
			walk(c, depth+1)
		}
	}
	walk(root, 0)
	return b.String()
}
