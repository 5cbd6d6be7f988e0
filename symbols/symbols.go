// Package symbols says what a source tree defines and who refers to it: a map for readers who have never seen the tree.
//
// An [Engine] reads files, a [Builder] collects what the files of one tree define, and a [Map] is the part of it that
// is worth its room: what most other files refer to comes first, and what was left out is said. References are by bare
// name and a best effort; definitions are exact where a grammar reads them.
//
//	b := engine.Begin(ctx)
//	for path, content := range tree {
//		b.Add(path, content)
//	}
//	fmt.Print(b.Map(4000).Text())
//
// Go is read by go/parser. Python, JavaScript, TypeScript, C, C++, Rust and Java are read by tree-sitter's grammars, C
// compiled to one WebAssembly module (folder wasm, built by "make wasm") that runs without access to anything: no file,
// no clock, no more than 256 MiB. Where the module was not built in, and for further languages, a scanner of lines
// does, and the map says "basic".
//
// Every file is taken for hostile. Each has limits of size, time and number of symbols, and so has a tree; a file that
// breaks a parser costs that parser's instance and nothing else.
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
)

// version changes with whatever changes maps: grammars, queries, scanners, ranking, text.
const version = "1"

const (
	maxWorkers = 4
	restAfter  = 30 * time.Second // of doing nothing, instances give their memory back
)

var errClosed = errors.New("the engine is closed")

// Options configures an Engine. The zero value is ready to use.
type Options struct {
	// CacheDir is a folder for the grammars' machine code, which then takes milliseconds instead of half a second after a
	// start. It is created for its owner alone: who writes there runs code here. If empty, nothing is kept.
	CacheDir string
}

// Engine reads source files. It is safe for concurrent use.
type Engine struct {
	options Options
	slots   chan struct{} // one for each file that is being read

	mu     sync.Mutex
	module *module // nil before its first use
	failed error   // why there is no module
	idle   []*instance
	rest   *time.Timer // drops idle instances
}

// New returns an Engine, which costs nothing until it reads a file.
func New(options Options) *Engine {
	return &Engine{options: options, slots: make(chan struct{}, min(maxWorkers, runtime.GOMAXPROCS(0)))}
}

// Version names what maps are made by: the same files give the same map while it stays the same.
func (e *Engine) Version() string {
	if Basic() {
		return version + "-basic"
	}
	return version
}

// Basic tells whether this program was built without the grammars: a scanner then reads all languages but Go.
func Basic() bool {
	_, err := built.Open("grammars/grammars.wasm.gz")
	return err != nil
}

// Close waits for the files that are being read and frees what the engine holds. Files added afterwards are read by
// scanners.
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

// read returns what content, of at most maxFile bytes, defines and refers to, and whether a scanner read it, as where
// the grammar takes too long. The error is errLate or that of a parser that broke.
func (e *Engine) read(ctx context.Context, l *language, content []byte) (s *source, basic bool, err error) {
	defer func() {
		if p := recover(); p != nil { // the bug of a parser, ours or Go's, is not to end the process
			s, err = nil, fmt.Errorf("read a file of %s: %v", l.name, p)
		}
	}()
	if l.scan == nil {
		return readGo(content), false, nil
	}
	if l.grammar == cpp {
		blankMacros(content)
	}
	if l.grammar != noGrammar {
		found, cut, err := e.find(ctx, l.grammar, content)
		if err == nil {
			return newSource(l, content, found, cut), false, nil
		}
		if !errors.Is(err, errNoGrammars) && !errors.Is(err, errLate) || ctx.Err() != nil {
			return nil, false, err
		}
	}
	s, err = l.scan.read(ctx, l, content, maxFileTime)
	return s, true, err
}

// find asks an instance. The error is errNoGrammars where there is none.
func (e *Engine) find(ctx context.Context, g grammar, content []byte) ([]match, bool, error) {
	in, err := e.take(ctx)
	if err != nil {
		return nil, false, err
	}
	found, cut, err := in.find(ctx, g, content, maxFileTime)
	e.give(ctx, in, err == nil || errors.Is(err, errLate))
	return found, cut, err
}

// take returns an instance for one file.
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

// give takes an instance back. Its memory never shrinks, so one that grew much is not used again, nor is one that
// broke.
func (e *Engine) give(ctx context.Context, in *instance, sound bool) {
	if !sound || in.guest.Memory().Size() > keptMemory {
		in.close(ctx)
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.idle = append(e.idle, in)
	if e.rest == nil {
		e.rest = time.AfterFunc(restAfter, func() { //nolint:contextcheck // it runs long after the call
			e.mu.Lock()
			defer e.mu.Unlock()
			e.dropIdle(context.Background())
		})
	}
	e.rest.Reset(restAfter)
}

// dropIdle frees the instances that read nothing; e.mu is held.
func (e *Engine) dropIdle(ctx context.Context) {
	for _, in := range e.idle {
		in.close(ctx)
	}
	e.idle = nil
	if e.rest != nil {
		e.rest.Stop()
	}
}

// open makes the module, and the folder that its machine code is kept in.
func open(ctx context.Context, folder string) (*module, error) {
	code, err := wasmBytes()
	if err != nil {
		return nil, err
	}
	if folder != "" {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return nil, fmt.Errorf("keep compiled grammars: %w", err)
		}
		if err := os.Chmod(folder, 0o700); err != nil {
			return nil, fmt.Errorf("keep compiled grammars: %w", err)
		}
	}
	return compile(ctx, code, folder)
}
