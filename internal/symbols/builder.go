package symbols

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/readthru/readthru/internal/fault"
)

// The limits. The map says what they leave out.
const (
	maxFile     = 1 << 20 // bytes of one file
	maxFileTime = 500 * time.Millisecond
	maxTree     = 64 << 20 // bytes of all files of a tree
	maxTreeTime = 20 * time.Second
	maxFiles    = 50_000  // files with symbols
	maxSymbols  = 200_000 // symbols of a tree
	maxNames    = 300_000 // names whose references are counted
	maxInMap    = 5_000   // symbols in a map
	maxOfFile   = 40      // symbols of a file that come before the rest of all files
	asideShare  = 2       // tests and generated files are read up to this part of the limits of a tree: a half
)

// Skipped counts the files of supported languages that are not in the map, by reason.
type Skipped struct {
	TooBig    int `json:"too_big,omitempty"`   // over 1 MiB
	Binary    int `json:"binary,omitempty"`    // not text
	Generated int `json:"generated,omitempty"` // marked as generated, or minified
	Slow      int `json:"slow,omitempty"`      // took over half a second, even line by line
	Failed    int `json:"failed,omitempty"`    // broke the parser
	Beyond    int `json:"beyond,omitempty"`    // over the limits of the tree: 64 MiB, 20 s, 200,000 symbols
}

// Builder collects the symbols of one tree. It does not keep the content of files. It is not safe for concurrent use.
type Builder struct {
	engine *Engine
	ctx    context.Context
	work   sync.WaitGroup
	bytes  int // bytes accepted so far

	mu      sync.Mutex
	files   []*file
	names   map[name]*count
	symbols int
	sources int           // files that define something
	spent   time.Duration // work on all files by all workers
	skipped Skipped
	cut     int             // number of files with too many symbols
	basic   map[string]bool // languages that a scanner read
	crowded bool            // there were more than maxNames names
}

// file holds the symbols of one file.
type file struct {
	path        string
	language    *language
	definitions []definition
	own         []use // by definition: how the file itself uses that name
	aside       bool  // a test, an example, or what a tool made: it comes last
	unsure      bool  // aside, but what other files refer to does not come last
	references  []referral
}

// name is a name in a family of languages, which share names.
type name struct{ family, text string }

// referral is how and how often a file refers to a name.
type referral struct {
	name *count
	uses
}

// count is the number of files in which a name occurs: used alone, as a member of something, and as a definition. Files
// that are aside are counted apart.
type count struct{ alone, member, asideAlone, asideMember, definitions int32 }

// Begin returns a [Builder], which starts a tree. Files that are added after the end of ctx are left out.
func (e *Engine) Begin(ctx context.Context) *Builder {
	return &Builder{engine: e, ctx: ctx, names: map[name]*count{}, basic: map[string]bool{}}
}

// Add reads a file in the background. path is relative, with slashes. The builder owns content from now on. Add blocks
// while too many other files are being read, and ignores files that are not [Supported].
func (b *Builder) Add(path string, content []byte) {
	l := languageOf(path)
	if l == nil || len(bytes.TrimSpace(content)) == 0 {
		return
	}
	f := &file{path: strings.Clone(path), language: l, unsure: maybeGenerated(path)}
	f.aside = f.unsure || isTest(path) || isCopy(path, l)
	if !b.accept(content, f.aside) {
		return
	}
	select {
	case b.engine.slots <- struct{}{}:
	case <-b.ctx.Done():
		b.count(&b.skipped.Beyond)
		return
	}
	b.work.Go(fault.Contain("symbols: end a file", func() {
		defer func() { <-b.engine.slots }()
		runtime.LockOSThread() // the watch measures the time of this thread
		defer runtime.UnlockOSThread()
		watch := startWatch()
		var s *source
		var basic bool
		err := fault.Catch("symbols: read a file", func() (err error) {
			s, basic, err = b.engine.read(b.ctx, l, content)
			return err
		})
		b.mu.Lock()
		defer b.mu.Unlock()
		b.spent += watch.elapsed()
		switch {
		case b.ctx.Err() != nil:
			b.skipped.Beyond++
		case errors.Is(err, errLate):
			b.skipped.Slow++
		case err != nil:
			b.skipped.Failed++
		default:
			if basic {
				b.basic[l.name] = true
			}
			b.keep(f, s)
		}
	}))
}

// accept reports whether a file is to be read, by its content and the limits of the tree, and counts it.
func (b *Builder) accept(content []byte, aside bool) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	share := 1
	if aside {
		share = asideShare
	}
	switch {
	case b.ctx.Err() != nil || b.bytes+len(content) > maxTree/share ||
		b.spent > maxTreeTime*time.Duration(cap(b.engine.slots))/time.Duration(share) ||
		b.symbols >= maxSymbols/share || len(b.files) >= maxFiles/share:
		b.skipped.Beyond++
	case len(content) > maxFile:
		b.skipped.TooBig++
	case bytes.IndexByte(content[:min(len(content), 8000)], 0) >= 0:
		b.skipped.Binary++
	case generated(content):
		b.skipped.Generated++
	default:
		b.bytes += len(content)
		return true
	}
	return false
}

// count adds one to a count of files that were skipped, under the lock.
func (b *Builder) count(n *int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	*n++
}

// keep adds a file's symbols to the tree, except local ones. The caller holds b.mu.
func (b *Builder) keep(f *file, s *source) {
	if s.cut {
		b.cut++
	}
	l := f.language
	place := make([]int, len(s.definitions)) // index of each definition in f.definitions, or -1
	defined := map[string]bool{}
	for i, d := range s.definitions {
		place[i] = -1
		if d.local || b.symbols >= maxSymbols {
			continue
		}
		if d.parent >= 0 {
			d.parent = place[d.parent]
		}
		place[i] = len(f.definitions)
		f.definitions = append(f.definitions, d)
		f.own = append(f.own, s.references[d.name].way)
		b.symbols++
		if d.kind != Impl && d.kind != Prototype {
			defined[d.name] = true
		}
	}
	for text := range defined {
		if c := b.of(l, text); c != nil && !f.aside {
			c.definitions++
		}
	}
	f.references = make([]referral, 0, len(s.references))
	for text, u := range s.references {
		if c := b.of(l, text); c != nil {
			f.references = append(f.references, referral{c, u})
			alone, member := &c.alone, &c.member
			if f.aside {
				alone, member = &c.asideAlone, &c.asideMember
			}
			if u.way == usedAlone {
				*alone++
			} else {
				*member++
			}
		}
	}
	if len(f.definitions) > 0 {
		b.sources++
	}
	if len(f.definitions) > 0 || len(f.references) > 0 {
		b.files = append(b.files, f)
	}
}

// of returns how often a name is used in the tree, to be changed, or nil if there are too many names. Names of
// languages that call each other share a count. The caller holds b.mu.
func (b *Builder) of(l *language, text string) *count {
	key := name{l.family, text}
	c := b.names[key]
	if c == nil {
		if len(b.names) >= maxNames {
			b.crowded = true
			return nil
		}
		c = &count{}
		b.names[key] = c
	}
	return c
}

// sentence returns, for the builder's warnings, the sorted names, separated by commas.
func sentence(names map[string]bool) string {
	return strings.Join(slices.Sorted(maps.Keys(names)), ", ")
}
