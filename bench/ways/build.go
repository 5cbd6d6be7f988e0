package main

import (
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/readthru/readthru/internal/webtest"
)

// door is where a way leaves readthru's own decisions: a type whose exported methods, or those named, are its
// functions.
type door struct {
	name, pkg, receiver string
	methods             []string // empty: all that are exported
}

var doors = []door{
	{"store", "store", "Store", nil},
	{"origin", "fetch", "Transport", []string{"RoundTrip", "Dial"}},
	{"renderer", "render", "Browser", []string{"Render"}},
}

// build makes the program that is measured: without inlining, with counters of every own function if they are asked
// for, and with a note of the stack in each door's functions. The tree stays as it is: its packages are copied to dir,
// notes are put into the copies, and these are built. (go build has -overlay for that, but what makes the counters does
// not see it.)
func build(ctx context.Context, root, dir string, counting bool) (program string, err error) {
	tree := filepath.Join(dir, "tree")
	packages, err := copyTree(ctx, root, tree)
	if err != nil {
		return "", err
	}
	for _, d := range doors {
		if err := d.note(tree); err != nil {
			return "", err
		}
	}
	flags := []string{"-C", tree, "-gcflags=github.com/readthru/readthru/...=-l"}
	if counting {
		flags = append(flags, "-cover", "-covermode=atomic", "-coverpkg="+strings.Join(packages, ","))
	}
	return webtest.Build(ctx, dir, flags...)
}

// copyTree copies what the program is built from, and what notes need, and returns its packages.
func copyTree(ctx context.Context, root, tree string) (packages []string, err error) {
	list := exec.CommandContext(ctx, "go", "list", "-f",
		"{{.ImportPath}}{{range .GoFiles}} {{.}}{{end}}{{range .EmbedFiles}} {{.}}{{end}}", "./...")
	list.Dir = root
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	files := []string{"go.mod", "go.sum"}
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		dir := strings.TrimPrefix(fields[0], "github.com/readthru/readthru/")
		for _, file := range fields[1:] {
			files = append(files, filepath.Join(dir, file))
		}
		packages = append(packages, fields[0])
	}
	files = append(files, filepath.Join("bench", "ways", "inside", "inside.go")) // which the notes call
	for _, file := range files {
		text, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			return nil, err
		}
		to := filepath.Join(tree, file)
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			return nil, err
		}
		if err := os.WriteFile(to, text, 0o600); err != nil {
			return nil, err
		}
	}
	return packages, nil
}

// note puts a note into each function of the door.
func (d door) note(tree string) error {
	files, err := filepath.Glob(filepath.Join(tree, d.pkg, "*.go"))
	if err != nil {
		return err
	}
	total := 0
	for _, file := range files {
		text, found, err := d.noted(file)
		if err != nil {
			return err
		}
		if total += found; found > 0 {
			if err := os.WriteFile(file, text, 0o600); err != nil {
				return err
			}
		}
	}
	if total == 0 {
		return fmt.Errorf("door %s: package %s has no exported methods of %s", d.name, d.pkg, d.receiver)
	}
	return nil
}

// noted returns a file of the door's package with notes, and how many.
func (d door) noted(file string) (text []byte, found int, err error) {
	source, err := os.ReadFile(file)
	if err != nil {
		return nil, 0, err
	}
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, file, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, 0, err
	}
	at := 0
	insert := func(pos token.Pos, addition string) {
		offset := files.Position(pos).Offset
		text = append(append(text, source[at:offset]...), addition...)
		at = offset
	}
	insert(parsed.Name.End(), `; import "github.com/readthru/readthru/bench/ways/inside"`)
	for _, decl := range parsed.Decls {
		f, ok := decl.(*ast.FuncDecl)
		if ok && d.has(f) {
			insert(f.Body.Lbrace+1, fmt.Sprintf(" inside.Note(%q);", d.name))
			found++
		}
	}
	return append(text, source[at:]...), found, nil
}

func (d door) has(f *ast.FuncDecl) bool {
	if f.Recv == nil || f.Body == nil || !f.Name.IsExported() {
		return false
	}
	receiver := f.Recv.List[0].Type
	if pointer, ok := receiver.(*ast.StarExpr); ok {
		receiver = pointer.X
	}
	name, ok := receiver.(*ast.Ident)
	return ok && name.Name == d.receiver && (len(d.methods) == 0 || slices.Contains(d.methods, f.Name.Name))
}
