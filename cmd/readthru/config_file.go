package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// maxConfig is the largest configuration file read, in bytes.
const maxConfig = 1 << 20

// readFile reads the configuration file: the one that a flag or the environment names, which must exist, else the
// user's, which may be missing. It walks the YAML tree by hand, so that every error has a line and a key.
func (s *settings) readFile(flag string) error {
	name := flag
	if name == "" {
		name = os.Getenv("READTHRU_CONFIG")
	}
	named := name != ""
	if !named {
		if name = userFile(); name == "" {
			return nil
		}
	}
	f, err := os.Open(name)
	if err != nil {
		if !named && errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return withHint(usagef("read the configuration: %w", err), "name another file with --config or READTHRU_CONFIG")
	}
	defer f.Close() //nolint:errcheck // it was only read
	text, err := io.ReadAll(io.LimitReader(f, maxConfig+1))
	if err != nil {
		return usagef("read the configuration: %w", err)
	}
	s.configFile = name
	switch {
	case flag != "":
		s.source["config"] = "flag --config"
	case named:
		s.source["config"] = "environment READTHRU_CONFIG"
	}
	return s.readYAML(name, text)
}

// userFile returns the path of the user's configuration file; "" without a home directory.
func userFile() string {
	dir, err := os.UserConfigDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "readthru", "config.yaml")
}

// readYAML sets the keys of a YAML text. name is the name of its file.
func (s *settings) readYAML(name string, text []byte) error {
	if len(text) > maxConfig {
		return usagef("%s: a configuration has at most %d bytes", name, maxConfig)
	}
	file, err := parser.ParseBytes(text, 0)
	if err != nil {
		if ye, ok := errors.AsType[yaml.Error](err); ok && ye.GetToken() != nil {
			return usagef("%s:%d: %s", name, ye.GetToken().Position.Line, ye.GetMessage())
		}
		return usagef("%s: %w", name, err)
	}
	var docs []ast.Node
	for _, d := range file.Docs {
		if d.Body != nil && d.Body.Type() != ast.CommentType {
			docs = append(docs, d.Body)
		}
	}
	if len(docs) == 0 {
		return nil
	}
	if len(docs) > 1 {
		return usagef("%s:%d: the file has a second document: write one configuration per file", name,
			docs[1].GetToken().Position.Line)
	}
	err = decodeNode(reflect.ValueOf(s.config).Elem(), docs[0], "", nil, func(path string, line int) {
		s.source[path] = fmt.Sprintf("file %s:%d", name, line)
	})
	if pe, ok := errors.AsType[placeError](err); ok {
		return usagef("%s:%d: %s", name, pe.line, pe.Error())
	}
	return err
}

// A placeError is a mistake at a line of a YAML text.
type placeError struct {
	line int
	path string
	err  error
}

// Error names the key and the mistake in its value.
func (e placeError) Error() string {
	if e.path == "" {
		return e.err.Error()
	}
	return e.path + ": " + e.err.Error()
}

// decodeNode sets v, the value of the key at path, from a node. It calls found, which may be nil, for every key that it
// set. Its errors are placeErrors.
func decodeNode(v reflect.Value, n ast.Node, path string, oneof []string, found func(path string, line int)) error {
	at := line(n)
	wrong := func(format string, args ...any) error { return placeError{at, path, fmt.Errorf(format, args...)} }
	switch n := n.(type) {
	case *ast.AnchorNode, *ast.AliasNode, *ast.MergeKeyNode:
		return wrong("anchors and aliases are not supported: write the value itself")
	case *ast.TagNode:
		return wrong("tags are not supported: write the plain value")
	case *ast.NullNode, nil:
		return nil // a key without a value keeps its default
	case *ast.MappingNode:
		if v.Kind() != reflect.Struct {
			return wrong("want %s, not a mapping", kindName(v))
		}
		return decodeMapping(v, n.Values, path, found)
	case *ast.MappingValueNode:
		if v.Kind() != reflect.Struct {
			return wrong("want %s, not a mapping", kindName(v))
		}
		return decodeMapping(v, []*ast.MappingValueNode{n}, path, found)
	case *ast.SequenceNode:
		if v.Kind() != reflect.Slice {
			return wrong("want %s, not a list", kindName(v))
		}
		list := reflect.MakeSlice(v.Type(), len(n.Values), len(n.Values))
		for i, e := range n.Values {
			if err := decodeNode(list.Index(i), e, fmt.Sprintf("%s[%d]", path, i), oneof, nil); err != nil {
				return err
			}
		}
		v.Set(list)
		return nil
	}
	if v.Kind() == reflect.Struct || v.Kind() == reflect.Slice {
		return wrong("want %s, not %s", kindName(v), scalar(n))
	}
	if err := setScalar(v, scalar(n), oneof); err != nil {
		return wrong("%w", err)
	}
	return nil
}

func decodeMapping(v reflect.Value, pairs []*ast.MappingValueNode, path string,
	found func(path string, line int),
) error {
	seen := map[string]bool{}
	for _, pair := range pairs {
		key := scalar(pair.Key)
		full := strings.TrimPrefix(path+"."+key, ".")
		at := line(pair.Key)
		if _, merge := pair.Key.(*ast.MergeKeyNode); merge {
			return placeError{at, path, errors.New("anchors and aliases are not supported: write the value itself")}
		}
		if seen[key] {
			return placeError{at, "", fmt.Errorf("duplicate key %q", full)}
		}
		seen[key] = true
		field, tag, ok := fieldOf(v, key)
		if !ok {
			return placeError{at, "", fmt.Errorf("unknown key %q", full)}
		}
		if err := decodeNode(field, pair.Value, full, strings.Fields(tag.Get("oneof")), found); err != nil {
			return err
		}
		if found != nil && field.Kind() != reflect.Struct && pair.Value.Type() != ast.NullType {
			found(full, at)
		}
	}
	return nil
}

// fieldOf finds the field of a struct by its key.
func fieldOf(v reflect.Value, key string) (reflect.Value, reflect.StructTag, bool) {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if f.Anonymous { // its keys belong to the outer struct
			if field, tag, ok := fieldOf(v.Field(i), key); ok {
				return field, tag, true
			}
		} else if f.Tag.Get("yaml") == key {
			return v.Field(i), f.Tag, true
		}
	}
	return reflect.Value{}, "", false
}

// scalar returns the text of a key or a plain value.
func scalar(n ast.Node) string {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value
	case *ast.LiteralNode:
		return n.Value.Value
	}
	return n.GetToken().Value
}

func line(n ast.Node) int {
	if n == nil || n.GetToken() == nil || n.GetToken().Position == nil {
		return 0
	}
	return n.GetToken().Position.Line
}

// kindName names the kind of value that a key has.
func kindName(v reflect.Value) string {
	switch v.Kind() {
	case reflect.Struct:
		return "a mapping of keys"
	case reflect.Slice:
		return "a list"
	}
	return "one value"
}
