package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/readthru/readthru/knowledge"
	"github.com/readthru/readthru/page"
)

// A definition is what a manual defines at a place of its own, and what one asks to find it.
type definition struct {
	manual, query, url string

	fragment string // that leads to it; without one, the last of the headings above begins with option
	option   string
}

// isAt reports whether a hit leads to the definition.
func (d *definition) isAt(h *knowledge.Hit) bool {
	if d.fragment != "" {
		return h.Link == d.url+"#"+d.fragment
	}
	headings := strings.Split(h.Heading, " › ")
	for term := range strings.SplitSeq(headings[len(headings)-1], ", ") {
		rest, ok := strings.CutPrefix(term, d.option)
		if ok && (rest == "" || strings.IndexAny(rest, " =[<") == 0) && h.URL == d.url {
			return true
		}
	}
	return false
}

// definedBy tells by a manual's name which of its anchors are of definitions, and what one asks for those.
var definedBy = map[string]*regexp.Regexp{
	"python": regexp.MustCompile(`^(?:@|class |async |exception |classmethod |static |abstractmethod )*([\w.]+\.\w+)\(`),
	"node":   regexp.MustCompile(`^(?:new |Class: |Event: |class )*([\w.]+\.\w+)\(`),
}

// definitions returns what a page defines.
func definitions(d *document) (list []definition) {
	known := map[string]bool{}
	for _, a := range d.anchors {
		if p := definedBy[d.manual]; p != nil {
			if m := p.FindStringSubmatch(a.Text); m != nil && !known[m[1]] {
				known[m[1]] = true
				list = append(list, definition{manual: d.manual, query: m[1], url: d.url, fragment: a.ID})
			}
		}
	}
	for _, o := range d.options {
		if !known[o] {
			known[o] = true
			query := strings.Replace(path.Base(d.url), "git-", "git ", 1) + " " + o
			list = append(list, definition{manual: d.manual, query: query, url: d.url, option: o})
		}
	}
	return list
}

// perManual is how many definitions of a manual are asked for, spread evenly.
const perManual = 200

// measurePlaces prints how often the first hit leads to the page and to the place where what is asked for is defined.
func measurePlaces(ctx context.Context, c *collection, verbose bool) error {
	dir, err := os.MkdirTemp("", "readthru-bench-places-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	anchors := map[string][]page.Anchor{}
	defined := map[string][]definition{}
	for i := range c.docs {
		d := &c.docs[i]
		anchors[d.url] = d.anchors
		defined[d.manual] = append(defined[d.manual], definitions(d)...)
	}
	e, err := openWith(dir, func(url string) []page.Anchor { return anchors[url] })
	if err != nil {
		return err
	}
	if err := e.add(ctx, c.docs); err != nil {
		return err
	}
	fmt.Printf("%-10s %8s %8s %8s\n", "manual", "queries", "page@1", "place@1")
	for _, name := range slices.Sorted(maps.Keys(defined)) {
		all := defined[name]
		asked, pages, places := min(perManual, len(all)), 0, 0
		for i := range asked {
			d := &all[i*len(all)/asked]
			r, err := e.knowledge.Search(ctx, knowledge.Query{Text: d.query, Limit: 3})
			if err != nil {
				return err
			}
			var first knowledge.Hit
			if len(r.Hits) > 0 {
				first = r.Hits[0]
			}
			if first.URL == d.url {
				pages++
			}
			if d.isAt(&first) {
				places++
			} else if verbose {
				fmt.Printf("%s: %s#%s%s, not %s %s\n", d.query, d.url, d.fragment, d.option, cmp.Or(first.Link, first.URL),
					first.Heading)
			}
		}
		if asked > 0 {
			fmt.Printf("%-10s %8d %8.3f %8.3f\n", name, asked, share(pages, asked), share(places, asked))
		}
	}
	return e.close()
}

func share(n, of int) float64 { return float64(n) / float64(of) }

func runPlaces(docs string, verbose bool) error {
	ctx := context.Background()
	list, err := readDocumentation(ctx, docs, "agent")
	if err != nil {
		return err
	}
	return measurePlaces(ctx, list[0], verbose)
}
