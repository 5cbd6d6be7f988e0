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

// readDocumentation converts the pages of the manuals below a folder, as the proxy does, and judges the queries.
func readDocumentation(ctx context.Context, dir string) (*collection, error) {
	c := &collection{name: "documentation"}
	address := map[string]string{} // by what the queries call a page
	for _, m := range manuals {
		root, err := filepath.EvalSymlinks(filepath.Join(dir, m.folder))
		if err != nil {
			return nil, fmt.Errorf("read documentation: %w; install python3-doc, postgresql-doc, git-doc, sqlite3-doc, "+
				"nodejs-doc and golang-doc of Debian 12", err)
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
			c.docs = append(c.docs, doc)
			address[m.name+":"+page] = doc.url
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	var err error
	c.queries, err = readAgentQueries(agentQueries, address)
	return c, err
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

// readAgentQueries reads lines of class, query and pages. The queries of a class belong in turn to its two halves.
func readAgentQueries(table string, address map[string]string) (queries []query, err error) {
	inClass := map[string]int{}
	for i, line := range strings.Split(strings.TrimSpace(table), "\n")[1:] {
		fields := strings.Split(line, "\t")
		if len(fields) != 3 {
			return nil, fmt.Errorf("line %d of the queries has %d fields, want class, query and pages", i+2, len(fields))
		}
		q := query{text: fields[1], class: fields[0], half: inClass[fields[0]] % 2, grades: map[string]float64{}}
		inClass[q.class]++
		for _, page := range strings.Fields(fields[2]) {
			if address[page] == "" {
				err = errors.Join(err, fmt.Errorf("%q: there is no page %s", q.text, page))
			}
			q.grades[address[page]] = 1
		}
		queries = append(queries, q)
	}
	return queries, err
}
