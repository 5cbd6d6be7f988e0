package symbols_test

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/readthru/readthru/internal/needs"
	"github.com/readthru/readthru/internal/processor"
	"github.com/readthru/readthru/internal/symbols"
)

// wantedKinds are the kinds of ctags that are definitions here too: not fields, parameters, variables, enumerators and
// imports.
var wantedKinds = map[string]string{
	"Python": "cfm", "JavaScript": "fcmgGS", "TypeScript": "fcimgnaG", "C": "fsugtd", "C++": "fsugtdcn", "Go": "ftsina",
	"Rust": "nsifgtMP", "Java": "acgim", "Lua": "f", "Elixir": "afgimopr", "Sh": "f", "Kotlin": "cioTm", "PHP": "cdfit",
	"Ruby": "cfmSC", "C#": "cgimnst", "Perl": "sp",
}

// TestDefinitionsMatchThoseOfCtags compares with universal-ctags on the source trees in the directory
// READTHRU_SYMBOLS_CORPUS, one directory each. It logs how many of the definitions of ctags are found by language,
// which are missed, and how long both take; docs/benchmarks.md has the figures. READTHRU_SYMBOLS_TREE selects one tree.
// Without a corpus it compares the sources of testdata, which are difficult on purpose: at least half of the
// definitions of ctags must be found in each language, by the scanners too.
func TestDefinitionsMatchThoseOfCtags(t *testing.T) {
	corpus, tree := os.Getenv("READTHRU_SYMBOLS_CORPUS"), cmp.Or(os.Getenv("READTHRU_SYMBOLS_TREE"), "*")
	least := 0.0 // of the definitions are found, in each language
	needs.Program(t, "ctags")
	if corpus == "" {
		corpus, tree, least = ".", "testdata", .5
	}
	trees, err := filepath.Glob(filepath.Join(corpus, tree))
	if err != nil || trees == nil {
		t.Fatalf("no trees in %s: %v", corpus, err)
	}
	cache := os.Getenv("READTHRU_SYMBOLS_CACHE") // cache of machine code, to measure as after an earlier start
	if cache == "" {
		cache = t.TempDir()
	}
	engine := symbols.New(symbols.Options{CacheDir: cache})
	defer func() { _ = engine.Close() }()
	for _, tree := range trees {
		if real, err := filepath.EvalSymlinks(tree); err == nil {
			tree = real
		}
		t.Run(filepath.Base(tree), func(t *testing.T) { compareWithCtags(t, engine, tree, least) })
	}
}

type tag struct {
	Name     string `json:"name"`
	Path     string `json:"path"`
	Line     int    `json:"line"`
	Language string `json:"language"`
	Kind     string `json:"kind"`
}

// defines reports whether a tag of ctags is a definition in our sense, judged by its line.
func (g tag) defines(lines []string) bool {
	if g.Line < 1 || g.Line > len(lines) || strings.HasPrefix(strings.ToLower(g.Name), "anonymous") ||
		strings.HasPrefix(g.Name, "__anon") || strings.HasPrefix(g.Name, "<") {
		return false
	}
	line := strings.TrimSpace(lines[g.Line-1])
	switch g.Language {
	case "Rust":
		return g.Kind != "module" || !strings.HasSuffix(line, ";") // "mod x;" refers to another file
	case "C#":
		return !strings.HasPrefix(line, "using ") // gives another name to what is defined elsewhere
	case "Kotlin": // ctags also calls parameters and fields methods, and companions have no name
		return g.Name != "Companion" && (g.Kind != "method" || strings.Contains(line, "fun "))
	case "Lua": // ctags also calls a variable a function whose value contains one
		return strings.Contains(line, "function "+g.Name) || strings.Contains(line, "= function") ||
			strings.Contains(line, "or function")
	case "TypeScript":
		switch {
		case g.Name == "new" || g.Name == "satisfies" || g.Name == "instanceof": // words of the language
			return false
		case g.Kind == "alias": // ctags also calls an import an alias
			return strings.Contains(line, "type ")
		}
	case "JavaScript": // ctags also calls variables with objects and calls "classes" and "functions"
		return strings.Contains(line, "class") && g.Kind == "class" || g.Kind != "class" &&
			(strings.Contains(line, "function") || strings.Contains(line, "=>") || strings.Contains(line, g.Name+"(") ||
				strings.Contains(line, g.Name+" ("))
	}
	return true
}

