package knowledge_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/readthru/readthru/internal/needs"
	"github.com/readthru/readthru/knowledge"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// crashDir is the environment variable that makes the test binary a writer into the directory that it names.
const crashDir = "READTHRU_KNOWLEDGE_TEST_WRITER"

// writeUntilKilled reads pages, ingests texts and fills a base again and again while Run indexes, and prints a line for
// each text that was ingested.
func writeUntilKilled(dir string) {
	s, err := store.Open(store.Options{Dir: dir})
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	k, err := knowledge.Open(knowledge.Options{Store: s})
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	ctx := context.Background()
	go func() { _ = k.Run(ctx) }()
	_, _ = k.CreateBase(knowledge.Base{Name: "docs", Source: knowledge.SourceFile}) // there from the round before
	start := k.Stats().Documents
	for round := 0; ; round++ {
		b, err := k.Build("docs")
		if err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
		for n := range 30 {
			unique := start*1000 + round*100 + n
			url := fmt.Sprintf("https://crash.test/%d", n)
			u, _ := page.Parse(url)
			p := page.New(u)
			md := prose("walrus", unique)
			p.ContentHash = strconv.Itoa(unique)
			_, _ = s.PutPage(&p.Record, []byte(md), store.Sum{})
			if err := b.Add(ctx, knowledge.Document{
				URL:      fmt.Sprint("doc-", n),
				Markdown: []byte(prose("lobster", n*(1+round%2))),
			}); err != nil {
				fmt.Println("error", err)
				os.Exit(1)
			}
			if _, err := k.Ingest(ctx, knowledge.Ingestion{
				Title: fmt.Sprint("text-", unique),
				Text:  prose("heron", unique),
			}); err != nil {
				fmt.Println("error", err)
				os.Exit(1)
			}
			fmt.Println("text", unique)
		}
		switch round % 3 {
		case 0, 1:
			_, err = b.Commit(ctx)
		default:
			err = b.Abort(ctx)
		}
		if err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
	}
}

// TestKilledProcessLosesAndDoublesNothing kills a writer at a random moment, several times, and compares the index with
// one made anew.
func TestKilledProcessLosesAndDoublesNothing(t *testing.T) {
	needs.Long(t, "it kills processes again and again")
	dir := t.TempDir()
	texts := map[string]bool{}
	for range 4 {
		for line := range runAndKill(t, dir, time.Duration(200+rand.IntN(900))*time.Millisecond) {
			number, ok := strings.CutPrefix(line, "text ")
			if !ok {
				t.Fatalf("writer: %s", line)
			}
			texts[number] = true
		}
		k := open(t, dir, knowledge.Options{})
		k.drain(t)
		checkAgainstRebuild(t, k)
		for number := range texts {
			r, err := k.Search(t.Context(), knowledge.Query{Text: "number" + number, Limit: 1})
			if err != nil || len(r.Hits) != 1 {
				t.Errorf("text %s is not found: %v", number, err)
			}
		}
		k.shut(t)
	}
	if len(texts) == 0 {
		t.Errorf("the writer was always killed before it wrote")
	}
}

// checkAgainstRebuild holds an index against what a rebuild makes of the same pages and documents.
func checkAgainstRebuild(t *testing.T, k *opened) {
	t.Helper()
	before := k.counts()
	left := k.keys("k/q/", "k/dw/", "k/mg/")
	if len(left) > 0 {
		t.Errorf("records left: %v", left)
	}
	if err := k.Rebuild(t.Context(), nil); err != nil {
		t.Fatalf("Rebuild: %v", err)
	}
	if diff := cmp.Diff(k.counts(), before); diff != "" {
		t.Errorf("stats differ from those of a rebuilt index (-rebuilt +got):\n%s", diff)
	}
}

// runAndKill runs the writer and returns its complete lines.
func runAndKill(t *testing.T, dir string, after time.Duration) map[string]bool {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatalf("%v", err)
	}
	cmd := exec.CommandContext(t.Context(), exe)
	cmd.Env = append(os.Environ(), crashDir+"="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatalf("%v", err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("start writer: %v", err)
	}
	lines := map[string]bool{}
	var timer *time.Timer
	reader := bufio.NewReader(out)
	for {
		line, err := reader.ReadString('\n')
		if err != nil {
			break
		}
		if timer == nil { // from its first line on: starting takes its time
			timer = time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
			defer timer.Stop()
		}
		lines[strings.TrimSpace(line)] = true
	}
	_ = cmd.Wait() // killed
	return lines
}
