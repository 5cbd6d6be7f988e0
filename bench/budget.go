package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/pprof/profile"
)

// A part is a share of what a miss costs. A sample of a profile belongs to the part that names the innermost of its
// functions that any part names, so that the parts add up to the whole.
type part struct {
	name  string
	names []string // beginnings of functions' names; ours without the module's
}

// parts of a miss, in the order in which a request comes to them. One that names a package has what no part names of
// it: of two beginnings the longer one counts.
var parts = []part{
	{"accept and parse", []string{
		"net/http.(*conn).", "net/http.(*connReader).", "net/http.readRequest", "proxy.(*framedConn).",
		"proxy.(*fast).",
		"proxy.malformed", "crypto/tls.",
	}},
	{"decide", []string{
		"proxy.", "fetch.", "cache.", "page.", "internal/users.", "internal/httpfield.", "store.(*Store).Lookup",
		"net/http.serverHandler.",
	}},
	{"dial or reuse", []string{
		"net/http.(*Transport).getConn", "net/http.(*Transport).tryPutIdleConn", "net/http.(*Transport).dialConn",
		"net/http.(*Transport).queueForIdleConn", "fetch.(*dialer).", "net.(*Dialer).",
	}},
	{"forward", []string{
		"net/http.(*Transport).", "net/http.(*persistConn).", "net/http.persistConnWriter.",
		"net/http.(*bodyEOFSignal).",
		"fetch.(*Transport).", "fetch.(*strictConn).", "fetch.(*exchange).", "cache.(*flight).", "cache.(*spool).",
		"cache.(*Cache).fetch", "cache.verifyCoding",
	}},
	{"convert: read HTML", []string{
		"golang.org/x/net/html.(*parser).", "golang.org/x/net/html.(*Tokenizer).", "golang.org/x/net/html.Parse",
		"convert.Parse", "convert.(*Document).parse", "convert/dom", "convert/charset.",
	}},
	{"convert: hidden text, style sheets", []string{"convert/hidden.", "convert/css."}},
	{"convert: metadata, signs", []string{"convert/head.", "convert/signs."}},
	{"convert: choose the content", []string{"convert/judge.", "convert/rules."}},
	{"convert: normalise, write markdown", []string{
		"convert/normalise.", "convert/links.", "convert/mdwrite.", "internal/markdown.",
	}},
	{"convert: the rest", []string{"convert.", "convert/"}},
	{"answer", []string{
		"net/http.(*response).", "net/http.(*chunkWriter).", "net/http.checkConnErrorWriter.",
		"proxy.(*exchange).stream", "proxy.(*exchange).send", "proxy.(*exchange).copyBody",
		"proxy.(*exchange).writeHead", "proxy.(*bodyWriter).", "proxy.(*framedConn).Write", "proxy.(*framedConn).send",
		"cache.(*spoolReader).",
	}},
	{"record and log", []string{
		"internal/journal.", "log/slog.", "proxy.(*exchange).end", "proxy.(*exchange).tell",
		"proxy.(*exchange).writeRecord",
	}},
	{"store", []string{
		"store.", "cache.(*Cache).put", "fetch.(*Fetcher).keep", "github.com/klauspost/compress/zstd.",
		"github.com/dgraph-io/badger/v4.",
	}},
	{"compaction of the store", []string{
		"github.com/dgraph-io/badger/v4.(*levelsController).", "github.com/dgraph-io/badger/v4.(*DB).flushMemtable",
		"github.com/dgraph-io/badger/v4.(*DB).handleMemTableFlush", "github.com/dgraph-io/badger/v4.buildL0Table",
	}},
	{"index and its merges", []string{"knowledge.", "knowledge/"}},
	{"garbage", []string{
		"runtime.gcBgMarkWorker", "runtime.gcAssistAlloc", "runtime.bgsweep", "runtime.bgscavenge", "runtime.gcStart",
		"runtime.gcMarkDone", "runtime.gcMarkTermination", "runtime.deductSweepCredit", "runtime.(*mheap).reclaim",
	}},
	{"scheduler, the rest", []string{""}},
}

// partOf returns the index of the part that a stack of functions belongs to, the innermost one first.
func partOf(stack []string) int {
	for _, name := range stack {
		best, length := -1, 0
		name = strings.TrimPrefix(name, "github.com/readthru/readthru/")
		for i, p := range parts {
			for _, beginning := range p.names {
				if len(beginning) > length && strings.HasPrefix(name, beginning) {
					best, length = i, len(beginning)
				}
			}
		}
		if best >= 0 {
			return best
		}
	}
	return len(parts) - 1
}

// shares returns the share of each part in a value of a profile, and the whole value.
func shares(p *profile.Profile, value string) (of []float64, total float64, err error) {
	column := slices.IndexFunc(p.SampleType, func(t *profile.ValueType) bool { return t.Type == value })
	if column < 0 {
		return nil, 0, fmt.Errorf("the profile has no %s", value)
	}
	of = make([]float64, len(parts))
	var stack []string
	for _, s := range p.Sample {
		stack = stack[:0]
		for _, at := range s.Location {
			for _, line := range at.Line { // the innermost one first
				stack = append(stack, line.Function.Name)
			}
		}
		of[partOf(stack)] += float64(s.Value[column])
		total += float64(s.Value[column])
	}
	for i := range of {
		of[i] /= max(total, 1)
	}
	return of, total, nil
}

