package symbols_test

import (
	"context"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/readthru/readthru/internal/symbols"
)

func TestHostileFilesEndAndDoNotBreakTheEngine(t *testing.T) {
	size, most := 100<<10, 3
	if testing.Short() {
		size, most = 10<<10, 1
	}
	e := withGrammars(t)
	b := e.Begin(t.Context())
	added := 0
	for ext, units := range map[string][]string{
		".py": {`"`, "((((", "if(a)"}, ".ts": {"a?b:", "`${", "<a><"}, ".cc": {"{[(<", "#define a(", "a<b,"},
		".rs": {"'a|", "{{{{"},
	} {
		for _, unit := range units[:min(most, len(units))] { // in short lines: files with long ones count as generated
			line := strings.Repeat(unit, 64/len(unit)) + "\n"
			b.Add("hostile"+ext, []byte(strings.Repeat(line, size/len(line))))
			added++
		}
	}
	b.Add("good.py", []byte("class Good: pass\n"))
	m := b.Map(0)
	if len(m.Files) == 0 || !strings.Contains(m.Text(), "class Good") {
		t.Errorf("after hostile files there is no symbol of a good one:\n%.2000s", m.Text())
	}
	t.Logf("%d files: %+v", added, m.Skipped)
}

func TestNothingIsReadAfterTheEndOfTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	b := withoutGrammars(t).Begin(ctx)
	b.Add("a.go", []byte("package a\nfunc A() {}\n"))
	cancel()
	b.Add("b.go", []byte("package a\nfunc B() {}\n"))
	if m := b.Map(0); m.Skipped.Beyond < 1 || strings.Contains(m.Text(), "func B") {
		t.Errorf("skipped %+v, text %q; want b.go left out", m.Skipped, m.Text())
	}
}

func TestClosedEngineReadsByLine(t *testing.T) {
	e := symbols.New(symbols.Options{})
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if m := mapOf(t, e, 0, map[string]string{"a.py": "def a(): pass\n"}); !m.Basic || m.Known != 1 {
		t.Errorf("map %+v, want a basic one", m)
	}
	if err := e.Close(); err != nil {
		t.Errorf("a second Close: %v", err)
	}
}

func TestCacheDirIsPrivate(t *testing.T) {
	e := withGrammars(t)
	if m := mapOf(t, e, 0, map[string]string{"a.py": "def a(): pass\n"}); m.Basic || m.Known != 1 {
		t.Fatalf("map %+v, want one by grammar", m)
	}
	info, err := os.Stat(cacheDir)
	if err != nil {
		t.Fatal(err)
	}
	if mode := info.Mode().Perm(); runtime.GOOS != "windows" && mode != 0o700 {
		t.Errorf("mode of the folder is %v, want -rwx------", mode)
	}
}

func FuzzAdd(f *testing.F) {
	extensions := []string{
		".py", ".js", ".ts", ".tsx", ".c", ".cc", ".rs", ".java", ".go", ".kt", ".cs", ".rb", ".php",
		".swift",
	}
	for i := range extensions {
		f.Add(byte(i), []byte("class A { int f(x) { g(\"a\") } }\ndef f(x):\n  pass\nfunc F() {}\n/* ''' ` \\ \x80 */ impl<'a> A for B"))
	}
	grammars := symbols.New(symbols.Options{})
	lines := symbols.New(symbols.Options{}).WithoutGrammars()
	f.Cleanup(func() { _, _ = grammars.Close(), lines.Close() })
	f.Fuzz(func(t *testing.T, extension byte, content []byte) {
		for _, e := range []*symbols.Engine{grammars, lines} {
			b := e.Begin(t.Context())
			b.Add("a/f"+extensions[int(extension)%len(extensions)], append([]byte(nil), content...))
			m := b.Map(1000)
			if m.Symbols > m.Known || len(m.Text()) > 4*1000*4 {
				t.Errorf("%d of %d symbols, text of %d bytes for 1000 tokens", m.Symbols, m.Known, len(m.Text()))
			}
		}
	})
}
