package formats

import (
	"path"
	"strings"

	"github.com/readthru/readthru/convert/normalise"
)

// NameRules are tables of this package, which count in the version of the rules.
var NameRules = []any{
	fileEndings, fileNames,
}

// fileEndings maps file name extensions that are not the name of a language to languages. Other extensions are the
// names of languages themselves.
var fileEndings = map[string]string{
	"bat": "batch", "bzl": "python", "c++": "cpp", "cc": "cpp", "cjs": "javascript", "cl": "c", "clj": "clojure",
	"cmd": "batch", "cr": "crystal", "cs": "csharp", "cts": "typescript",
	"cxx": "cpp", "erl": "erlang", "ex": "elixir", "exs": "elixir", "f90": "fortran", "fs": "fsharp", "gemspec": "ruby",
	"gql": "graphql", "h": "c", "hh": "cpp", "hpp": "cpp",
	"hs": "haskell", "ipynb": "json", "jl": "julia", "jsonl": "json", "kt": "kotlin", "kts": "kotlin", "m": "objectivec",
	"mjs": "javascript", "ml": "ocaml", "mli": "ocaml", "mod": "go",
	"mts": "typescript", "ndjson": "json", "patch": "diff", "pl": "perl", "pm": "perl", "proto": "protobuf",
	"ps1": "powershell", "psm1": "powershell", "pyi": "python", "pyx": "cython",
	"rs": "rust", "s": "asm", "sbt": "scala", "sol": "solidity", "sv": "verilog", "tf": "hcl", "tfvars": "hcl",
	"v": "verilog", "webmanifest": "json", "yml": "yaml", "conf": "ini", "cfg": "ini",
	"env": "sh", "ino": "cpp", "cu": "cpp", "thrift": "thrift", "avsc": "json", "sum": "text", "lock": "text",
	"log": "text", "xsd": "xml", "xsl": "xml", "xslt": "xml", "wsdl": "xml",
	"plist": "xml", "pom": "xml", "csproj": "xml", "mm": "objectivec", "vb": "vbnet", "pas": "pascal", "lisp": "lisp",
	"el": "lisp", "scm": "scheme", "bash": "bash", "astro": "astro",
}

// fileNames maps whole file names to languages. They are in lower case.
var fileNames = map[string]string{
	"dockerfile": "dockerfile", "containerfile": "dockerfile", "makefile": "makefile", "gnumakefile": "makefile",
	"cmakelists.txt": "cmake", "gemfile": "ruby", "rakefile": "ruby",
	"jenkinsfile": "groovy", "vagrantfile": "ruby", "go.mod": "go", "go.sum": "text", ".gitignore": "text",
	".bashrc": "bash", ".profile": "sh", "build.bazel": "python", "justfile": "makefile",
}

// Language returns the language for the extension or the name of a file, or "". p is a path; case does not count. Files
// of markdown and plain text have none.
func Language(p string) string {
	name := strings.ToLower(path.Base(p))
	if lang := fileNames[name]; lang != "" {
		return lang
	}
	ending := strings.TrimPrefix(path.Ext(name), ".")
	if lang := fileEndings[ending]; lang != "" {
		return lang
	}
	switch ending {
	case "md", "markdown", "txt", "text", "basic", "console", "http", "julia", "mermaid", "source":
		return ""
	}
	if normalise.KnownLanguages[ending] {
		return ending
	}
	return ""
}

// LanguageOfType returns the language that a media type names, or "". t is a media type without parameters, such as
// text/x-python.
func LanguageOfType(t string) string {
	kind, name, _ := strings.Cut(t, "/")
	name = strings.TrimPrefix(name, "x-")
	if kind != "text" && kind != "application" {
		return ""
	}
	switch name {
	case "javascript", "ecmascript":
		return "javascript"
	case "sh", "shellscript", "csh":
		return "sh"
	case "python", "script.python":
		return "python"
	case "c", "csrc", "chdr":
		return "c"
	case "c++", "c++src", "c++hdr":
		return "cpp"
	case "patch":
		return "diff"
	case "ndjson", "jsonlines", "json-seq", "jsonl":
		return "json"
	case "httpd-php":
		return "php"
	}
	if normalise.KnownLanguages[name] && name != "http" {
		return name
	}
	return ""
}
