package convert

import (
	"path"
	"strings"

	"github.com/readthru/readthru/convert/chars"
	"github.com/readthru/readthru/convert/docx"
	"github.com/readthru/readthru/convert/epub"
	"github.com/readthru/readthru/convert/mdwrite"
	"github.com/readthru/readthru/convert/mhtml"
	"github.com/readthru/readthru/convert/normalise"
	"github.com/readthru/readthru/convert/opendocument"
	"github.com/readthru/readthru/convert/pptx"
	"github.com/readthru/readthru/convert/xlsx"
	"github.com/readthru/readthru/page"
)

// fileRules are the rules that are data, for [Version].
var fileRules = []any{
	fileEndings, fileNames,
}

// source makes the markdown of source code: a fenced block with its language. A text without a known language stays
// unchanged.
func (d *Document) source(text, contentType string) {
	lang := ""
	if d.url != nil {
		lang = codePath(d.url.Path)
		d.head.Title = fileName(d.url.Path)
	}
	if lang == "" {
		lang = codeType(page.MediaType(contentType))
	}
	if lang == "" {
		d.ready = text
		return
	}
	d.ready = mdwrite.Fence(text, lang)
}

// fileEndings maps file name extensions that are not the name of a language to languages.
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

// fileNames maps whole file names to languages.
var fileNames = map[string]string{
	"dockerfile": "dockerfile", "containerfile": "dockerfile", "makefile": "makefile", "gnumakefile": "makefile",
	"cmakelists.txt": "cmake", "gemfile": "ruby", "rakefile": "ruby",
	"jenkinsfile": "groovy", "vagrantfile": "ruby", "go.mod": "go", "go.sum": "text", ".gitignore": "text",
	".bashrc": "bash", ".profile": "sh", "build.bazel": "python", "justfile": "makefile",
}

// TypeOf returns the media type of a file by its name, for [Parse], or "" if the name does not tell.
func TypeOf(name string) string {
	ending := strings.ToLower(path.Ext(name))
	switch ending {
	case ".html", ".htm":
		return "text/html"
	case ".md", ".markdown":
		return "text/markdown"
	case ".json", ".geojson":
		return "application/json"
	case ".xml":
		return "application/xml"
	case ".csv":
		return "text/csv"
	case ".pdf":
		return "application/pdf"
	case ".docx":
		return docx.Type
	case ".xlsx", ".xlsm":
		return xlsx.Type
	case ".pptx", ".ppsx":
		return pptx.Type
	case ".epub":
		return epub.Type
	case ".odt":
		return opendocument.TypePrefix + "text"
	case ".ods":
		return opendocument.TypePrefix + "spreadsheet"
	case ".odp":
		return opendocument.TypePrefix + "presentation"
	case ".ipynb":
		return notebookType
	case ".mhtml", ".mht":
		return mhtml.Type
	case ".xhtml":
		return "application/xhtml+xml"
	case ".rss", ".atom":
		return "application/" + ending[1:] + "+xml"
	case ".svg":
		return "image/svg+xml"
	case ".tsv", ".tab":
		return "text/tab-separated-values"
	case ".txt", ".text", ".log":
		return "text/plain"
	}
	if lang := codePath(name); lang != "" {
		return "text/x-" + lang
	}
	return ""
}

// codePath returns the language for the extension or the name of a file, or "".
func codePath(p string) string {
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

// codeType returns the language that a media type names, or "".
func codeType(t string) string {
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

// fileName returns the last part of a path, for a title.
func fileName(p string) string { return chars.Clip(strings.Trim(path.Base(p), "/.")) }
