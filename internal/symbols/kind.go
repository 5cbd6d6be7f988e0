package symbols

// Kind is the kind of a symbol.
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
	Impl      Kind = "impl"      // in Rust, methods of a type that is defined elsewhere
	Prototype Kind = "prototype" // declaration of a function that is defined elsewhere

	// Kinds of references, which are not definitions.
	reference       Kind = "reference"
	memberReference Kind = "member" // of something: x.name
)
