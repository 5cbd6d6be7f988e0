package symbols

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
)

// readGo returns the definitions and references of a file in Go. It reads as much as possible of a file with errors.
func readGo(content []byte) *source {
	files := token.NewFileSet()
	file, _ := parser.ParseFile(files, "", content, parser.SkipObjectResolution)
	if file == nil {
		return &source{}
	}
	g := &goFile{
		source: source{references: map[string]uses{}}, content: content,
		at:   func(p token.Pos) int { return files.Position(p).Offset },
		line: func(p token.Pos) int { return files.Position(p).Line },
	}
	for _, declaration := range file.Decls {
		g.declare(declaration)
	}
	g.collect(file)
	return &g.source
}

// goFile collects the definitions and references of a Go file.
type goFile struct {
	source
	content []byte
	at      func(token.Pos) int
	line    func(token.Pos) int
}

// declare adds what a top-level declaration defines: a function or method, types, and constants and variables that are
// exported.
func (g *goFile) declare(declaration ast.Decl) {
	switch d := declaration.(type) {
	case *ast.FuncDecl:
		kind := Function
		if d.Recv != nil {
			kind = Method
		}
		if g.add(d.Name, kind, g.text(d.Pos(), d.Type.End())) && d.Recv != nil {
			g.definitions[len(g.definitions)-1].owner = receiver(d.Recv)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				g.declareType(s)
			case *ast.ValueSpec:
				kind, word := Variable, "var "
				if d.Tok == token.CONST {
					kind, word = Constant, "const "
				}
				for _, name := range s.Names {
					if name.IsExported() {
						g.add(name, kind, append([]byte(word), firstLine(g.text(s.Pos(), s.End()))...))
					}
				}
			}
		}
	}
}

// receiver returns the name of the type that a method in Go belongs to.
func receiver(list *ast.FieldList) string {
	if len(list.List) == 0 {
		return ""
	}
	e := list.List[0].Type
	for {
		switch t := e.(type) {
		case *ast.StarExpr:
			e = t.X
		case *ast.IndexExpr:
			e = t.X
		case *ast.IndexListExpr:
			e = t.X
		case *ast.ParenExpr:
			e = t.X
		case *ast.Ident:
			return t.Name
		default:
			return ""
		}
	}
}

// declareType adds a type, and the methods of an interface.
func (g *goFile) declareType(s *ast.TypeSpec) {
	kind, end := Type, s.End()
	switch t := s.Type.(type) {
	case *ast.StructType:
		kind, end = Struct, t.Struct+token.Pos(len("struct"))
	case *ast.InterfaceType:
		kind, end = Interface, t.Interface+token.Pos(len("interface"))
	}
	parent := len(g.definitions)
	if !g.add(s.Name, kind, append([]byte("type "), g.text(s.Pos(), end)...)) {
		return
	}
	if t, ok := s.Type.(*ast.InterfaceType); ok {
		for _, field := range t.Methods.List {
			for _, name := range field.Names {
				if g.add(name, Method, g.text(field.Pos(), field.End())) {
					method := &g.definitions[len(g.definitions)-1]
					method.parent, method.owner = parent, s.Name.Name
				}
			}
		}
	}
}

// add adds a definition, unless its name is blank or too long, and reports whether it did.
func (g *goFile) add(name *ast.Ident, kind Kind, text []byte) bool {
	if name.Name == "_" || !nameable([]byte(name.Name)) {
		return false
	}
	g.definitions = append(g.definitions, definition{
		name: name.Name, kind: kind, line: g.line(name.Pos()), parent: -1,
		signature: oneLine(text[:min(len(text), 4*maxSignature)], languages[".go"]),
	})
	return true
}

// text returns the source between two places; nil if they are not in the file.
func (g *goFile) text(from, to token.Pos) []byte {
	start, end := g.at(from), g.at(to)
	if start < 0 || end < start || end > len(g.content) { // possible in a file with errors
		return nil
	}
	return g.content[start:end]
}

// firstLine returns the first line of Go source.
func firstLine(text []byte) []byte {
	line, _, _ := bytes.Cut(text, []byte("\n"))
	return line
}

// collect records the names in a Go file that are called, selected or used as types.
func (g *goFile) collect(file *ast.File) {
	packages := map[string]bool{}
	for _, spec := range file.Imports {
		name := strings.Trim(spec.Path.Value, `"`)
		name = name[strings.LastIndexByte(name, '/')+1:]
		if spec.Name != nil {
			name = spec.Name.Name
		}
		packages[name] = true
	}
	alone := func(e ast.Expr) {
		if name, ok := e.(*ast.Ident); ok {
			g.refer([]byte(name.Name), usedAlone)
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && packages[x.Name] {
				alone(n.Sel)
			} else {
				g.refer([]byte(n.Sel.Name), usedOf)
			}
		case *ast.CallExpr:
			alone(n.Fun)
			for _, argument := range n.Args { // functions passed as values, and constants
				alone(argument)
			}
		case *ast.CompositeLit:
			alone(n.Type)
		case *ast.StarExpr:
			alone(n.X)
		case *ast.Field:
			alone(n.Type)
		case *ast.ArrayType:
			alone(n.Elt)
		case *ast.MapType:
			alone(n.Key)
			alone(n.Value)
		case *ast.TypeAssertExpr:
			alone(n.Type)
		case *ast.ValueSpec:
			alone(n.Type)
		case *ast.IndexExpr:
			alone(n.X)
			alone(n.Index)
		}
		return true
	})
}