// profiled returns a profile that a daemon takes of a length of time, and keeps it in a file.
func profiled(ctx context.Context, addr, name string, length time.Duration, file string) (*profile.Profile, error) {
	url := fmt.Sprintf("http://%s/debug/pprof/%s?seconds=%d", addr, name, int(length.Seconds()))
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	resp, err := (&http.Client{Transport: &http.Transport{}}).Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", resp.Status, bytes.TrimSpace(body))
	}
	if err != nil {
		return nil, fmt.Errorf("take the profile %s: %w", name, err)
	}
	if err := os.WriteFile(file, body, 0o644); err != nil { //nolint:gosec // as all of the scratch folder
		return nil, err
	}
	return profile.ParseData(body)
}

// settle is how long a profile goes on after the last answer, for what a page costs later.
const settle = 3 * time.Second

// spent is what misses of a kind and size cost.
type spent struct {
	kind  string
	size  int
	cpu   []float64 // µs of each part, for an answer
	bytes []float64 // allocated
}

// budget measures what the parts of a miss cost: processor time, which /proc tells and a profile divides, and
// allocations. The profiles are in the folder that -dir names.
func budget(ctx context.Context, s settings) error {
	if s.pprof == "" {
		port, err := freePort(ctx)
		if err != nil {
			return err
		}
		s.pprof = "127.0.0.1:" + port
	}
	_, p, err := ourselves(ctx, s)
	if err != nil {
		return err
	}
	defer p.process.stop()
	var all []spent
	for _, kind := range []string{textKind, htmlKind} {
		for _, size := range s.sizes {
			got, err := spend(ctx, s, p, kind, size)
			if err != nil {
				return fmt.Errorf("%s of %d bytes: %w", kind, size, err)
			}
			all = append(all, got)
		}
	}
	fmt.Printf("uncached page, one connection for %s: µs of processor time, KB allocated\n\n|",
		s.round*time.Duration(s.rounds))
	for _, got := range all {
		fmt.Printf(" | %s, %d bytes", got.kind, got.size)
	}
	fmt.Println(" |\n|---" + strings.Repeat("|---", len(all)) + "|")
	row := func(name string, of func(spent) (cpu, allocated float64)) {
		fmt.Printf("| %s", name)
		for _, got := range all {
			cpu, allocated := of(got)
			fmt.Printf(" | %.0f, %.1f", cpu, allocated/1000)
		}
		fmt.Println(" |")
	}
	for i, p := range parts {
		row(p.name, func(got spent) (cpu, allocated float64) { return got.cpu[i], got.bytes[i] })
	}
	row("**whole**", func(got spent) (cpu, allocated float64) { return sum(got.cpu), sum(got.bytes) })
	return nil
}

func sum(values []float64) (total float64) {
	for _, v := range values {
		total += v
	}
	return total
}

// spend asks for pages of a kind and size that nobody has asked for, and divides what they cost.
func spend(ctx context.Context, s settings, p *peer, kind string, size int) (spent, error) {
	next := 0
	fresh := func(int, int) page { next++; return numbered(kind, size, next*hosts) } // of the first host
	if _, err := load(ctx, p.plain, 1, limit{length: s.round}, fresh); err != nil {
		return spent{}, err
	}
	if err := rest(ctx, []*peer{p}); err != nil {
		return spent{}, err
	}
	length := s.round * time.Duration(s.rounds)
	type taken struct {
		profile *profile.Profile
		err     error
	}
	take := func(name string) <-chan taken {
		c := make(chan taken, 1)
		go func() {
			got, err := profiled(ctx, s.pprof, name, length+settle,
				filepath.Join(s.dir, fmt.Sprintf("%s-%s-%d.pb.gz", name, kind, size)))
			c <- taken{got, err}
		}()
		return c
	}
	before := p.process.cpu()
	cpu, heap := take("profile"), take("allocs")
	done, err := load(ctx, p.plain, 1, limit{length: length}, fresh)
	if err != nil {
		return spent{}, err
	}
	samples, allocations := <-cpu, <-heap
	if err := errors.Join(samples.err, allocations.err); err != nil {
		return spent{}, err
	}
	used := float64((p.process.cpu() - before).Microseconds())
	got := spent{kind: kind, size: size}
	if got.cpu, _, err = shares(samples.profile, "cpu"); err != nil {
		return spent{}, err
	}
	var total float64
	if got.bytes, total, err = shares(allocations.profile, "alloc_space"); err != nil {
		return spent{}, err
	}
	for i := range parts {
		got.cpu[i] *= used / float64(done.answers)
		got.bytes[i] *= total / float64(done.answers)
	}
	return got, nil
}
