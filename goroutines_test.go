package readthru_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// uncontained are files whose goroutines may end their process, and why.
var uncontained = []struct{ prefix, why string }{
	{"fault/", "it contains the others"},
	{"bench/", "measures"},
	{"e2e/", "tests"},
	{"webtest/", "tests"},
	{"fleet/fleettest/", "tests"},
	{"render/rendertest/", "tests"},
	{"github/githubtest/", "tests"},
	{"eventually/", "tests"},
	{"needs/", "tests"},
	{"packaging/", "makes releases"},
	{"tools/", "builds"},
	{"contrib/", "builds"},
	{"symbols/pack/", "builds"},
	{"cmd/readthru/child.go", "a command, not the daemon"},
	{"cmd/readthru/demo.go", "a command, not the daemon"},
	{"cmd/readthru/detached.go", "a command, not the daemon"},
	{"cmd/readthru/doctor_clients.go", "a command, not the daemon"},
	{"cmd/readthru/fetch.go", "a command, not the daemon"},
	{"cmd/readthru/hook.go", "a command, not the daemon"},
	{"cmd/readthru/kb.go", "a command, not the daemon"},
	{"cmd/readthru/main.go", "a command, not the daemon"},
	{"cmd/readthru/mcp.go", "a command, not the daemon"},
	{"cmd/readthru/record.go", "a command, not the daemon"},
	{"cmd/readthru/setup_machine.go", "a command, not the daemon"},
}

// A goroutine that panics ends the process, and with it the web of all agents: those of the daemon are started through
// package fault.
func TestGoroutinesOfTheDaemonAreContained(t *testing.T) {
	works := map[string]bool{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != "." && strings.HasPrefix(d.Name(), "."), d.IsDir() && d.Name() == "testdata":
			return fs.SkipDir
		case !strings.HasSuffix(path, ".go"), strings.HasSuffix(path, "_test.go"), isUncontained(path):
			return nil
		}
		checkGoroutines(t, path, works)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(works) < 50 {
		t.Errorf("found %d pieces of work, want those of the whole program", len(works))
	}
}

func isUncontained(path string) bool {
	for _, u := range uncontained {
		if strings.HasPrefix(filepath.ToSlash(path), u.prefix) {
			return true
		}
	}
	return false
}

// checkGoroutines checks the goroutines that a file starts, and adds the names of what they do to works.
func checkGoroutines(t *testing.T, path string, works map[string]bool) {
	t.Helper()
	src, err := os.ReadFile(path) //nolint:gosec // a file of the repository
	if err != nil {
		t.Fatal(err)
	}
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, src, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			if ofFault(n.Call.Fun) == "" {
				t.Errorf("%s: a goroutine is started without fault.Contain or fault.Forever", files.Position(n.Pos()))
			}
		case *ast.CallExpr:
			if s, ok := n.Fun.(*ast.SelectorExpr); ok && s.Sel.Name == "Go" && len(n.Args) == 1 && ofFault(n.Args[0]) == "" {
				t.Errorf("%s: a goroutine is started without fault.Contain, fault.Forever, fault.Wrap or fault.Loop",
					files.Position(n.Pos()))
			}
			if name := workOf(n); name != "" {
				works[name] = true
			}
		}
		return true
	})
}

// ofFault returns which function of package fault an expression calls; "" if none.
func ofFault(e ast.Expr) string {
	call, ok := e.(*ast.CallExpr)
	if !ok {
		return ""
	}
	s, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	if x, ok := s.X.(*ast.Ident); ok && x.Name == "fault" &&
		slices.Contains([]string{"Contain", "ContainTo", "Wrap", "Forever", "Loop"}, s.Sel.Name) {
		return s.Sel.Name
	}
	return ""
}

// workOf returns the name of the work that a call of package fault starts; "" for other calls.
func workOf(call *ast.CallExpr) string {
	s, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	if x, ok := s.X.(*ast.Ident); !ok || x.Name != "fault" {
		return ""
	}
	for _, arg := range call.Args {
		if lit, ok := arg.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			return lit.Value
		}
	}
	return ""
}
