package readthru_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// uncontained are files whose goroutines may end their process, and why.
var uncontained = []struct{ prefix, why string }{
	{"fault/", "it contains the others"},
	{"bench/", "measures"},
	{"e2e/", "tests"},
	{"internal/webtest/", "tests"},
	{"internal/fleet/fleettest/", "tests"},
	{"render/rendertest/", "tests"},
	{"fetch/github/githubtest/", "tests"},
	{"internal/eventually/", "tests"},
	{"internal/needs/", "tests"},
	{"internal/packaging/", "makes releases"},
	{"tools/", "builds"},
	{"contrib/", "builds"},
	{"internal/symbols/pack/", "builds"},
	{"cmd/readthru/internal/read/child.go", "a command, not the daemon"},
	{"cmd/readthru/internal/setup/demo.go", "a command, not the daemon"},
	{"cmd/readthru/internal/daemon/detached.go", "a command, not the daemon"},
	{"cmd/readthru/internal/setup/doctor_clients.go", "a command, not the daemon"},
	{"cmd/readthru/internal/command/urls.go", "a command, not the daemon"},
	{"cmd/readthru/internal/setup/hook.go", "a command, not the daemon"},
	{"cmd/readthru/internal/remember/kb.go", "a command, not the daemon"},
	{"cmd/readthru/main.go", "a command, not the daemon"},
	{"cmd/readthru/internal/read/mcp.go", "a command, not the daemon"},
	{"cmd/readthru/internal/read/record.go", "a command, not the daemon"},
	{"cmd/readthru/internal/setup/setup_machine.go", "a command, not the daemon"},
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
	checkKinds(t, works)
}

// checkKinds checks that docs/testing.md names each kind of work but those that only hand on what work within them
// gave, with a test that has it panic.
func checkKinds(t *testing.T, works map[string]bool) {
	t.Helper()
	tests := testsOfKinds(t)
	listed := map[string]bool{}
	text, err := os.ReadFile("docs/testing.md")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		row := kindsRow.FindStringSubmatch(strings.TrimSpace(line))
		if row == nil {
			continue
		}
		for what := range strings.SplitSeq(row[2], ";") {
			kind := row[1] + ": " + strings.TrimSpace(what)
			if listed[kind] = true; !works[kind] {
				t.Errorf("docs/testing.md lists %q, which is no work", kind)
			}
			if test := row[3]; !slices.Contains(tests[test], kind) {
				t.Errorf("docs/testing.md says that %s has %q panic, and it does not", test, kind)
			}
		}
	}
	for kind := range works {
		if _, what, _ := strings.Cut(kind, ": "); !strings.HasPrefix(what+" ", "end ") && !listed[kind] {
			t.Errorf("docs/testing.md does not say what a panic in %q does, and which test shows it", kind)
		}
	}
}

// kindsRow is a row of the table of kinds: package, kinds, what goes on, test.
var kindsRow = regexp.MustCompile("^\\| `([a-z]+)` \\| ([^|]+) \\| [^|]+ \\| `(Test[A-Za-z]+)` \\|$")

// testsOfKinds returns the strings in tests that have work panic, by the names of the tests.
func testsOfKinds(t *testing.T) map[string][]string {
	t.Helper()
	tests := map[string][]string{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != "." && strings.HasPrefix(d.Name(), "."), d.IsDir() && d.Name() == "testdata":
			return fs.SkipDir
		case !strings.HasSuffix(path, "_test.go"), !strings.Contains(path, string(filepath.Separator)):
			return nil
		}
		src, err := os.ReadFile(path) //nolint:gosec // a file of the repository
		if err != nil || !bytes.Contains(src, []byte("fault")) {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, src, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && strings.HasPrefix(f.Name.Name, "Test") {
				if injects, texts := injected(f); injects {
					tests[f.Name.Name] = append(tests[f.Name.Name], texts...)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return tests
}

// injected reports whether a test has work panic, and returns the strings in it.
func injected(f *ast.FuncDecl) (injects bool, texts []string) {
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			x, ok := n.X.(*ast.Ident)
			injects = injects || ok && (x.Name == "faulttest" || x.Name == "fault" && n.Sel.Name == "Inject")
		case *ast.BasicLit:
			if text, err := strconv.Unquote(n.Value); err == nil {
				texts = append(texts, strings.TrimSpace(text))
			}
		}
		return true
	})
	return injects, texts
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
			if f := startedBy(n); f != nil && ofFault(f) == "" && !endsSomething(f) {
				t.Errorf("%s: what a timer, a context or the collector starts is not contained by package fault",
					files.Position(n.Pos()))
			}
			if name := workOf(n); name != "" {
				works[name] = true
			}
		}
		return true
	})
}

// startedBy returns the function that a call has run in a goroutine of its own later on; nil if it is no such call.
func startedBy(call *ast.CallExpr) ast.Expr {
	s, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || len(call.Args) < 2 || !slices.Contains([]string{"AfterFunc", "SetFinalizer", "AddCleanup"}, s.Sel.Name) {
		return nil
	}
	if x, ok := s.X.(*ast.Ident); !ok || !slices.Contains([]string{"time", "context", "runtime"}, x.Name) {
		return nil
	}
	return call.Args[1]
}

// endsSomething reports whether a function only cancels a context, or closes something or sets its deadline, which does
// not panic.
func endsSomething(f ast.Expr) bool {
	lit, ok := f.(*ast.FuncLit)
	if !ok {
		x, ok := f.(*ast.Ident)
		return ok && slices.Contains([]string{"cancel", "end", "stop"}, x.Name)
	}
	if len(lit.Body.List) != 1 {
		return false
	}
	var e ast.Expr
	switch s := lit.Body.List[0].(type) {
	case *ast.ExprStmt:
		e = s.X
	case *ast.AssignStmt:
		e = s.Rhs[0]
	}
	call, ok := e.(*ast.CallExpr)
	if !ok {
		return false
	}
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return endsSomething(f)
	case *ast.SelectorExpr:
		return slices.Contains([]string{"Close", "SetDeadline", "SetWriteDeadline"}, f.Sel.Name)
	}
	return false
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
		if sum, ok := arg.(*ast.BinaryExpr); ok { // a kind of row follows
			arg = sum.X
		}
		if lit, ok := arg.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			name, _ := strconv.Unquote(lit.Value) // it is a string
			return strings.TrimSpace(name)
		}
	}
	return ""
}
