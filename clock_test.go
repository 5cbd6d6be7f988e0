package readthru_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// mayPause names the functions of tests that let seconds pass, and why nothing else will do. A test waits for an event,
// for a condition (package eventually), or in a bubble of testing/synctest, where time costs nothing.
var mayPause = map[string]string{
	"cache/model_test.go sleep":                "its callers run in a bubble",
	"cache/silent_test.go RoundTrip":           "its callers run in a bubble",
	"cache/spool_slow_internal_test.go readAt": "its callers run in a bubble",
	"store/sweep_test.go later":                "its callers run in a bubble",
	"api/firecrawl/rig_test.go finish":         "its callers run in a bubble",
	"proxy/pace_test.go Read":                  "its callers run in a bubble",
	"ui/refresh_internal_test.go counting":     "its callers run in a bubble",

	"internal/e2e/fleet_faults_linux_test.go wait":              "a long outage, as READTHRU_AWAY says",
	"internal/fleet/fleettest/bucket_linux.go Slow":             "a slow server",
	"internal/fleet/fleettest/relay_linux.go copy":              "a slow network",
	"proxy/slow_test.go TestAPageThatComesLatePassesAsItIs":     "an origin that is later than its limit",
	"proxy/why_test.go TestARevalidationTellsWhatTheOriginTook": "what an origin takes at least is what is told",
	"render/bench_test.go watchMemory":                          "a benchmark looks now and then",
	"render/render_test.go TestRenderWaitsAsLongAsThePageWorks": "an origin that takes long, but not too long",
}

// mayMeasure names the functions of tests that compare times which have passed, and why a machine with other things to
// do cannot turn them red.
var mayMeasure = map[string]string{
	"api/server/hold_test.go TestLeasesDoNotHoldUpAServerThatIsToldToStop":                "one of many tries is enough",
	"certs/leaf_test.go TestLeafIsWhatClientsAccept":                                      "a day",
	"internal/e2e/fleet_linux_test.go TestAFleetSharesWhatItsNodesRead":                   "what took longer than nodes wait does not count",
	"internal/e2e/fleet_linux_test.go TestOneNodeOfAFleetRendersAPage":                    "what took longer than nodes wait does not count",
	"internal/fleet/fillings_linux_test.go TestALeaseOutlastsABacklog":                    "it works until that time is over",
	"internal/fleet/responses_linux_test.go TestOneNodeAsksTheOrigin":                     "what took longer than nodes wait does not count",
	"internal/fleet/responses_linux_test.go TestNobodyWaitsForAnAnswerThatIsNotShared":    "what took longer than nodes wait does not count",
	"knowledge/breath/breath_internal_test.go TestRequestsGoBeforeTheIndexOnOneProcessor": "it works until that time is over",
	"proxy/fast_random_test.go TestAnswersGivenAgainAreThoseOfTheSlowPath":                "a connection that may have been closed is replaced",
}

// A test that judges by the clock fails on a machine that has other things to do.
func TestNoTestJudgesByTheClock(t *testing.T) {
	unused := map[string]bool{}
	for name := range mayPause {
		unused[name] = true
	}
	for name := range mayMeasure {
		unused[name] = true
	}
	for dir, files := range testFiles(t) {
		for _, use := range clockUses(files) {
			name := filepath.Join(dir, use.file) + " " + use.function
			delete(unused, name)
			switch {
			case use.pauses && mayPause[name] == "":
				t.Errorf("%s:%d: time passes: wait for an event, with package eventually or in a bubble", name, use.line)
			case !use.pauses && mayMeasure[name] == "":
				t.Errorf("%s:%d: compares a time that has passed: count instead, or make it a benchmark", name, use.line)
			}
		}
	}
	for name := range unused {
		t.Errorf("%s does not use the clock: it needs no exception", name)
	}
}

// parsedFile is a file of tests, or of a package for tests.
type parsedFile struct {
	name string
	set  *token.FileSet
	*ast.File
}

// testFiles returns the files of tests by their folder, with the packages that are only for tests.
func testFiles(t *testing.T) map[string][]parsedFile {
	t.Helper()
	found := map[string][]parsedFile{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == "eventually" || d.Name() != "." && d.Name()[0] == '.'):
			return filepath.SkipDir
		case !strings.HasSuffix(path, "_test.go") &&
			(filepath.Ext(path) != ".go" || !strings.HasSuffix(filepath.Dir(path), "test")):
			return nil
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, 0)
		if err != nil {
			return err
		}
		dir := filepath.Dir(path)
		found[dir] = append(found[dir], parsedFile{filepath.Base(path), set, file})
		return nil
	})
	if err != nil || len(found) < 20 {
		t.Fatalf("%d folders with tests, %v", len(found), err)
	}
	return found
}

