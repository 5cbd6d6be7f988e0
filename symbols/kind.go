package symbols

// Kind says what a symbol is.
type Kind string

// The kinds.
const (
	Function  Kind = "function"
	Method    Kind = "method"
	Class     Kind = "class"
	Struct    Kind = "struct"
	Union     Kind = "union"
	Interface Kind = "interface"
	Trait     Kind = "trait"
	Enum      Kind = "enum"
	Type      Kind = "type" // an alias, or another named type
	Constant  Kind = "constant"
	Variable  Kind = "variable"
	Macro     Kind = "macro"
	Module    Kind = "module"
	Namespace Kind = "namespace"
	Impl      Kind = "impl"      // of Rust: methods of a type that stands elsewhere
	Prototype Kind = "prototype" // a function that is defined elsewhere

	// No definitions: names that are defined elsewhere, maybe.
	reference       Kind = "reference"
	memberReference Kind = "member" // of something: x.name
)
