package symbols_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/readthru/readthru/convert"
	"github.com/readthru/readthru/internal/needs"
	"github.com/readthru/readthru/internal/symbols"
)

var update = flag.Bool("update", false, "write testdata/*.map anew")

// cacheDir has the machine code for the engines of all tests.
var cacheDir string

func TestMain(m *testing.M) {
	flag.Parse()
	dir, err := os.MkdirTemp("", "readthru-symbols-")
	if err != nil {
		panic(err)
	}
	cacheDir = filepath.Join(dir, "wasm")
	code := m.Run()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// withGrammars returns an engine. It skips the test if the grammars are not built in.
func withGrammars(tb testing.TB) *symbols.Engine {
	tb.Helper()
	if symbols.Basic() {
		needs.Missing(tb, "the grammars were not built: make wasm")
	}
	e := symbols.New(symbols.Options{CacheDir: cacheDir})
	tb.Cleanup(func() { _ = e.Close() })
	return e
}

func withoutGrammars(tb testing.TB) *symbols.Engine {
	tb.Helper()
	e := symbols.New(symbols.Options{}).WithoutGrammars()
	tb.Cleanup(func() { _ = e.Close() })
	return e
}

// mapOf returns the map of a tree.
func mapOf(tb testing.TB, e *symbols.Engine, tokens int, tree map[string]string) *symbols.Map {
	tb.Helper()
	b := e.Begin(tb.Context())
	for name, content := range tree {
		b.Add(name, []byte(content))
	}
	return b.Map(tokens)
}

// TestMapsOfEachLanguage compares the map of each language with testdata/NAME.map, and the map by a scanner with
// testdata/NAME.basic.map.
func TestMapsOfEachLanguage(t *testing.T) {
	sources, err := filepath.Glob("testdata/*.*")
	if err != nil {
		t.Fatal(err)
	}
	for _, source := range sources {
		if filepath.Ext(source) == ".map" {
			continue
		}
		name := filepath.Base(source)
		content, err := os.ReadFile(source)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) {
			compareWithFile(t, withGrammars(t), name, content, source+".map")
		})
		if name != "go.go" {
			t.Run(name+" by line", func(t *testing.T) {
				compareWithFile(t, withoutGrammars(t), name, content, source+".basic.map")
			})
		}
	}
}

