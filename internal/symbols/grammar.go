package symbols

import (
	"bytes"
	"context"
	"embed"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

//go:embed grammars
var built embed.FS

//go:embed queries/*.txt
var queryFiles embed.FS

// grammar is the number of a language in the module, as in wasm/glue.c.
type grammar int

const (
	cpp grammar = iota
	java
	javascript
	python
	rust
	tsx
	typescript
	noGrammar grammar = -1
)

var grammarNames = [...]string{"cpp", "java", "javascript", "python", "rust", "tsx", "typescript"}

// Constants of wasm/glue.c.
const (
	maxRows  = 1 << 16
	rowSize  = 7 * 4 // bytes
	codeLate = -2
)

// Limits on the memory of an instance. Memory never shrinks, so an instance with more than keptMemory is not used
// again.
const (
	maxMemoryPages = 4096     // pages of 64 KiB
	keptMemory     = 32 << 20 // bytes
)

var (
	errNoGrammars = errors.New("the grammars were not built in")
	errLate       = errors.New("parsing takes too long")
)

// match is one definition or reference that a query found. Positions are offsets in bytes.
type match struct {
	kind               Kind // or reference
	start, end         int  // of the whole definition
	body               int  // start of the body; end if there is none
	nameStart, nameEnd int
	line               int // line of the name, from 0
}

// query has tree-sitter's patterns for the files of a language. They capture a definition as @d and its name as @n.
type query struct {
	text  string
	kinds []Kind // by pattern
}

// readQuery reads a grammar's query file. Each line has a kind and a pattern.
func readQuery(g grammar) (query, error) {
	content, err := queryFiles.ReadFile("queries/" + grammarNames[g] + ".txt")
	if err != nil {
		return query{}, err
	}
	var q query
	for line := range strings.Lines(string(content)) {
		kind, pattern, _ := strings.Cut(line, " ")
		q.kinds = append(q.kinds, Kind(kind))
		q.text += pattern
	}
	return q, nil
}

// module is the compiled module of the grammars.
type module struct {
	runtime  wazero.Runtime
	compiled wazero.CompiledModule
	cache    wazero.CompilationCache // nil without a cache directory
	queries  [len(grammarNames)]query
}

// wasmBytes returns the module's code, or errNoGrammars.
func wasmBytes() ([]byte, error) {
	zipped, err := built.ReadFile("grammars/grammars.wasm.br")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errNoGrammars
	}
	if err != nil {
		return nil, err
	}
	return io.ReadAll(brotli.NewReader(bytes.NewReader(zipped)))
}

// compile compiles the grammars to machine code, or loads the code from dir if dir is not empty.
func compile(ctx context.Context, code []byte, dir string) (m *module, err error) {
	m = &module{}
	for g := range m.queries {
		if m.queries[g], err = readQuery(grammar(g)); err != nil {
			return nil, err
		}
	}
	config := wazero.NewRuntimeConfig().WithMemoryLimitPages(maxMemoryPages)
	if dir != "" {
		if m.cache, err = wazero.NewCompilationCacheWithDir(dir); err != nil {
			return nil, fmt.Errorf("keep compiled grammars in %s: %w", dir, err)
		}
		config = config.WithCompilationCache(m.cache)
	}
	m.runtime = wazero.NewRuntimeWithConfig(ctx, config)
	if err := hostFunctions(ctx, m.runtime); err != nil {
		return nil, errors.Join(fmt.Errorf("define the grammars' imports: %w", err), m.close(ctx))
	}
	if m.compiled, err = m.runtime.CompileModule(ctx, code); err != nil {
		return nil, errors.Join(fmt.Errorf("compile the grammars: %w", err), m.close(ctx))
	}
	return m, nil
}

// close frees the compiled grammars. No instance may run.
func (m *module) close(ctx context.Context) error {
	err := m.runtime.Close(ctx)
	if m.cache != nil {
		err = errors.Join(err, m.cache.Close(ctx))
	}
	return err
}

// lateKey is the context key of the budget of find.
type lateKey struct{}

