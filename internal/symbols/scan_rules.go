package symbols

import (
	"strings"

	"github.com/readthru/readthru/internal/lazy"
)

// find returns a rule of the scanner for one kind of definition, whose name is the group (\w+) of an expression. Names
// may have letters of all scripts.
func find(kind Kind, expression string) rule {
	return rule{
		kind: kind, line: lazy.Pattern(strings.ReplaceAll(expression, `(\w+)`, `([\w\pL]+)`)),
		sure: keyword().MatchString(expression),
	}
}

// keyword finds a word in an expression that stands before the name that is defined.
var keyword = lazy.Pattern(`[a-z]{2,}\??\)?(?:\\s[+*]|\\b)[^a-z]*\(`)

// findTop returns a rule for lines that would be statements inside a function.
func findTop(kind Kind, expression string) rule {
	r := find(kind, expression)
	r.top = true
	return r
}

// Words that may precede a definition.
const (
	scriptBefore = `^\s*(?:export\s+)?(?:declare\s+)?(?:default\s+)?`
	rustBefore   = `^\s*(?:pub(?:\s*\([^)]*\))?\s+)?`
	javaBefore   = `^\s*(?:@\w+(?:\([^)]*\))?\s+)*(?:(?:public|protected|private|static|final|abstract|sealed|non-sealed|synchronized|native|default|strictfp)\s+)*`
	csharpBefore = `^\s*(?:\[[^\]]*\]\s*)*(?:(?:public|protected|private|internal|static|sealed|abstract|partial|readonly|virtual|override|async|unsafe|extern|new|ref)\s+)*`
	kotlinBefore = `^\s*(?:@\w+(?:\([^)]*\))?\s+)*(?:(?:public|protected|private|internal|open|abstract|sealed|data|inner|inline|value|override|suspend|operator|infix|tailrec|external|final|enum|annotation|expect|actual|companion|fun|const|lateinit)\s+)*`
	swiftBefore  = `^\s*(?:@\w+(?:\([^)]*\))?\s+)*(?:(?:public|private|fileprivate|internal|open|static|class|final|override|mutating|nonmutating|required|convenience|indirect|async|nonisolated)\s+)*`
	phpBefore    = `^\s*(?:(?:public|protected|private|static|final|abstract|readonly)\s+)*`
)

var pythonScanner = scanner{
	comment: "#", quotes: `"'`, multi: []string{`"""`, `'''`}, indented: true,
	rules: []rule{
		find(Function, `^\s*(?:async\s+)?def\s+(\w+)`),
		find(Class, `^\s*class\s+(\w+)`),
		findTop(Variable, `^([A-Z][A-Z0-9_]*)\s*(?::[^=]+)?=[^=]`),
	},
}

var scriptScanner = scanner{
	comment: "//", block: [2]string{"/*", "*/"}, quotes: `"'`, multi: []string{"`"},
	rules: []rule{
		find(Function, scriptBefore+`(?:async\s+)?function\s*\*?\s*([\w$]+)`),
		find(Class, scriptBefore+`(?:abstract\s+)?class\s+([\w$]+)`),
		find(Interface, scriptBefore+`interface\s+([\w$]+)`),
		find(Enum, scriptBefore+`(?:const\s+)?enum\s+([\w$]+)`),
		find(Namespace, scriptBefore+`(?:namespace|module)\s+([\w$.]+)\s*\{`),
		find(Type, scriptBefore+`type\s+([\w$]+)[^=]*=`),
		find(Function, scriptBefore+
			`(?:const|let|var)\s+([\w$]+)[^=]*=\s*(?:async\s*)?(?:function\b|(?:\([^()]*\)|[\w$]+)\s*(?::[^=]+)?=>)`),
		findTop(Constant, `^export\s+const\s+([\w$]+)`),
		findTop(Variable, `^const\s+([\w$]+)`),
		findTop(Method, `^\s+(?:(?:public|private|protected|static|async|get|set|readonly|override|abstract)\s+)*\*?\s*(#?[\w$]+)\s*(?:<[^>]*>)?\([^()]*\)\s*(?::[^{]+)?\{\s*$`),
		find(Function, `^\s*(?:[\w$]+\.)+([\w$]+)\s*=\s*(?:async\s+)?function\b`),
	},
}

