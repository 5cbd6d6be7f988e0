package symbols

import (
	"context"
	"runtime"
	"testing"
)

// Definition is a definition in a file, local or not.
type Definition struct {
	Name string
	Kind Kind
	Line int
}

// Generated reports whether content looks generated.
var Generated = generated

// Read returns the definitions and references of a file, and whether a scanner read it.
func (e *Engine) Read(t *testing.T, path string,
	content []byte,
) (definitions []Definition, references []string, basic bool) {
	t.Helper()
	runtime.LockOSThread() // the watch measures the time of this thread
	defer runtime.UnlockOSThread()
	s, basic, err := e.read(context.Background(), languageOf(path), content)
	if err != nil {
		t.Errorf("read %s: %v", path, err)
		return nil, nil, basic
	}
	for _, d := range s.definitions {
		definitions = append(definitions, Definition{d.name, d.kind, d.line})
	}
	for name := range s.references {
		references = append(references, name)
	}
	return definitions, references, basic
}

// WithoutGrammars makes the engine behave as in a program built without grammars.
func (e *Engine) WithoutGrammars() *Engine {
	e.failed = errNoGrammars
	return e
}

// Limits, for tests.
const (
	MaxFile  = maxFile
	MaxInMap = maxInMap
)
