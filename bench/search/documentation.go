package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/readthru/readthru/convert"
)

// agentQueries are queries as coding agents type them, by class, each with the pages that answer it. They were written
// before any result was seen.
//
//go:embed testdata/agent-queries.tsv
var agentQueries string

// misspeltQueries are queries with a mistake each, by ten classes of mistakes, what was meant, and the pages that
// answer it. They were written before any result was seen.
//
//go:embed testdata/misspelt-queries.tsv
var misspeltQueries string

// conceptQueries say in other words what pages are about, with the pages. They were written before any result was seen.
//
//go:embed testdata/concept-queries.tsv
var conceptQueries string

// manuals are the folders below the folder of Debian's documentation that the queries ask about, by the name that a
// page's address begins with, and where their pages stand on the web.
var manuals = []struct{ name, folder, web, ext string }{
	{"python", "python3.11/html", "https://docs.python.org/3.11/", ".html"},
	{"postgres", "postgresql-doc-15/html", "https://www.postgresql.org/docs/15/", ".html"},
	{"git", "git/html", "https://git-scm.com/docs/", ""},
	{"sqlite", "sqlite3", "https://www.sqlite.org/", ".html"},
	{"node", "nodejs/api", "https://nodejs.org/docs/latest-v18.x/api/", ".html"},
	{"go", "golang-1.19-doc/html", "https://go.dev/ref/", ""},
}

// repeating are pages that hold other pages of their manual once more.
var repeating = []string{"node:all", "sqlite:capi3ref"}

// readDocumentation returns the manuals below a folder with a set of queries, once for each way to ask them.
func readDocumentation(ctx context.Context, dir, set string) (list []*collection, err error) {
	docs, address, err := readManuals(ctx, dir)
	if err != nil {
		return nil, err
	}
	ask := func(name, table string, column int) {
		c := &collection{name: name, docs: docs}
		var wrong error
		c.queries, wrong = readQueries(table, column, address)
		list, err = append(list, c), errors.Join(err, wrong)
	}
	switch set {
	case "agent":
		ask("documentation", agentQueries, 1)
	case "misspelt":
		ask("misspelt", misspeltQueries, 1)
		ask("spelt right", misspeltQueries, 2)
	case "concept":
		ask("concepts", conceptQueries, 1)
	default:
		err = fmt.Errorf("-queries: there is no set %q", set)
	}
	return list, err
}

// readManuals converts the pages of the manuals below a folder, as the proxy does. Address has them by what the queries
// call a page.
func readManuals(ctx context.Context, dir string) (docs []document, address map[string]string, err error) {
	address = map[string]string{}
	for _, m := range manuals {
		root, err := filepath.EvalSymlinks(filepath.Join(dir, m.folder))
		if err != nil {
			return nil, nil, fmt.Errorf("read documentation: %w; install python3-doc, postgresql-doc, git-doc, "+
				"sqlite3-doc, nodejs-doc and golang-doc of Debian 12", err)
		}
		err = filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Ext(name) != ".html" {
				return err
			}
			below, err := filepath.Rel(root, name)
			if err != nil {
				return err
			}
			page := strings.TrimSuffix(filepath.ToSlash(below), ".html")
			if slices.Contains(repeating, m.name+":"+page) {
				return nil
			}
			doc, err := readPage(ctx, name, m.web+page+m.ext)
			if err != nil {
				return fmt.Errorf("read %s: %w", name, err)
			}
			doc.manual = m.name
			docs = append(docs, doc)
			address[m.name+":"+page] = doc.url
			return nil
		})
		if err != nil {
			return nil, nil, err
		}
	}
	return docs, address, nil
}

// htmlOption is where a page of git's manual begins to define an option. These have no anchors.
var htmlOption = regexp.MustCompile(`<dt class="hdlist1">\s*(--[a-z][a-z-]+)`)

func readPage(ctx context.Context, name, address string) (document, error) {
	u, err := url.Parse(address)
	if err != nil {
		return document{}, err
	}
	content, err := os.ReadFile(name)
	if err != nil {
		return document{}, err
	}
	parsed, err := convert.Parse(ctx, content, "text/html", u)
	if err != nil {
		return document{}, err
	}
	r, err := parsed.Convert(ctx, convert.Options{})
	if err != nil {
		return document{}, err
	}
	d := document{url: address, title: r.Title, markdown: r.Markdown, anchors: convert.Anchors(content)}
	for _, m := range htmlOption.FindAllSubmatch(content, -1) {
		d.options = append(d.options, string(m[1]))
	}
	return d, nil
}

// readQueries reads lines that begin with a class and end with pages; the query is the column of that number. The
// queries of a class belong in turn to its two halves.
func readQueries(table string, column int, address map[string]string) (queries []query, err error) {
	inClass := map[string]int{}
	lines := strings.Split(strings.TrimSpace(table), "\n")
	columns := strings.Count(lines[0], "\t") + 1
	for i, line := range lines[1:] {
		fields := strings.Split(line, "\t")
		if len(fields) != columns {
			return nil, fmt.Errorf("line %d of the queries has %d fields, want %d", i+2, len(fields), columns)
		}
		q := query{text: fields[column], class: fields[0], half: inClass[fields[0]] % 2, grades: map[string]float64{}}
		inClass[q.class]++
		for _, page := range strings.Fields(fields[columns-1]) {
			if address[page] == "" {
				err = errors.Join(err, fmt.Errorf("%q: there is no page %s", q.text, page))
			}
			q.grades[address[page]] = 1
		}
		queries = append(queries, q)
	}
	return queries, err
}