var cScanner = scanner{
	comment: "//", block: [2]string{"/*", "*/"}, quotes: `"'`,
	rules: []rule{
		find(Macro, `^\s*#\s*define\s+(\w+)`),
		find(Namespace, `^\s*(?:inline\s+)?namespace\s+([\w:]+)`),
		find(Class, `^\s*(?:template\s*<.*>\s*)?class\s+(?:[A-Z_]+\s+)?(\w+)[^;()]*$`),
		find(Struct, `^\s*(?:template\s*<.*>\s*)?(?:typedef\s+)?struct\s+(\w+)\s*[^;()=*]*$`),
		find(Union, `^\s*(?:typedef\s+)?union\s+(\w+)\s*[^;()=*]*$`),
		find(Enum, `^\s*(?:typedef\s+)?enum\s+(?:class\s+|struct\s+)?(\w+)\s*[^;()=*]*$`),
		find(Type, `^\s*typedef\b[^(]*?(\w+)\s*(?:\[[^\]]*\]\s*)?;`),
		find(Type, `^\s*using\s+(\w+)\s*=`),
		findTop(Function, `^(?:[A-Za-z_][\w\s*&:<>,~]*[\s*&])??([A-Za-z_~][\w:~]*)\s*\([^;=]*$`),
		findTop(Method, `^\s+(?:[A-Za-z_][\w\s*&:<>,~]*[\s*&])([A-Za-z_~]\w*)\s*\([^;=]*\)[\w\s]*\{`),
	},
}

var rustScanner = scanner{
	comment: "//", block: [2]string{"/*", "*/"}, quotes: `"`,
	rules: []rule{
		find(Function, rustBefore+`(?:default\s+)?(?:const\s+)?(?:async\s+)?(?:unsafe\s+)?(?:extern\s+)?fn\s+(\w+)`),
		find(Struct, rustBefore+`struct\s+(\w+)`),
		find(Enum, rustBefore+`enum\s+(\w+)`),
		find(Union, rustBefore+`union\s+(\w+)\s*[{<]`),
		find(Trait, rustBefore+`(?:unsafe\s+)?trait\s+(\w+)`),
		find(Type, rustBefore+`type\s+(\w+)`),
		find(Constant, rustBefore+`(?:const|static)\s+(?:mut\s+)?(\w+)\s*:`),
		find(Module, rustBefore+`mod\s+(\w+)\s*\{`),
		find(Macro, `^\s*macro_rules!\s*(\w+)`),
		find(Impl, `^\s*(?:unsafe\s+)?impl\b\s*(?:<[^{]*?>\s*)?(?:[^{]*\bfor\s+)?&?(?:\w+::)*(\w+)`),
	},
}

var javaScanner = scanner{
	comment: "//", block: [2]string{"/*", "*/"}, quotes: `"'`, multi: []string{`"""`},
	rules: []rule{
		find(Class, javaBefore+`(?:class|record)\s+(\w+)`),
		find(Interface, javaBefore+`@?interface\s+(\w+)`),
		find(Enum, javaBefore+`enum\s+(\w+)`),
		findTop(Constant, `^\s*(?:(?:public|protected|private)\s+)?static\s+final\s+[\w<>\[\],.? ]+\s+(\w+)\s*=`),
		findTop(Method, javaBefore+`(?:<[^()]+>\s+)?[\w.]+(?:<[^()]*>)?(?:\[\])*\s+(\w+)\s*\([^;=]*$`),
		findTop(Method, `^\s*(?:(?:public|protected|private|abstract|static|default)\s+)+[^=()]*?(\w+)\s*\(`),
	},
}

var kotlinScanner = scanner{
	comment: "//", block: [2]string{"/*", "*/"}, quotes: `"'`, multi: []string{`"""`},
	rules: []rule{
		find(Interface, kotlinBefore+`interface\s+(\w+)`),
		find(Class, kotlinBefore+`(?:class|object)\s+(\w+)`),
		find(Function, `^\s*(?:@\w+\s+)*(?:\w+\s+)*fun\s+(?:<[^>]*>\s*)?(?:[\w<>?,*. ]+\.)?(\w+)\s*\(`),
		find(Type, kotlinBefore+`typealias\s+(\w+)`),
		findTop(Constant, kotlinBefore+`val\s+([A-Z][A-Z0-9_]*)\b`),
	},
}

var csharpScanner = scanner{
	comment: "//", block: [2]string{"/*", "*/"}, quotes: `"'`, multi: []string{`"""`}, verbatim: `@"`, indented: true,
	rules: []rule{
		find(Namespace, `^\s*namespace\s+(?:\w+\.)*(\w+)`),
		find(Class, csharpBefore+`(?:class|record(?:\s+(?:class|struct))?)\s+(\w+)`),
		find(Struct, csharpBefore+`struct\s+(\w+)`),
		find(Interface, csharpBefore+`interface\s+(\w+)`),
		find(Enum, csharpBefore+`enum\s+(\w+)`),
		find(Type, csharpBefore+`delegate\s+[\w<>\[\],.? ]+\s+(\w+)\s*[(<]`),
		findTop(Constant, csharpBefore+`const\s+[\w.]+\s+(\w+)\s*=`),
		findTop(Method, csharpBefore+`[\w.]+(?:<[^()]*>)?(?:\[\])*\??\s+(\w+)\s*(?:<[^()]*>)?\([^;=]*(?:=>.*)?$`),
		findTop(Method, `^\s*(?:(?:public|protected|private|internal|static|abstract|override|virtual|async)\s+)+[^=()]*?(\w+)\s*(?:<[^()]*>)?\(`),
	},
}

