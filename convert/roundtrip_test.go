package convert_test

import (
	"bytes"
	"context"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	goldhtml "github.com/yuin/goldmark/renderer/html"
	goldtext "github.com/yuin/goldmark/text"
	"golang.org/x/net/html"

	"github.com/readthru/readthru/convert"
)

var reader = goldmark.New(goldmark.WithExtensions(extension.GFM, extension.Footnote, extension.DefinitionList),
	goldmark.WithRendererOptions(goldhtml.WithUnsafe()))

// readBack reads markdown as a reader of it does, and returns what it holds.
func readBack(t *testing.T, markdown string) convert.Inventory {
	t.Helper()
	var out bytes.Buffer
	if err := reader.Convert([]byte(markdown), &out); err != nil {
		t.Fatal(err)
	}
	root, err := html.Parse(&out)
	if err != nil {
		t.Fatal(err)
	}
	var inv convert.Inventory
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		switch n.Data {
		case "h1", "h2", "h3", "h4", "h5", "h6":
			inv.Headings = append(inv.Headings, convert.Letters(text(n)))
		case "pre":
			lang := ""
			if n.FirstChild != nil && len(n.FirstChild.Attr) > 0 {
				lang = strings.TrimPrefix(n.FirstChild.Attr[0].Val, "language-")
			}
			inv.Code = append(inv.Code, lang+"\n"+strings.TrimSuffix(text(n), "\n"))
		case "a":
			href, class := value(n, "href"), value(n, "class")
			if letters := convert.Letters(text(n)); letters != "" && !strings.HasPrefix(class, "footnote") &&
				!inside(n, "td", "th") {
				inv.Links = append(inv.Links, href+" "+letters)
			}
		case "table":
			inv.Tables++
		case "li":
			if strings.HasPrefix(value(n, "id"), "fn:") {
				inv.Notes++
			}
		}
	}
	return inv
}

func text(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return b.String()
}

func value(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

func inside(n *html.Node, names ...string) bool {
	for p := n.Parent; p != nil; p = p.Parent {
		if slices.Contains(names, p.Data) {
			return true
		}
	}
	return false
}

// unescaped returns the inventory with addresses as a browser compares them, in an order of their own.
func unescaped(inv convert.Inventory) convert.Inventory {
	for i, link := range inv.Links {
		address, letters, _ := strings.Cut(link, " ")
		if plain, err := url.PathUnescape(address); err == nil {
			address = plain
		}
		inv.Links[i] = address + " " + letters
	}
	slices.Sort(inv.Links)
	slices.Sort(inv.Headings)
	slices.Sort(inv.Code)
	return inv
}

// TestRoundTripKeepsStructure compares the structure that goldmark reads in the markdown of the golden pages with that
// of the pages.
func TestRoundTripKeepsStructure(t *testing.T) {
	files := goldenPages(t)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			page, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			doc := parse(t, string(page))
			res, err := doc.Convert(t.Context(), convert.Options{WholePage: true})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(unescaped(convert.TakeInventory(doc)), unescaped(readBack(t, res.Markdown))); diff != "" {
				t.Errorf("(-page +markdown):\n%s", diff)
			}
		})
	}
}

// goldenPages returns the names of all golden pages.
func goldenPages(tb testing.TB) []string {
	tb.Helper()
	files, err := filepath.Glob("testdata/*.html")
	if err != nil {
		tb.Fatal(err)
	}
	elements, err := filepath.Glob("testdata/elements/*.html")
	if err != nil || len(elements) == 0 {
		tb.Fatalf("no golden pages: %v", err)
	}
	return append(files, elements...)
}

// TestCorpusRoundTripKeepsStructure does the same for the pages of a corpus and counts what is lost. A few links and
// headings in a thousand may be: pages nest them in ways that markdown has no form for.
func TestCorpusRoundTripKeepsStructure(t *testing.T) {
	var total, lost [5]int
	for _, p := range readCorpus(t) {
		u, _ := url.Parse(p.URL)
		doc, err := convert.Parse(context.Background(), p.content, "text/html", u)
		if err != nil {
			continue
		}
		res, err := doc.Convert(context.Background(), convert.Options{WholePage: true})
		if err != nil || slices.Contains(res.Warnings, convert.WarnFallback) {
			continue
		}
		if !utf8.ValidString(res.Markdown) {
			t.Errorf("%s/%s: not UTF-8", p.Set, p.ID)
		}
		want, got := unescaped(convert.TakeInventory(doc)), unescaped(readBack(t, res.Markdown))
		for i, pair := range [...][2][]string{{want.Headings, got.Headings}, {want.Code, got.Code}, {want.Links, got.Links}} {
			missing := without(pair[0], pair[1])
			total[i] += len(pair[0])
			lost[i] += len(missing)
			if testing.Verbose() && len(missing) > 0 {
				t.Logf("%s/%s: %d of %d %s: %.200q", p.Set, p.ID, len(missing), len(pair[0]), [...]string{
					"headings",
					"blocks of code", "links",
				}[i], missing)
			}
		}
		total[3], lost[3] = total[3]+want.Tables, lost[3]+max(0, want.Tables-got.Tables)
		total[4], lost[4] = total[4]+want.Notes, lost[4]+max(0, want.Notes-got.Notes)
	}
	for i, kind := range [...]string{"headings", "blocks of code", "links", "tables", "footnotes"} {
		t.Logf("%s: %d of %d lost", kind, lost[i], total[i])
		if lost[i]*200 > total[i] {
			t.Errorf("more than one in 200 %s lost", kind)
		}
	}
}

// without returns the strings of a that b lacks; both are sorted.
func without(a, b []string) (missing []string) {
	for _, s := range a {
		i, ok := slices.BinarySearch(b, s)
		if ok {
			b = slices.Delete(slices.Clone(b), i, i+1)
			continue
		}
		missing = append(missing, s)
	}
	return missing
}

// checkMarkdown fails t for a fence that is not closed, and for a link or an image that is neither absolute nor a
// fragment.
func checkMarkdown(t *testing.T, markdown string) {
	t.Helper()
	source := []byte(markdown)
	err := ast.Walk(reader.Parser().Parse(goldtext.NewReader(source)),
		func(n ast.Node, entering bool) (ast.WalkStatus, error) {
			if !entering {
				return ast.WalkContinue, nil
			}
			switch n := n.(type) {
			case *ast.FencedCodeBlock:
				rest := source
				if lines := n.Lines(); lines.Len() > 0 {
					rest = source[lines.At(lines.Len()-1).Stop:]
				}
				if !bytes.Contains(rest, []byte("```")) {
					t.Errorf("fence without an end in %q", markdown)
				}
			case *ast.Link:
				checkAddress(t, string(n.Destination))
			case *ast.Image:
				checkAddress(t, string(n.Destination))
			}
			return ast.WalkContinue, nil
		})
	if err != nil {
		t.Fatal(err)
	}
}

func checkAddress(t *testing.T, address string) {
	t.Helper()
	if strings.HasPrefix(address, "#") {
		return
	}
	if scheme, _, ok := strings.Cut(address, ":"); !ok || strings.ContainsAny(scheme, "/?#") ||
		strings.EqualFold(scheme, "javascript") {
		t.Errorf("address %q is not absolute", address)
	}
}
