package render_test

import (
	"bytes"
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/readthru/readthru/render"
	"github.com/readthru/readthru/render/rendertest"
)

// BenchmarkPages renders the pages of testdata, with this package and with a browser process a page (--dump-dom), one,
// two and four at once. It reports milliseconds a page, the most memory that all browser processes held together (PSS,
// Linux), and how many pages came whole.
func BenchmarkPages(b *testing.B) {
	files, err := os.ReadDir("testdata/pages")
	if err != nil {
		b.Fatal(err)
	}
	s := newSite(b)
	ours := s.browser(b)
	bare := ours.State().Path
	if name := os.Getenv("READTHRU_BENCH_DUMP_DOM"); name != "" {
		bare = name
	}
	whole := func(html string) bool {
		for _, p := range append([]string{story.Title}, story.Paragraphs...) {
			if !strings.Contains(html, p) {
				return false
			}
		}
		return true
	}
	for _, at := range []int{1, 2, 4} {
		for _, way := range []struct {
			name string
			load func(ctx context.Context, path string) (string, error)
		}{
			{"render", func(ctx context.Context, path string) (string, error) {
				u, _ := url.Parse(s.URL + path)
				p, err := ours.Render(ctx, render.Request{URL: u})
				if err != nil {
					return "", err
				}
				return string(p.HTML), nil
			}},
			{"dump-dom", func(ctx context.Context, path string) (string, error) {
				dir := rendertest.Dir(b)
				out, err := exec.CommandContext(ctx, bare, "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir="+dir,
					"--dump-dom", s.URL+path).Output()
				return string(out), err
			}},
		} {
			b.Run(fmt.Sprintf("%s/%d", way.name, at), func(b *testing.B) {
				complete, peak := 0, watchMemory(b)
				var mu sync.Mutex
				for b.Loop() {
					slots := make(chan struct{}, at)
					var all sync.WaitGroup
					complete = 0
					for _, f := range files {
						slots <- struct{}{}
						all.Go(func() {
							defer func() { <-slots }()
							path := "/pages/" + f.Name()
							if f.Name() == "vue-hash.html" {
								path += "#/story"
							}
							html, err := way.load(context.Background(), path)
							if err != nil {
								b.Errorf("%s: %v", path, err)
							}
							mu.Lock()
							defer mu.Unlock()
							if whole(html) {
								complete++
							}
						})
					}
					all.Wait()
				}
				b.ReportMetric(b.Elapsed().Seconds()*1000/float64(b.N*len(files)), "ms/page")
				b.ReportMetric(float64(complete), "whole")
				b.ReportMetric(float64(peak()>>20), "MB")
			})
		}
	}
}

// watchMemory samples the memory of the descendants of this process until the function it returns is called, which
// gives the most.
func watchMemory(b *testing.B) func() int64 {
	b.Helper()
	stop, result := make(chan struct{}), make(chan int64)
	go func() {
		var most int64
		for {
			select {
			case <-stop:
				result <- most
				return
			case <-time.After(100 * time.Millisecond):
				most = max(most, descendants(os.Getpid()))
			}
		}
	}()
	return func() int64 { close(stop); return <-result }
}

// descendants sums the proportional set sizes of all processes below one.
func descendants(root int) (sum int64) {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	parent := map[int]int{}
	for _, name := range stats {
		stat, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		parent[pid], _ = strconv.Atoi(fields[1])
	}
	for pid := range parent {
		up := parent[pid]
		for up != root && up > 1 {
			up = parent[up]
		}
		if up != root {
			continue
		}
		rollup, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(rollup)) {
			if rest, ok := strings.CutPrefix(line, "Pss:"); ok {
				kb, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
				sum += kb << 10
			}
		}
	}
	return sum
}