var rubyScanner = scanner{
	comment: "#", quotes: `"'`, indented: true,
	rules: []rule{
		find(Function, `^\s*(?:private\s+|protected\s+|private_class_method\s+|memoize\s+)?def\s+(?:self\.|[A-Z]\w*\.)?([\w]+[?!=]?|\[\]=?|[+\-*/%<>=~^|&!@]+)`),
		find(Class, `^\s*class\s+(?:\w+::)*([A-Z]\w*)`),
		find(Class, `^\s*([A-Z]\w*)\s*=\s*(?:Class|Struct)\.new\b`),
		find(Module, `^\s*module\s+(?:\w+::)*([A-Z]\w*)`),
		findTop(Variable, `^\s*([A-Z][A-Z0-9_]*)\s*=[^=]`),
	},
}

var phpScanner = scanner{
	comment: "// #", block: [2]string{"/*", "*/"}, quotes: `"'`,
	rules: []rule{
		find(Class, phpBefore+`class\s+(\w+)`),
		find(Interface, `^\s*interface\s+(\w+)`),
		find(Trait, `^\s*trait\s+(\w+)`),
		find(Enum, `^\s*enum\s+(\w+)`),
		find(Function, phpBefore+`function\s+&?(\w+)`),
		findTop(Constant, phpBefore+`const\s+(?:\w+\s+)?([A-Z]\w*)\s*=`),
	},
}

var swiftScanner = scanner{
	comment: "//", block: [2]string{"/*", "*/"}, quotes: `"`, multi: []string{`"""`},
	rules: []rule{
		find(Function, swiftBefore+`func\s+(\w+)`),
		find(Struct, swiftBefore+`struct\s+(\w+)`),
		find(Enum, swiftBefore+`enum\s+(\w+)`),
		find(Interface, swiftBefore+`protocol\s+(\w+)`),
		find(Impl, swiftBefore+`extension\s+(?:\w+\.)*(\w+)`),
		find(Class, swiftBefore+`(?:class|actor)\s+(\w+)`),
		find(Type, swiftBefore+`typealias\s+(\w+)`),
	},
}

var luaScanner = scanner{
	comment: "--", block: [2]string{"--[[", "]]"}, quotes: `"'`, indented: true,
	rules: []rule{
		find(Function, `^\s*(?:local\s+)?function\s+(?:\w+[.:])*(\w+)\s*\(`),
		find(Function, `^\s*(?:local\s+)?(?:\w+[.:])*(\w+)\s*=\s*(?:[\w.]+\s+or\s+)?function\b`),
		find(Function, `^\s*\[?["']?(\w+)["']?\]?\s*=\s*function\b`),
	},
}

var elixirScanner = scanner{
	comment: "#", quotes: `"`, multi: []string{`"""`, `'''`}, indented: true,
	rules: []rule{
		find(Module, `^\s*defmodule\s+(?:\w+\.)*(\w+)`),
		find(Interface, `^\s*defprotocol\s+(?:\w+\.)*(\w+)`),
		find(Impl, `^\s*defimpl\s+(?:\w+\.)*(\w+)`),
		find(Macro, `^\s*defmacrop?\s+([\w]+[?!]?)`),
		find(Function, `^\s*(?:defp?|defguardp?|defdelegate|defn)\s+([\w]+[?!]?)`),
		find(Type, `^\s*@(?:type|opaque)\s+(\w+)`),
	},
}

const scalaBefore = `^\s*(?:@\w+(?:\([^)]*\))?\s+)*(?:(?:private|protected)(?:\[\w+\])?\s+|(?:final|sealed|abstract|implicit|lazy|override|inline|transparent|opaque|infix|open|case)\s+)*`

var scalaScanner = scanner{
	comment: "//", block: [2]string{"/*", "*/"}, quotes: `"`, multi: []string{`"""`}, indented: true,
	rules: []rule{
		find(Class, scalaBefore+`(?:class|object)\s+(\w+)`),
		find(Trait, scalaBefore+`trait\s+(\w+)`),
		find(Enum, scalaBefore+`enum\s+(\w+)`),
		find(Function, scalaBefore+`def\s+([\w]+|[!#%&*+/:<=>?@^|~-]+)`),
		find(Type, scalaBefore+`type\s+(\w+)`),
		findTop(Constant, scalaBefore+`val\s+([A-Z]\w*)\b`),
	},
}

var shellScanner = scanner{
	comment: "#", quotes: `"'`,
	rules: []rule{
		find(Function, `^\s*(?:function\s+)?([\w][\w:.-]*)\s*\(\s*\)`),
		find(Function, `^\s*function\s+([\w][\w:.-]*)`),
	},
	calls: lazy.Pattern(`(?:^|[;&|({]|\b(?:then|do|else|if|while)\s)\s*([A-Za-z_][\w:.-]*)|([^\s\S])`),
}

var perlScanner = scanner{
	comment: "#", quotes: `"'`,
	rules: []rule{
		find(Function, `^\s*sub\s+(?:\w+::)*(\w+)`),
		find(Module, `^\s*package\s+(?:\w+::)*(\w+)`),
	},
}
