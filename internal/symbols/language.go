package symbols

import (
	"path"
	"strings"
)

// language is a programming language.
type language struct {
	name    string // as shown to users
	family  string // languages of one family share names
	grammar grammar
	scan    *scanner // used without the grammar; nil for Go, which needs none
}

// languages maps file extensions to languages. A new language with a grammar needs a line here, a query in queries, its
// package in wasm/packages.txt and its name in wasm/glue.c. One without a grammar needs only a line and a scanner.
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
		{".lua", language{"lua", "lua", noGrammar, &luaScanner}},
		{".ex .exs", language{"elixir", "elixir", noGrammar, &elixirScanner}},
		{".scala .sc", language{"scala", "jvm", noGrammar, &scalaScanner}},
		{".sh .bash .zsh .ksh", language{"shell", "shell", noGrammar, &shellScanner}},
		{".pl .pm", language{"perl", "perl", noGrammar, &perlScanner}},
	} {
		for extension := range strings.FieldsSeq(l.extensions) {
			byExtension[extension] = &l.language
		}
	}
	return byExtension
}()

// Supported reports whether a file may be read for symbols, by its path, which is relative and has slashes. It is if
// the extension is that of a language, the file is not in a hidden directory or in one for packages (node_modules,
// vendor …), and its name is not that of a generated file.
func Supported(name string) bool { return languageOf(name) != nil }

// languageOf returns the language of a file by its path; nil if it is not read: hidden, of other programs
// (node_modules, vendor), generated, or of no supported language.
func languageOf(name string) *language {
	folders, file := path.Split(name)
	for folder := range strings.SplitSeq(folders, "/") {
		if strings.HasPrefix(folder, ".") || foreign[folder] {
			return nil
		}
	}
	if GeneratedName(file) {
		return nil
	}
	return languages[strings.ToLower(path.Ext(file))]
}

// GeneratedName reports whether files of this name, without its folder, are surely written by tools: lock files, what
// compilers of protocol buffers and other generators make, minified and bundled scripts.
func GeneratedName(base string) bool {
	base = strings.ToLower(base)
	switch base {
	case "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock", "bun.lockb", "go.sum",
		"cargo.lock", "poetry.lock", "uv.lock", "pdm.lock", "pipfile.lock", "composer.lock", "gemfile.lock", "mix.lock",
		"flake.lock", "packages.lock.json", "gradle.lockfile", "deno.lock":
		return true
	}
	for _, end := range []string{
		".min.js", ".min.css", ".min.mjs", ".bundle.js", ".js.map", ".css.map", ".d.ts.map", ".pb.go", ".pb.cc", ".pb.h",
		"_pb2.py", "_pb2_grpc.py", "_pb.js", "_pb.d.ts", ".g.dart", ".designer.cs", "_generated.go", ".snap",
		".tsbuildinfo",
	} {
		if strings.HasSuffix(base, end) {
			return true
		}
	}
	return strings.HasPrefix(base, "zz_generated.") || strings.Contains(base, ".generated.")
}

// foreign directories have code that others or tools have written.
var foreign = map[string]bool{
	"node_modules": true, "bower_components": true, "jspm_packages": true, "vendor": true, "third_party": true,
	"thirdparty":    true,
	"site-packages": true, "__pycache__": true, "Godeps": true, "Pods": true, "Carthage": true,
}

// isCopy reports whether a file is likely what a tool or other people made, though [GeneratedName] is not sure:
// bundled, generated, or a library that is kept beside the code. The rest of the tree has what it was made of, or
// matters more.
func isCopy(name string, l *language) bool {
	folders, file := path.Split(strings.ToLower(name))
	for folder := range strings.SplitSeq(folders, "/") {
		switch folder {
		case "dist", "bundle", "bundles", "generated", "__generated__", "_generated", "umd", "third-party", "external",
			"extern", "vendored", "deps", "thirdparty":
			return true
		case "build", "out", "output", "public", "static", "assets", "cjs", "esm", "esm5", "esm2015", "es2015", "_esm5",
			"_esm2015", "fesm5", "fesm2015", "amd", "min", "js-built", "compiled":
			if l.family == "script" {
				return true
			}
		}
	}
	stem := strings.TrimSuffix(file, path.Ext(file))
	for _, end := range []string{
		".min", ".bundle", ".umd", ".cjs", ".esm", ".prod", ".production", "-min", "_generated", ".gen", ".g", ".designer",
		".pb", "_pb",
	} {
		if strings.HasSuffix(stem, end) {
			return true
		}
	}
	return strings.HasPrefix(stem, "zz_generated")
}

// maybeGenerated reports whether the name of a file, or of its folder, says that a tool wrote it, or that it is that
// tool. A generator's own code is referred to by the rest of its tree.
func maybeGenerated(name string) bool {
	folders, file := path.Split(strings.ToLower(name))
	for folder := range strings.SplitSeq(folders, "/") {
		switch folder {
		case "gen", "autogen", "autogenerated", "generated-sources", "generated-src", "src-gen":
			return true
		}
	}
	return strings.HasSuffix(strings.TrimSuffix(file, path.Ext(file)), "_gen")
}

// isTest reports whether a file is a test or an example. Definitions and references in such files count little.
func isTest(name string) bool {
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