func compareWithFile(t *testing.T, e *symbols.Engine, name string, content []byte, file string) {
	t.Helper()
	m := mapOf(t, e, 0, map[string]string{name: string(content)})
	var got strings.Builder
	for _, f := range m.Files {
		writeKinds(&got, f.Symbols, "")
	}
	if *update {
		if err := os.WriteFile(file, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("symbols of %s:\n%s\nwant %s:\n%s", name, got.String(), file, want)
	}
}

func writeKinds(b *strings.Builder, list []symbols.Symbol, indent string) {
	for _, s := range list {
		fmt.Fprintf(b, "%s%d %s %s: %s\n", indent, s.Line, s.Kind, s.Name, s.Signature)
		writeKinds(b, s.Members, indent+"\t")
	}
}

func paths(m *symbols.Map) (list []string) {
	for _, f := range m.Files {
		list = append(list, f.Path)
	}
	return list
}

func TestMostReferencedSymbolsComeFirst(t *testing.T) {
	tree := map[string]string{
		"a.go":        "package p\nfunc Rare() {}\n",
		"z/core.go":   "package p\ntype Engine struct{}\nfunc (e *Engine) Run() {}\n",
		"b/one.go":    "package p\nimport \"x/core\"\nfunc one(e *core.Engine) { e.Run(); Rare() }\n",
		"b/two.go":    "package p\nimport \"x/core\"\nfunc two(e *core.Engine) { e.Run() }\n",
		"b/three.go":  "package p\nimport \"x/core\"\nfunc three(e *core.Engine) {}\n",
		"q_test.go":   "package p\nimport \"x/core\"\nfunc TestX(e *core.Engine) { four(); one(); one(); two() }\n",
		"docs/ex.go":  "package p\nfunc four() { TestX() }\n",
		"other/e.py":  "class Engine: pass\n",
		"other/f.py":  "Engine()\n",
		"b/Four.java": "class Four { Engine e; }",
	}
	m := mapOf(t, withoutGrammars(t), 0, tree)
	if got := paths(m); got[0] != "z/core.go" || !slices.Contains(got[1:3], "a.go") {
		t.Errorf("order of files %v, want z/core.go and a.go among the first", got)
	}
	engine := m.Files[0].Symbols[0]
	if engine.Name != "Engine" || engine.References != 4 {
		t.Errorf("%s has %d references, want Engine with the 4 files of Go that name it and none of other languages",
			engine.Name, engine.References)
	}
	if last := paths(m)[len(m.Files)-1]; last != "q_test.go" && last != "docs/ex.go" && last != "b/Four.java" &&
		last != "b/three.go" {
		t.Errorf("last comes %s, want a file that nothing but tests refer to", last)
	}
}

func TestTestsAndBundlesComeLast(t *testing.T) {
	tree := map[string]string{
		"src/api.js": "export function start() {}\nexport function unused() {}\n", "src/main.js": "start();\n",
		"dist/bundles/lib.umd.js": "function start() {}\nfunction helper() {}\nhelper(); start();\n",
		"dist/esm/api.js":         "export function start() {}\nhelper();\n",
		"build/lib.js":            "function helper() {}\nstart();\n",
		"src/lib.bundle.js":       "function start() {}\n", "test/api_test.js": "function check() {}\ncheck(); start();\n",
		"spec/x.js": "check();\n",
	}
	m := mapOf(t, withoutGrammars(t), 0, tree)
	if got := paths(m); got[0] != "src/api.js" {
		t.Errorf("order of files %v, want the source first", got)
	}
	for _, s := range m.Files[0].Symbols {
		if s.Name == "start" && (len(s.Users) != 1 || s.Users[0] != symbols.User{Path: "src/main.js", Uses: 1}) {
			t.Errorf("start is used by %v, want the source alone", s.Users)
		}
	}
	few := mapOf(t, withoutGrammars(t), 85, tree)
	for _, f := range few.Files {
		if f.Path != "src/api.js" {
			t.Errorf("with little room there is %s", f.Path)
		}
	}
	if len(few.Files) != 1 || len(few.Files[0].Symbols) != 2 {
		t.Errorf("with little room there is %+v, want both symbols of the source", few.Files)
	}
}

// engines returns an engine with grammars, if they are built in, and one without.
func engines(tb testing.TB) map[string]*symbols.Engine {
	tb.Helper()
	all := map[string]*symbols.Engine{"by line": withoutGrammars(tb)}
	if !symbols.Basic() {
		all["grammars"] = withGrammars(tb)
	}
	return all
}

// manyFunctions returns a file of Go, Python or TypeScript with n functions that begin with a prefix.
func manyFunctions(language, prefix string, n int) string {
	form := map[string]string{
		"go": "func %s%d() {}\n", "py": "def %s%d():\n    pass\n", "ts": "export function %s%d() {}\n",
	}
	var b strings.Builder
	if language == "go" {
		b.WriteString("package p\n")
	}
	for i := range n {
		fmt.Fprintf(&b, form[language], prefix, i)
	}
	return b.String()
}

func TestOwnFilesNearTheRootComeFirst(t *testing.T) {
	tree := map[string]string{
		"main.go":         "package main\nfunc Alpha() {}\nfunc Beta() {}\n",
		"lib/util.py":     "def low(): pass\ndef lower(): pass\n",
		"app.ts":          "export function start() {}\n",
		"deep/a/b/own.go": "package b\nfunc Deep() {}\n",
	}
	for i := range 400 { // each calls the next one
		tree[fmt.Sprintf("gen/f%d.go", i)] = manyFunctions("go", fmt.Sprintf("F%d_", i), 12) +
			fmt.Sprintf("func use%d() { F%d_0() }\n", i, (i+1)%400)
		tree[fmt.Sprintf("api/gen/g%d.py", i)] = manyFunctions("py", fmt.Sprintf("g%d_", i), 12)
		tree[fmt.Sprintf("api/t%d_gen.ts", i)] = manyFunctions("ts", fmt.Sprintf("h%d_", i), 12)
		tree[fmt.Sprintf("deep/a_test%d/zz_generated.x%d.go", i, i)] = manyFunctions("go", fmt.Sprintf("Z%d_", i), 12)
	}
	for name, e := range engines(t) {
		got := paths(mapOf(t, e, 6000, tree))
		want := []string{"app.ts", "main.go", "lib/util.py", "deep/a/b/own.go"}
		if len(got) < 20 || !slices.Equal(got[:4], want) {
			t.Errorf("%s: %d files begin with %v, want %v, then generated ones", name, len(got), got[:min(4, len(got))], want)
		}
	}
}

// A code generator keeps its own code in a folder "gen". The rest of the tree refers to it.
func TestSymbolsThatOwnCodeRefersToAreNotTakenForGenerated(t *testing.T) {
	tree := map[string]string{
		"main.go":      "package main\nfunc main() { Element() }\n",
		"gen/elem.go":  "package gen\nfunc Element() {}\n" + manyFunctions("go", "other", 12)[len("package p\n"):],
		"gen/more.go":  manyFunctions("go", "more", 12),
		"parse/all.go": "package parse\nfunc All() { Element() }\n",
	}
	for name, e := range engines(t) {
		m := mapOf(t, e, 90, tree)
		if len(m.Files) == 0 || m.Files[0].Path != "gen/elem.go" || len(m.Files[0].Symbols) != 1 {
			t.Errorf("%s: map\n%s\nwant gen/elem.go first, with Element alone", name, m.Text())
		}
	}
}

func TestFileDoesNotFillTheMapAlone(t *testing.T) {
	tree := map[string]string{"big.go": manyFunctions("go", "Big", 600), "big.py": manyFunctions("py", "big", 600)}
	for i := range 20 {
		tree[fmt.Sprintf("pkg/small%d.go", i)] = manyFunctions("go", fmt.Sprintf("Small%d_", i), 2)
	}
	for name, e := range engines(t) {
		m := mapOf(t, e, 6000, tree)
		if len(m.Files) != 22 {
			t.Errorf("%s: map of %d files, want all 22", name, len(m.Files))
		}
		if m.Symbols < 250 {
			t.Errorf("%s: %d symbols, want the room that is left to be filled", name, m.Symbols)
		}
	}
}

// The limit is that of bytes, or in full size that of symbols, which takes many times as long to reach.
func TestTestsAndGeneratedCodeLeaveRoomInTheLimitsOfATree(t *testing.T) {
	tree := []string{"gen/a%d.go", "tests/b%d.go"}
	b := withoutGrammars(t).Begin(t.Context())
	remarks := strings.Repeat("// What follows was made by a tool, and does nothing.\n", 16_000)
	long := manyFunctions("go", "Made", 100) + remarks
	if os.Getenv("READTHRU_FULL_SIZE") != "" {
		long = manyFunctions("go", "VeryLongNameOfAFunctionThatAToolMade", 15_000)
	}
	for i := range 100 {
		b.Add(fmt.Sprintf(tree[i%2], i), []byte(long))
	}
	b.Add("main.go", []byte("package main\nfunc Alpha() {}\n"+remarks)) // as large as what others leave of the limit
	if m := b.Map(6000); m.Files[0].Path != "main.go" || m.Skipped.Beyond == 0 {
		t.Errorf("first comes %s, and %d files are beyond the limits; want main.go first and some beyond",
			m.Files[0].Path, m.Skipped.Beyond)
	}
}

func TestGeneratedFilesAreRecognisedByTheirMark(t *testing.T) {
	licence := "// " + strings.Repeat("Permission is granted to use this. ", 60) + "\n"
	for content, want := range map[string]bool{
		"// Code generated by stringer; DO NOT EDIT.\npackage p\n":                true,
		licence + "\n// Code generated by mockgen. DO NOT EDIT.\n\npackage p\n":   true,
		"# -*- coding: utf-8 -*-\n\"\"\"Generated by x. DO NOT EDIT!\"\"\"\n":     true,
		"/*\n  This file was automatically generated\n*/\nint f(int);\n":          true,
		"/**\n * NOTE: This class is auto generated by OpenAPI Generator.\n */\n": true,
		"/* eslint-disable */\n// @generated by protoc-gen-es\n":                  true,
		"package main\nconst head = \"// Code generated by me; DO NOT EDIT.\"\n":  false,
		"package main\nconst head = `// Code generated by me; DO NOT EDIT.`\n":    false,
		"import x\nprint('# do not edit', file=out)\n":                            false,
		"package p\n": false,
	} {
		if got := symbols.Generated([]byte(content)); got != want {
			t.Errorf("generated = %v, want %v: %.120q", got, want, content)
		}
	}
}

func TestMapSaysWhoUsesWhatAndHowOften(t *testing.T) {
	m := mapOf(t, withoutGrammars(t), 0, map[string]string{
		"sea.go": "package sea\n\nfunc Wave() {}\n\nfunc Calm() { Wave() }\n",
		"a.go":   "package sea\n\nfunc a() { Wave(); Wave(); Wave() }\n",
		"b.go":   "package sea\n\nfunc b() { Wave(); Calm() }\n",
	})
	if got, want := m.Text(), "sea.go\n"+
		"  3: func Wave()  ← 4× in 2 files: a.go 3×, b.go 1×\n"+
		"  5: func Calm()  ← 1× in b.go\n"; !strings.HasPrefix(got, want) {
		t.Errorf("map\n%s\nwant it to begin\n%s", got, want)
	}
}

func TestMacrosAreShownWhereTheyAreUsed(t *testing.T) {
	m := mapOf(t, withoutGrammars(t), 0, map[string]string{
		"a.h": "#ifndef A_H\n#define A_H\n#define USED(x) (x)\n#define UNUSED(x) (x)\nint f(int x);\n#endif\n",
		"a.c": "#include \"a.h\"\nint f(int x) {\n\treturn USED(x);\n}\n", "b.c": "int g(int x) {\n\treturn f(x);\n}\n",
	})
	text := m.Text()
	if !strings.Contains(text, "USED(x)") || strings.Contains(text, "UNUSED") || strings.Contains(text, "A_H") {
		t.Errorf("map:\n%s\nwant the macro that is used, and no other", text)
	}
	if strings.Index(text, "USED(x)") < strings.Index(text, "f(int x)") {
		t.Errorf("map:\n%s\nwant the function first", text)
	}
}

func TestMethodWeighsLessThanItsClass(t *testing.T) {
	tree := map[string]string{"bag.py": "class Bag:\n    def append(self, x): pass\ndef wanted(): pass\n"}
	for i := range 20 {
		tree[fmt.Sprintf("m%d.py", i)] = "import bag\nx = []\nx.append(1)\n" + strings.Repeat("bag.wanted()\nwanted()\n", i%2)
	}
	m := mapOf(t, withoutGrammars(t), 58, tree)
	if len(m.Files) != 1 || len(m.Files[0].Symbols) != 1 || m.Files[0].Symbols[0].Name != "wanted" {
		t.Errorf("with room for one symbol there is %+v, want wanted, of which 10 files know; append is of lists", m.Files)
	}
}

func TestTheOrderOfFilesDoesNotMatter(t *testing.T) {
	tree := map[string]string{}
	for i := range 40 {
		tree[fmt.Sprintf("d%d/f%d.go", i%3, i)] = fmt.Sprintf("package d\ntype T%d struct{}\nfunc F%d(x T%d) { F%d(x) }\n", i,
			i, (i+7)%40, (i*3)%40)
	}
	e := withoutGrammars(t)
	want := mapOf(t, e, 500, tree).Text()
	for range 3 {
		if got := mapOf(t, e, 500, tree).Text(); got != want {
			t.Fatalf("another order of the same files gives\n%s\nwant\n%s", got, want)
		}
	}
}

func TestTextRespectsItsBudgetAndSaysWhatIsMissing(t *testing.T) {
	tree := map[string]string{}
	for i := range 200 {
		tree[fmt.Sprintf("pkg/file_%d.go",
			i)] = fmt.Sprintf("package p\n\ntype Handler%d struct{}\n\nfunc (h *Handler%d) ServeRequest(w ResponseWriter, r *Request) error { return nil }\n", i, i)
	}
	for _, tokens := range []int{50, 500, 4000} {
		m := mapOf(t, withoutGrammars(t), tokens, tree)
		got := convert.Tokens(m.Text())
		if got > tokens || tokens > 100 && got < tokens/3 {
			t.Errorf("a map for %d tokens has %d", tokens, got)
		}
		if m.Known != 400 || m.Symbols >= m.Known || !strings.Contains(m.Text(), fmt.Sprintf("%d of 400 shown", m.Symbols)) {
			t.Errorf("known %d, shown %d; the text does not say it:\n%s", m.Known, m.Symbols, m.Text())
		}
	}
}

func TestMapHasAMaximumNumberOfSymbols(t *testing.T) {
	var b strings.Builder
	for i := range symbols.MaxInMap + 100 {
		fmt.Fprintf(&b, "func F%d() {}\n", i)
	}
	m := mapOf(t, withoutGrammars(t), 0, map[string]string{"a.go": "package p\n" + b.String()})
	if m.Symbols != symbols.MaxInMap || m.Known != symbols.MaxInMap+100 || len(m.Warnings) != 1 {
		t.Errorf("shown %d of %d, %q; want %d and a warning", m.Symbols, m.Known, m.Warnings, symbols.MaxInMap)
	}
}

// TestFilesOfOthersAreNotRead tests rule B12.
func TestFilesOfOthersAreNotRead(t *testing.T) {
	for name, want := range map[string]bool{
		"a.py": true, "src/b.TS": true, "a/b/c.hpp": true, "x.go": true,
		".hidden/a.py": false, "a/.git/b.c": false, "web/node_modules/x/index.js": false, "vendor/a/b.go": false,
		"README.md": false, "a.min.js": false, "api/x.pb.go": false, "py": false, "": false,
		"api/zz_generated.deepcopy.go": false, "web/Types.generated.ts": false, "api/x_generated.go": false,
		"go.sum": false, "lib/generator.go": true,
	} {
		if got := symbols.Supported(name); got != want {
			t.Errorf("Supported(%q) = %v, want %v", name, got, want)
		}
	}
}

func TestFilesLeftOutAreCounted(t *testing.T) {
	m := mapOf(t, withoutGrammars(t), 0, map[string]string{
		"a.go":      "package p\nfunc A() {}\n",
		"big.go":    "package p\n//" + strings.Repeat("x", symbols.MaxFile),
		"binary.py": "def a(): pass\n\x00\x01",
		"made.go":   "// Code generated by stringer; DO NOT EDIT.\npackage p\nfunc B() {}\n",
		"min.js":    "function a(){}" + strings.Repeat("var a=1;", 4000),
		"empty.go":  " \n",
		"README.md": "# nothing",
	})
	want := symbols.Skipped{TooBig: 1, Binary: 1, Generated: 2}
	if m.Skipped != want || m.Known != 1 {
		t.Errorf("skipped %+v, known %d; want %+v and 1", m.Skipped, m.Known, want)
	}
	if !strings.Contains(m.Text(), "[symbols: files not read: 1 over 1 MiB, 1 binary, 2 generated]") {
		t.Errorf("the text does not say what was not read:\n%s", m.Text())
	}
}

func TestMapWithoutGrammarsIsBasic(t *testing.T) {
	m := mapOf(t, withoutGrammars(t), 0, map[string]string{"a.py": "def a(): pass\n", "b.go": "package b\n"})
	if !m.Basic || !strings.Contains(m.Text(), "symbols: basic (read by line: python)") {
		t.Errorf("basic %v, text:\n%s", m.Basic, m.Text())
	}
}

func TestEmptyTreeHasAnEmptyMap(t *testing.T) {
	m := mapOf(t, withoutGrammars(t), 100, nil)
	got, err := json.Marshal(m)
	if want := `{"files":[],"symbols":0,"known":0,"sources":0,"skipped":{}}`; err != nil || string(got) != want ||
		m.Text() != "" {
		t.Errorf("map %s, %v, text %q; want %s and no text", got, err, m.Text(), want)
	}
}

func TestReferencesInsideStringsAndCommentsDoNotCount(t *testing.T) {
	_, references, _ := withGrammars(t).Read(t, "a.py", []byte("# one()\nx = 'two()'\nthree()\n"))
	if !slices.Equal(references, []string{"three"}) {
		t.Errorf("references %v, want three", references)
	}
}
