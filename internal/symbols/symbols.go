// Package symbols lists what a source tree defines and how often its files refer to it: a map for readers who have
// never seen the tree.
//
// An [Engine] reads files, a [Builder] collects the definitions of one tree, and a [Map] shows the most important of
// them. Symbols that most other files refer to come first, and the map says what it leaves out. References are matched
// by bare name and are a best effort. Definitions are exact if a grammar reads them.
//
//	b := engine.Begin(ctx)
//	for path, content := range tree {
//		b.Add(path, content)
//	}
//	fmt.Print(b.Map(4000).Text())
//
// Go is read by go/parser. Python, JavaScript, TypeScript, C, C++, Rust and Java are read by tree-sitter's grammars.
// They are C code, compiled to one WebAssembly module (directory wasm, built by "make wasm") that has no access to
// files or the clock and uses at most 256 MiB. If the module is not built in, and for other languages, a scanner reads
// the files line by line, and the map says "basic".
//
// Every file is treated as hostile. Files and trees have limits on size, time and number of symbols. A file that breaks
// a parser costs only that instance of the parser.
package symbols

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/readthru/readthru/internal/fault"
)

// version must change with everything that changes maps: grammars, queries, scanners, ranking, text.
const version = "4"

const (
	maxWorkers = 4
	restAfter  = 30 * time.Second // idle instances are freed after this time
)

var errClosed = errors.New("the engine is closed")

// Options configures an Engine. The zero value is ready to use.
type Options struct {
	// CacheDir is a directory for the machine code of the grammars. With it, the first use after a start takes
	// milliseconds instead of half a second. It is created with mode 0700, because its content is executed. If empty,
	// the machine code is not kept.
	CacheDir string
}

// Engine reads source files. It is safe for concurrent use.
type Engine struct {
	options Options
	slots   chan struct{} // holds one element for each file being read

	mu     sync.Mutex
	module *module // nil before its first use
	failed error   // why there is no module
	idle   []*instance
	rest   *time.Timer // frees idle instances
}

// New returns an Engine, which finds symbols. It allocates nothing until it reads a file. The caller must close it.
func New(options Options) *Engine {
	return &Engine{options: options, slots: make(chan struct{}, min(maxWorkers, runtime.GOMAXPROCS(0)))}
}

// Version identifies the code that makes maps: as long as it is the same, the same files give the same map.
func (e *Engine) Version() string {
	if Basic() {
		return version + "-basic"
	}
	return version
}

// Basic reports whether this program was built without the grammars. Then a scanner reads all languages except Go.
func Basic() bool {
	_, err := built.Open("grammars/grammars.wasm.br")
	return err != nil
}

// Close waits for the files that are being read and frees the memory in which it finds symbols. Scanners read files
// that are added later.
func (e *Engine) Close() error {
	for range cap(e.slots) {
		e.slots <- struct{}{}
	}
	defer func() {
		for range cap(e.slots) {
			<-e.slots
		}
	}()
	ctx := context.Background()
	e.mu.Lock()
	defer e.mu.Unlock()
	e.dropIdle(ctx)
	m := e.module
	e.module, e.failed = nil, errClosed
	if m == nil {
		return nil
	}
	return m.close(ctx)
}

// read returns the symbols, definitions and references, in content, which has at most maxFile bytes. basic reports
// whether a scanner read it, for example because the grammar took too long. The error is errLate, or that of a broken
// parser.
func (e *Engine) read(ctx context.Context, l *language, content []byte) (s *source, basic bool, err error) {
	defer func() {
		if p := recover(); p != nil { // a bug in a parser must not end the process
			s, err = nil, fmt.Errorf("read a file of %s: %v", l.name, p)
		}
	}()
	if l.scan == nil {
		return readGo(content), false, nil
	}
	if l.grammar != noGrammar {
		s := &source{references: map[string]uses{}}
		k := &skeleton{text: content}
		if l.grammar == cpp || l.grammar == java {
			k = withoutBodies(content, l.grammar == java, s)
		}
		if l.grammar == cpp {
			blankMacros(k.text)
		}
		found, cut, err := e.find(ctx, l.grammar, k.text)
		if err == nil {
			k.restore(found)
			s.cut = cut
			s.take(l, k.text, found)
			return s, false, nil
		}
		if !errors.Is(err, errNoGrammars) && !errors.Is(err, errLate) || ctx.Err() != nil {
			return nil, false, err
		}
	}
	if l.grammar == cpp {
		blankMacros(content)
	}
	s, err = l.scan.read(ctx, l, content, maxFileTime)
	return s, true, err
}

// find runs a grammar's query in an instance. The error is errNoGrammars if there are no grammars.
func (e *Engine) find(ctx context.Context, g grammar, content []byte) ([]match, bool, error) {
	in, err := e.take(ctx)
	if err != nil {
		return nil, false, err
	}
	found, cut, err := in.find(ctx, g, content, maxFileTime)
	e.give(ctx, in, err == nil || errors.Is(err, errLate))
	return found, cut, err
}

// take returns, to find symbols, an instance of the grammars for one file, an idle one or a new one. The caller must
// call give. The error is errNoGrammars if the program was built without them, or if they failed to start the first
// time.
func (e *Engine) take(ctx context.Context) (*instance, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.module == nil && e.failed == nil {
		e.module, e.failed = open(context.WithoutCancel(ctx), e.options.CacheDir)
		if e.failed != nil && !errors.Is(e.failed, errNoGrammars) {
			slog.Error("symbols without grammars", "error", e.failed)
		}
	}
	if e.failed != nil {
		return nil, errNoGrammars
	}
	if n := len(e.idle); n > 0 {
		in := e.idle[n-1]
		e.idle = e.idle[:n-1]
		return in, nil
	}
	return e.module.instantiate(context.WithoutCancel(ctx))
}

// give takes back an instance that has found symbols. It is not used again if it is broken or has grown much, because
// its memory never shrinks.
func (e *Engine) give(ctx context.Context, in *instance, sound bool) {
	if !sound || in.guest.Memory().Size() > keptMemory {
		in.close(ctx)
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.idle = append(e.idle, in)
	if e.rest == nil {
		end := func() { //nolint:contextcheck // the timer fires long after the call
			e.mu.Lock()
			defer e.mu.Unlock()
			e.dropIdle(context.Background())
		}
		e.rest = time.AfterFunc(restAfter, fault.Contain("symbols: end idle instances", end))
	}
	e.rest.Reset(restAfter)
}

// dropIdle frees the idle instances. The caller holds e.mu.
func (e *Engine) dropIdle(ctx context.Context) {
	for _, in := range e.idle {
		in.close(ctx)
	}
	e.idle = nil
	if e.rest != nil {
		e.rest.Stop()
	}
}

// open compiles the module of an Engine that finds symbols, and creates the directory for its machine code, if dir is
// not empty.
func open(ctx context.Context, dir string) (*module, error) {
	code, err := wasmBytes()
	if err != nil {
		return nil, err
	}
	if dir != "" {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, fmt.Errorf("keep compiled grammars: %w", err)
		}
		if err := os.Chmod(dir, 0o700); err != nil {
			return nil, fmt.Errorf("keep compiled grammars: %w", err)
		}
	}
	return compile(ctx, code, dir)
}