// hostFunctions defines the functions that the module of the grammars imports: one that tells whether the budget is
// spent, and system calls, which all fail.
func hostFunctions(ctx context.Context, runtime wazero.Runtime) error {
	const i32, i64 = api.ValueTypeI32, api.ValueTypeI64
	late := api.GoFunc(func(ctx context.Context, stack []uint64) {
		stack[0] = 0
		if b, ok := ctx.Value(lateKey{}).(budget); ok && b.spent(ctx) {
			stack[0] = 1
		}
	})
	refuse := api.GoFunc(func(_ context.Context, stack []uint64) { stack[0] = 52 }) // ENOSYS of WASI
	host := runtime.NewHostModuleBuilder("host")
	host.NewFunctionBuilder().WithGoFunction(late, nil, []api.ValueType{i32}).Export("late")
	if _, err := host.Instantiate(ctx); err != nil {
		return err
	}
	system := runtime.NewHostModuleBuilder("wasi_snapshot_preview1")
	for name, params := range map[string][]api.ValueType{
		"clock_time_get": {i32, i64, i32},
		"fd_close":       {i32},
		"fd_seek":        {i32, i64, i32, i32},
		"fd_write":       {i32, i32, i32, i32},
	} {
		system.NewFunctionBuilder().WithGoFunction(refuse, params, []api.ValueType{i32}).Export(name)
	}
	_, err := system.Instantiate(ctx)
	return err
}

// instance is a running copy of the module with its own memory. It serves one call at a time and none after a failed
// call.
type instance struct {
	module     *module
	guest      api.Module
	run        api.Function
	compile    api.Function
	text, rows uint32 // addresses
	known      [len(grammarNames)]bool
}

// instantiate starts the module of the grammars once more, with a memory of its own, for one file at a time.
func (m *module) instantiate(ctx context.Context) (*instance, error) {
	guest, err := m.runtime.InstantiateModule(withMemory(ctx), m.compiled,
		wazero.NewModuleConfig().WithName("").WithStartFunctions("_initialize"))
	if err != nil {
		return nil, fmt.Errorf("start the grammars: %w", err)
	}
	in := &instance{
		module: m, guest: guest, run: guest.ExportedFunction("run"),
		compile: guest.ExportedFunction("compile"),
	}
	for name, address := range map[string]*uint32{"text": &in.text, "rows": &in.rows} {
		result, err := guest.ExportedFunction(name).Call(ctx)
		if err != nil {
			in.close(ctx)
			return nil, fmt.Errorf("start the grammars: %w", err)
		}
		*address = uint32(result[0])
	}
	return in, nil
}

// close frees the memory of an instance of the grammars. An error would have no consequence.
func (in *instance) close(ctx context.Context) { _ = in.guest.Close(ctx) }

// find parses content, which has at most maxFile bytes, and returns the matches of the grammar's query. cut reports
// that there were more than maxRows matches. The error is errLate after the time limit; after any other error the
// instance must not be used again.
func (in *instance) find(ctx context.Context, g grammar, content []byte,
	limit time.Duration,
) (found []match, cut bool, err error) {
	if !in.known[g] {
		if err := in.prepare(ctx, g); err != nil {
			return nil, false, err
		}
	}
	memory := in.guest.Memory()
	if !memory.Write(in.text, content) {
		return nil, false, errors.New("the grammars' memory is too small")
	}
	ctx = context.WithValue(ctx, lateKey{}, newBudget(limit))
	result, err := in.run.Call(ctx, uint64(g), uint64(len(content)))
	if err != nil {
		return nil, false, err
	}
	count := int(int32(result[0]))
	if count == codeLate {
		return nil, false, errLate
	}
	if count < 0 || count > maxRows {
		return nil, false, fmt.Errorf("the grammars returned %d", count)
	}
	rows, ok := memory.Read(in.rows, uint32(count*rowSize))
	if !ok {
		return nil, false, errors.New("the grammars' memory is too small")
	}
	kinds := in.module.queries[g].kinds
	found = make([]match, 0, count)
	for ; len(rows) > 0; rows = rows[rowSize:] {
		field := func(i int) int { return int(binary.LittleEndian.Uint32(rows[4*i:])) }
		found = append(found, match{
			kind: kinds[field(0)], start: field(1), end: field(2), body: field(3),
			nameStart: field(4), nameEnd: field(5), line: field(6),
		})
	}
	return found, count == maxRows, nil
}

// prepare compiles a grammar's query in the instance.
func (in *instance) prepare(ctx context.Context, g grammar) error {
	text := in.module.queries[g].text
	if !in.guest.Memory().WriteString(in.text, text) {
		return errors.New("the grammars' memory is too small")
	}
	result, err := in.compile.Call(ctx, uint64(g), uint64(len(text)))
	if err != nil {
		return err
	}
	if at := int(int32(result[0])); at != 0 {
		before := text[:min(max(at-1, 0), len(text))]
		return fmt.Errorf("query %s, line %d: error after %q", grammarNames[g], strings.Count(before, "\n")+1,
			before[strings.LastIndexByte(before, '\n')+1:])
	}
	in.known[g] = true
	return nil
}
