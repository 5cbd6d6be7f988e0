package tree_test

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/printer"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write xnet.go anew")

// TestSourceIsThatOfXNet makes xnet.go from the version of x/net that this module uses: what the other files of this
// package need of it, directly or through one another, and do not declare themselves.
func TestSourceIsThatOfXNet(t *testing.T) {
	dir := moduleDir(t)
	_, version, _ := strings.Cut(filepath.Base(dir), "@")
	source := copied(t, filepath.Join(dir, "html"), version)
	licence, err := os.ReadFile(filepath.Join(dir, "LICENSE"))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]byte{"xnet.go": source, "LICENSE": licence} {
		if *update {
			if err := os.WriteFile(name, want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(name); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not that of x/net %s: use -update, and look at what changed (%v)", name, version, err)
		}
	}
}

// moduleDir returns the folder of x/net.
func moduleDir(t *testing.T) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "golang.org/x/net").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// copied returns what this package needs of x/net's package.
func copied(t *testing.T, dir, version string) []byte {
	t.Helper()
	files := token.NewFileSet()
	parse := func(name string) *ast.File {
		f, err := parser.ParseFile(files, name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	needed := map[string]bool{}
	declared := map[string]bool{".String": true, ".tagString": true} // or not needed: for those who look
	for _, name := range []string{"tree.go", "token.go", "unescape.go"} {
		f := parse(name)
		for _, d := range f.Decls {
			for _, n := range declares(d) {
				declared[n] = true
			}
			need(d, needed)
		}
	}
	type part struct {
		of    *ast.File
		d     ast.Decl
		taken bool
	}
	var parts []part
	for _, name := range []string{"node.go", "const.go", "doctype.go", "foreign.go", "token.go", "parse.go"} {
		f := parse(filepath.Join(dir, name))
		for _, d := range f.Decls {
			parts = append(parts, part{of: f, d: d})
		}
	}
	for more := true; more; {
		more = false
		for i := range parts {
			p := &parts[i]
			names := declares(p.d)
			if p.taken || !slices.ContainsFunc(names, func(n string) bool { return needed[n] && !declared[n] }) ||
				slices.ContainsFunc(names, func(n string) bool { return declared[n] }) {
				continue
			}
			need(p.d, needed)
			p.taken, more = true, true
		}
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "// Code generated from x/net/html %s by TestSourceIsThatOfXNet. DO NOT EDIT.\n", version)
	b.WriteString(`
// Copyright 2010 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package tree

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"golang.org/x/net/html/atom"
	a "golang.org/x/net/html/atom"
)
`)
	for _, p := range parts {
		if p.taken {
			b.WriteString("\n")
			with := printer.Config{Mode: printer.UseSpaces | printer.TabIndent, Tabwidth: 8}
			if err := with.Fprint(&b, files, &printer.CommentedNode{Node: p.d, Comments: p.of.Comments}); err != nil {
				t.Fatal(err)
			}
			b.WriteString("\n")
		}
	}
	methods := regexp.MustCompile(`([\w.\[\]]+)\.clone\(\)`) // there can be none on a type of another package
	long := regexp.MustCompile(`(?m)^(\t.{80,100}, )(.{20,})$`)
	text := methods.ReplaceAll(b.Bytes(), []byte("clone($1)"))
	for long.Match(text) {
		text = long.ReplaceAll(text, []byte("$1\n\t\t$2"))
	}
	source, err := format.Source(text)
	if err != nil {
		t.Fatal(err)
	}
	return source
}

// declares returns the names that a declaration declares; of a method its type's and its own.
func declares(d ast.Decl) (names []string) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		name := d.Name.Name
		if d.Recv != nil {
			of := d.Recv.List[0].Type
			if p, ok := of.(*ast.StarExpr); ok {
				of = p.X
			}
			name = "." + name
			if id, ok := of.(*ast.Ident); !ok || id.Name == "Node" {
				return nil // x/net's own
			}
		}
		return []string{name}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				names = append(names, s.Name.Name)
			case *ast.ValueSpec:
				for _, n := range s.Names {
					names = append(names, n.Name)
				}
			}
		}
	}
	return names
}

// need adds the names that a declaration uses.
func need(in ast.Node, needed map[string]bool) {
	ast.Inspect(in, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			needed["."+n.Sel.Name] = true
			need(n.X, needed)
			return false
		case *ast.Ident:
			needed[n.Name] = true
		}
		return true
	})
}
