//go:build unix

package fetch_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/fetch/github/githubtest"
	"github.com/readthru/readthru/internal/symbols"
	"github.com/readthru/readthru/internal/transport/transporttest"
)

// BenchmarkRepository reads one repository from a host on loopback: its archive, made beforehand as GitHub has it, with
// and without a symbol map, and by git for comparison. READTHRU_BENCH_FILES is its number of files; if it is not set,
// 1,000.
func BenchmarkRepository(b *testing.B) {
	n := 1000
	if s := os.Getenv("READTHRU_BENCH_FILES"); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil {
			b.Fatal(err)
		}
	}
	h := githubtest.New(b)
	files := map[string]string{"README.md": "# Big\n\nA tree.\n"}
	for i := range n {
		var text strings.Builder
		for j := range 30 {
			fmt.Fprintf(&text, "def function_%d_%d(a, b):\n    return function_%d_%d(a, %d)\n\n", i, j, (i*7+j)%n, j, i*j)
		}
		files[fmt.Sprintf("src/p%03d/m%05d.py", i%200, i)] = text.String()
	}
	h.Add("ann/big", files)
	archive, err := exec.CommandContext(b.Context(), "git", "--git-dir="+filepath.Join(h.Root, "ann/big.git"), "archive",
		"--format=tar.gz", "--prefix=big/", "HEAD").Output()
	if err != nil {
		b.Fatal(err)
	}
	h.Archive = func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/x-gzip")
		_, _ = w.Write(archive)
	}
	engine := symbols.New(symbols.Options{})
	b.Cleanup(func() { _ = engine.Close() })
	for _, with := range []*symbols.Engine{nil, engine} {
		b.Run(fmt.Sprintf("archive/files=%d/symbols=%t", n, with != nil), func(b *testing.B) {
			c := newChain(b, h, func(o *fetch.Options) { o.Symbols = with })
			b.SetBytes(int64(len(archive)))
			for b.Loop() {
				ans, err := c.Page(b.Context(), fetch.Request{
					URL: parse(b, "https://github.com/ann/big"), Own: true,
					NoStore: true,
				})
				if err != nil || ans.Page.Readme == "" {
					b.Fatal(ans, err)
				}
			}
		})
	}
	b.Run(fmt.Sprintf("clone/files=%d", n), func(b *testing.B) {
		server := transporttest.Serve(b, h)
		var most int64
		for b.Loop() {
			cmd := exec.CommandContext(b.Context(), "git", "-c", "http.extraHeader=Host: github.com", "clone", "-q", "--depth",
				"1", "http://"+server+"/ann/big.git", filepath.Join(b.TempDir(), "work"))
			cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_TERMINAL_PROMPT=0")
			cmd.Stderr = io.Discard
			if err := cmd.Run(); err != nil {
				b.Fatal(err)
			}
			if u, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
				most = max(most, u.Maxrss)
			}
		}
		b.ReportMetric(float64(most)/1024, "MB-rss")
	})
}
