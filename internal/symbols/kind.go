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

// worthShowing reports whether a definition is worth showing, by its kind. It corrects kinds that the pattern alone
// cannot tell.
func (d *definition) worthShowing() bool {
	if d.kind == Module && (d.name == "tests" || d.name == "test") { // tests inside a Rust file
		d.local = true
	}
	if d.kind == Variable && isUpper(d.name) { // some languages mark constants only by spelling
		d.kind = Constant
	}
	return d.kind != Variable && (d.kind != Constant || !d.local)
}

// holdsMethods reports whether functions inside a definition of this kind are methods.
func (k Kind) holdsMethods() bool {
	switch k {
	case Class, Struct, Union, Interface, Trait, Impl, Enum:
		return true
	}
	return false
}

// value orders kinds of definitions: a name that matches several patterns gets the kind with the lowest value.
func (k Kind) value() int {
	if k == Constant || k == Variable {
		return 1
	}
	return 0
}