// clockUse is a place outside of bubbles that lets time pass, or compares a time that has passed.
type clockUse struct {
	file, function string
	line           int
	pauses         bool
}

func clockUses(files []parsedFile) (uses []clockUse) {
	inBubble := bubbles(files)
	for _, file := range files {
		for _, decl := range file.Decls {
			function, ok := decl.(*ast.FuncDecl)
			if !ok || inBubble[function.Name.Name] || strings.HasPrefix(function.Name.Name, "Benchmark") {
				continue
			}
			elapsed := map[string]bool{} // variables that hold a time that has passed
			handed := handedOver(function, inBubble)
			ast.Inspect(function, func(n ast.Node) bool {
				use := clockUse{file: file.name, function: function.Name.Name}
				if n != nil {
					use.line = file.set.Position(n.Pos()).Line
				}
				switch n := n.(type) {
				case *ast.CallExpr:
					if callee := calleeOf(n); callee == "synctest.Test" || inBubble[callee] {
						return false
					} else if callee == "time.Sleep" || callee == "time.After" && !isMinutes(n.Args[0]) {
						use.pauses = true
						uses = append(uses, use)
					}
				case *ast.AssignStmt:
					for i, value := range n.Rhs {
						name, ok := n.Lhs[min(i, len(n.Lhs)-1)].(*ast.Ident)
						if ok && isCall(value, "time.Since") {
							elapsed[name.Name] = true
						}
						if _, isFunction := value.(*ast.FuncLit); ok && isFunction && handed[name.Name] {
							return false
						}
					}
				case *ast.BinaryExpr:
					orders := slices.Contains([]token.Token{token.LSS, token.LEQ, token.GTR, token.GEQ}, n.Op)
					if orders && (isElapsed(n.X, elapsed) || isElapsed(n.Y, elapsed)) {
						uses = append(uses, use)
					}
				}
				return true
			})
		}
	}
	return uses
}

// handedOver returns the variables of a function that are arguments where something runs in a bubble.
func handedOver(function *ast.FuncDecl, inBubble map[string]bool) map[string]bool {
	found := map[string]bool{}
	ast.Inspect(function, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && inBubble[calleeOf(call)] {
			for _, arg := range call.Args {
				if name, ok := arg.(*ast.Ident); ok {
					found[name.Name] = true
				}
			}
		}
		return true
	})
	return found
}

// bubbles returns the functions of a package that run what they are given in a bubble, or run in one themselves.
func bubbles(files []parsedFile) map[string]bool {
	found := map[string]bool{}
	for more := true; more; {
		more = false
		for _, file := range files {
			for _, decl := range file.Decls {
				function, ok := decl.(*ast.FuncDecl)
				if !ok {
					continue
				}
				ast.Inspect(function, func(n ast.Node) bool {
					call, ok := n.(*ast.CallExpr)
					if !ok || calleeOf(call) != "synctest.Test" && !found[calleeOf(call)] {
						return true
					}
					var names []string
					if takesFunction(function) {
						names = append(names, function.Name.Name)
					}
					if name, ok := call.Args[len(call.Args)-1].(*ast.Ident); ok && calleeOf(call) == "synctest.Test" {
						names = append(names, name.Name)
					}
					for _, name := range names {
						more = more || !found[name]
						found[name] = true
					}
					return true
				})
			}
		}
	}
	return found
}

func takesFunction(function *ast.FuncDecl) bool {
	return slices.ContainsFunc(function.Type.Params.List, func(f *ast.Field) bool {
		_, ok := f.Type.(*ast.FuncType)
		return ok
	})
}

func calleeOf(call *ast.CallExpr) string {
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		if of, ok := f.X.(*ast.Ident); ok {
			return fmt.Sprint(of.Name, ".", f.Sel.Name)
		}
	}
	return ""
}

func isCall(e ast.Expr, name string) bool {
	call, ok := e.(*ast.CallExpr)
	return ok && calleeOf(call) == name
}

// isMinutes reports whether a time is given in minutes: a limit for what never comes.
func isMinutes(e ast.Expr) (found bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		unit, ok := n.(*ast.SelectorExpr)
		found = found || ok && unit.Sel.Name == "Minute"
		return true
	})
	return found
}

func isElapsed(e ast.Expr, elapsed map[string]bool) bool {
	name, ok := e.(*ast.Ident)
	return isCall(e, "time.Since") || ok && elapsed[name.Name]
}
