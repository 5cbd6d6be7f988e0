package symbols

import (
	"path"
	"strings"
)

// language is one way of writing source.
type language struct {
	name    string // as shown
	family  string // languages of one family refer to each other's names
	grammar grammar
	scan    *scanner // reads it where the grammar is not there; nil for Go, which needs none
}

// languages are known by the extensions of their files. A new one with a grammar needs its line here, its query in
// queries, its package in wasm/packages.txt and its name in wasm/glue.c; one without needs a scanner alone.
var languages = func() map[string]*language {
	byExtension := map[string]*language{}
	for _, l := range []struct {
		extensions string
		language
	}{
		{".go", language{"go", "go", noGrammar, nil}},
		{".py .pyi .pyw", language{"python", "python", python, &pythonScanner}},
		{".js .mjs .cjs .jsx", language{"javascript", "script", javascript, &scriptScanner}},
		{".ts .mts .cts", language{"typescript", "script", typescript, &scriptScanner}},
		{".tsx", language{"tsx", "script", tsx, &scriptScanner}},
		{".c .h", language{"c", "c", cpp, &cScanner}},
		{".cc .cpp .cxx .c++ .hh .hpp .hxx .h++ .inl .ipp .tcc .cu .cuh", language{"c++", "c", cpp, &cScanner}},
		{".rs", language{"rust", "rust", rust, &rustScanner}},
		{".java", language{"java", "jvm", java, &javaScanner}},
		{".kt .kts", language{"kotlin", "jvm", noGrammar, &kotlinScanner}},
		{".cs", language{"c#", "c#", noGrammar, &csharpScanner}},
		{".rb", language{"ruby", "ruby", noGrammar, &rubyScanner}},
		{".php", language{"php", "php", noGrammar, &phpScanner}},
		{".swift", language{"swift", "swift", noGrammar, &swiftScanner}},
	} {
		for extension := range strings.FieldsSeq(l.extensions) {
			byExtension[extension] = &l.language
		}
	}
	return byExtension
}()

// Supported tells whether a file of this path, relative and with slashes, may be read for symbols: the language is
// known by the extension, and it stands in no hidden folder, none of packages (node_modules, vendor …) and is not made
// by a tool.
func Supported(name string) bool { return languageOf(name) != nil }

func languageOf(name string) *language {
	folders, file := path.Split(name)
	for folder := range strings.SplitSeq(folders, "/") {
		if strings.HasPrefix(folder, ".") || foreign[folder] {
			return nil
		}
	}
	lower := strings.ToLower(file)
	for _, suffix := range []string{
		".min.js", ".bundle.js", ".d.ts.map", "_pb2.py", "_pb2_grpc.py", ".pb.go", ".pb.cc",
		".pb.h",
	} {
		if strings.HasSuffix(lower, suffix) {
			return nil
		}
	}
	return languages[path.Ext(lower)]
}

// foreign folders hold what others wrote or what a tool made.
var foreign = map[string]bool{
	"node_modules": true, "bower_components": true, "jspm_packages": true, "vendor": true, "third_party": true,
	"thirdparty":    true,
	"site-packages": true, "__pycache__": true, "Godeps": true, "Pods": true, "Carthage": true,
}

// trial tells whether a file tries or shows the program rather than being it: what such files define and refer to
// counts little.
func trial(name string) bool {
	folders, file := path.Split(strings.ToLower(name))
	for folder := range strings.SplitSeq(folders, "/") {
		switch folder {
		case "test", "tests", "testing", "__tests__", "testdata", "test-data", "spec", "specs", "e2e", "fixtures", "mocks",
			"__mocks__",
			"example", "examples", "sample", "samples", "demo", "demos", "bench", "benches", "benchmark", "benchmarks", "docs",
			"doc":
			return true
		}
	}
	stem := strings.TrimSuffix(file, path.Ext(file))
	return strings.HasPrefix(stem, "test_") || stem == "conftest" || strings.HasSuffix(stem, "_test") ||
		strings.HasSuffix(stem, "_tests") ||
		strings.HasSuffix(stem, ".test") || strings.HasSuffix(stem, ".spec") || strings.HasSuffix(stem, "_spec") ||
		path.Ext(file) == ".java" && (strings.HasSuffix(stem, "test") || strings.HasSuffix(stem, "tests"))
}
