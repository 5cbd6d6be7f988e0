package symbols

import (
	"bytes"
	"compress/gzip"
	"context"
	"embed"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

//go:embed grammars
var built embed.FS

//go:embed queries/*.txt
var queryFiles embed.FS

// grammar is a language's number in the module, as in wasm/glue.c.
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

// What glue.c says of itself.
const (
	maxRows  = 1 << 16
	rowSize  = 7 * 4 // bytes
	codeLate = -2
)

// Limits of the module's memory: of what one instance may take at all, and of what it may keep, since memory never
// shrinks.
const (
	maxMemoryPages = 4096     // of 64 KiB
	keptMemory     = 64 << 20 // bytes
)

var (
	errNoGrammars = errors.New("the grammars were not built in")
	errLate       = errors.New("parsing takes too long")
)

// match is one definition or reference that a query found; places are offsets in bytes.
type match struct {
	kind               Kind // or reference
	start, end         int  // of the whole definition
	body               int  // where its body begins; end if it has none
	nameStart, nameEnd int
	line               int // of the name, from 0
}

// query is what is asked of the files of a language: patterns of tree-sitter, which capture a definition as @d and a
// name as @n.
type query struct {
	text  string
	kinds []Kind // of each pattern
}

// readQuery reads lines of a kind and a pattern.
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

// module is the grammars, compiled.
type module struct {
	runtime  wazero.Runtime
	compiled wazero.CompiledModule
	cache    wazero.CompilationCache // nil without a folder
	queries  [len(grammarNames)]query
}

// wasmBytes returns the module's code, or errNoGrammars.
func wasmBytes() ([]byte, error) {
	zipped, err := built.ReadFile("grammars/grammars.wasm.gz")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errNoGrammars
	}
	if err != nil {
		return nil, err
	}
	r, err := gzip.NewReader(bytes.NewReader(zipped))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

// compile makes machine code of the grammars, or takes it from the folder, if there is one.
func compile(ctx context.Context, code []byte, folder string) (m *module, err error) {
	m = &module{}
	for g := range m.queries {
		if m.queries[g], err = readQuery(grammar(g)); err != nil {
			return nil, err
		}
	}
	config := wazero.NewRuntimeConfig().WithMemoryLimitPages(maxMemoryPages)
	if folder != "" {
		if m.cache, err = wazero.NewCompilationCacheWithDir(folder); err != nil {
			return nil, fmt.Errorf("keep compiled grammars in %s: %w", folder, err)
		}
		config = config.WithCompilationCache(m.cache)
	}
	m.runtime = wazero.NewRuntimeWithConfig(ctx, config)
	if err := hostFunctions(ctx, m.runtime); err != nil {
		return nil, errors.Join(fmt.Errorf("tell the grammars the time: %w", err), m.close(ctx))
	}
	if m.compiled, err = m.runtime.CompileModule(ctx, code); err != nil {
		return nil, errors.Join(fmt.Errorf("compile the grammars: %w", err), m.close(ctx))
	}
	return m, nil
}

func (m *module) close(ctx context.Context) error {
	err := m.runtime.Close(ctx)
	if m.cache != nil {
		err = errors.Join(err, m.cache.Close(ctx))
	}
	return err
}

// lateKey is where find's context keeps its budget for the module's question.
type lateKey struct{}

// hostFunctions gives the module all that it asks for: whether it is late, and a system that has no clock and no files.
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

// instance is a running copy of the module, with its own memory. It serves one call at a time, and none after a failed
// one.
type instance struct {
	module     *module
	guest      api.Module
	run        api.Function
	compile    api.Function
	text, rows uint32 // addresses
	known      [len(grammarNames)]bool
}

func (m *module) instantiate(ctx context.Context) (*instance, error) {
	guest, err := m.runtime.InstantiateModule(ctx, m.compiled,
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

// close gives the instance's memory back, which cannot fail in a way that matters.
func (in *instance) close(ctx context.Context) { _ = in.guest.Close(ctx) }

// find parses content, of at most maxFile bytes, and returns what the grammar's query finds in it, within the time. The
// error is errLate, or one after which the instance is of no use. cut tells that there was more than maxRows.
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
		return nil, false, errors.New("the grammars' memory ends too early")
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
		return nil, false, fmt.Errorf("the grammars answer %d", count)
	}
	rows, ok := memory.Read(in.rows, uint32(count*rowSize))
	if !ok {
		return nil, false, errors.New("the grammars' memory ends too early")
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

func (in *instance) prepare(ctx context.Context, g grammar) error {
	text := in.module.queries[g].text
	if !in.guest.Memory().WriteString(in.text, text) {
		return errors.New("the grammars' memory ends too early")
	}
	result, err := in.compile.Call(ctx, uint64(g), uint64(len(text)))
	if err != nil {
		return err
	}
	if at := int(int32(result[0])); at != 0 {
		before := text[:min(max(at-1, 0), len(text))]
		return fmt.Errorf("query %s, line %d: mistake after %q", grammarNames[g], strings.Count(before, "\n")+1,
			before[strings.LastIndexByte(before, '\n')+1:])
	}
	in.known[g] = true
	return nil
}
