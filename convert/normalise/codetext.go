package normalise

import (
	"encoding/json"
	"path"
	"strings"

	"github.com/readthru/readthru/internal/lazy"
)

// writtenLanguage returns the language that a text of code can only be in, or "": it names its interpreter, begins as
// no other language does, or is JSON as a whole. It is asked where the page states no language. A guess would be worse
// than none: a fence with a wrong language misleads whoever reads it, so that only what is certain counts.
func writtenLanguage(code string) string {
	first, rest, _ := strings.Cut(code, "\n")
	first = strings.TrimSpace(first)
	switch {
	case strings.HasPrefix(first, "#!/"):
		return interpreter(first[2:])
	case strings.HasPrefix(first, "<?php"):
		return "php"
	case strings.HasPrefix(strings.ToLower(first), "<!doctype html"):
		return "html"
	case strings.HasPrefix(first, "<?xml "):
		return "xml"
	case strings.HasPrefix(first, "diff --git "), strings.HasPrefix(first, "--- ") && strings.HasPrefix(rest, "+++ ") &&
		strings.Contains(rest, "\n@@ "):
		return "diff"
	case goFile().MatchString(code):
		return "go"
	case (first[:min(1, len(first))] == "{" || first == "[") && strings.Contains(code, `":`) && json.Valid([]byte(code)):
		return "json"
	}
	return ""
}

// goFile matches the beginning of a file of Go: the name of its package, and what it imports or declares. Comments and
// empty lines may come before and between.
var goFile = lazy.Pattern(`\A(//.*\n|\n)*package \w+\n(//.*\n|\s)*(import|func|type|var|const)\b`)

// interpreters are those of scripts, by the names of their programs without versions.
var interpreters = map[string]string{
	"sh": "sh", "dash": "sh", "bash": "bash", "zsh": "zsh", "ksh": "ksh", "fish": "fish", "python": "python",
	"perl": "perl", "ruby": "ruby", "node": "javascript", "php": "php", "lua": "lua", "awk": "awk", "gawk": "awk",
	"Rscript": "r", "tclsh": "tcl", "pwsh": "powershell",
}

// interpreter returns the language of what a line of a script says to run it with. line is that behind "#!", such as
// "/usr/bin/env python3"; it must not be blank. It returns "" for a program that is not known.
func interpreter(line string) string {
	words := strings.Fields(line)
	program := path.Base(words[0])
	if program == "env" && len(words) > 1 {
		if program = words[1]; program == "-S" && len(words) > 2 {
			program = words[2]
		}
	}
	return interpreters[strings.TrimRight(program, "0123456789.")]
}
