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

// Supported reports whether a file is in a language that may be read for symbols, by its path, which is relative and
// has slashes. It is if the extension is that of a language, the file is not in a hidden directory or in one for
// packages (node_modules, vendor …), and its name is not that of a generated file.
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