func compareWithCtags(t *testing.T, engine *symbols.Engine, tree string, least float64) {
	t.Helper()
	files := sourceFiles(t, tree)
	var count, size int
	began, worked := time.Now(), processor.Time()
	b := engine.Begin(t.Context())
	for _, name := range files {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		count += bytes.Count(content, []byte("\n"))
		size += len(content)
		b.Add(strings.TrimPrefix(name, tree+"/"), content)
	}
	m := b.Map(4000)
	t.Logf("%d files, %d lines, %.1f MB: %d symbols of %d files in %v, %v of processors; peak of memory %s", len(files),
		count, float64(size)/1e6,
		m.Known, m.Sources, time.Since(began).Round(time.Millisecond), (processor.Time() - worked).Round(time.Millisecond),
		peakMemory())
	t.Logf("skipped: %+v", m.Skipped)

	began = time.Now()
	tags, worked := ctags(t, files)
	t.Logf("ctags: %d tags in %v, %v of processors", len(tags), time.Since(began).Round(time.Millisecond),
		worked.Round(time.Millisecond))

	type place struct{ path, name string }
	defined, lines := map[place][]int{}, map[string][]string{}
	for _, name := range files {
		content, _ := os.ReadFile(name)
		if len(content) > symbols.MaxFile || symbols.Generated(content) || len(bytes.TrimSpace(content)) == 0 {
			continue
		}
		lines[name] = strings.Split(string(content), "\n")
		definitions, _, _ := engine.Read(t, name[len(tree)+1:], content)
		defined[place{name, ""}] = []int{0} // marks the file as read
		for _, d := range definitions {
			defined[place{name, d.Name}] = append(defined[place{name, d.Name}], d.Line)
		}
	}
	found, missed := map[string]int{}, map[string][]tag{}
	for _, want := range tags {
		if defined[place{want.Path, ""}] == nil || !want.defines(lines[want.Path]) {
			continue
		}
		name := strings.ReplaceAll(want.Name, "operator ", "operator")
		if i := strings.LastIndexAny(name, ".:"); i >= 0 && i < len(name)-1 {
			name = name[i+1:]
		}
		if slices.ContainsFunc(defined[place{want.Path, name}],
			func(line int) bool { return line >= want.Line-2 && line <= want.Line+2 }) {
			found[want.Language]++
		} else {
			missed[want.Language] = append(missed[want.Language], want)
		}
	}
	for language := range wantedKinds {
		all := found[language] + len(missed[language])
		if all == 0 {
			continue
		}
		recall := float64(found[language]) / float64(all)
		if t.Logf("%s: recall %.4f of %d definitions", language, recall, all); recall < least {
			t.Errorf("%s: recall %.4f, want %.2f", language, recall, least)
		}
		for i := 0; i < len(missed[language]); i += 1 + len(missed[language])/25 {
			t.Logf("    missed %s:%d %s", missed[language][i].Path, missed[language][i].Line, missed[language][i].Name)
		}
	}
}

func sourceFiles(t *testing.T, tree string) (files []string) {
	t.Helper()
	err := filepath.WalkDir(tree, func(name string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() && symbols.Supported(name[len(tree)+1:]) {
			files = append(files, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func ctags(t *testing.T, files []string) (tags []tag, worked time.Duration) {
	t.Helper()
	arguments := []string{"--output-format=json", "--fields=+nl-PTt", "-L", "-", "-f", "-"}
	for language, kinds := range wantedKinds {
		arguments = append(arguments, "--kinds-"+language+"="+kinds)
	}
	arguments = append(arguments, "--languages="+strings.Join(slices.Sorted(maps.Keys(wantedKinds)), ","))
	cmd := exec.CommandContext(t.Context(), "ctags", arguments...)
	cmd.Stdin = strings.NewReader(strings.Join(files, "\n"))
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("ctags: %v", err)
	}
	for scanner := bufio.NewScanner(bytes.NewReader(out)); scanner.Scan(); {
		var one tag
		if json.Unmarshal(scanner.Bytes(), &one) == nil && one.Name != "" {
			tags = append(tags, one)
		}
	}
	return tags, cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}

// peakMemory returns the peak memory of this process, or 0 if it is not available.
func peakMemory() string {
	status, _ := os.ReadFile("/proc/self/status")
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	line, _, _ := strings.Cut(rest, "\n")
	return strings.TrimSpace(line)
}
