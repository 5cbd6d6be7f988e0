package convert_test

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/readthru/readthru/convert"
)

// largePages are pages of 5 MB.
var largePages = []struct {
	name string
	html func() string
}{
	{"prose", func() string {
		return largePage("<div class='entry-content'>%s</div>", func(i int) string {
			return fmt.Sprintf("<div class='section-%d'><h2 id=s%d>Part %d of it</h2><p>The <b>river</b> rose, as <a href='/r/%d'>it does</a> each "+
				"spring; those who live on its banks have moved what they could, and wait for the rest.</p><ul><li>Boats, <em>all</em> of them<li>Hay</ul>"+
				"<p class=note>Nobody <code>knows</code> how high it will come this time, or when it goes.</p></div>\n", i%7, i, i,
				i)
		})
	}},
	{"table", func() string {
		return largePage("<h1>Rivers</h1><table>%s</table>", func(i int) string {
			return fmt.Sprintf("<tr><td>%d</td><td>River %d</td><td><a href='/r/%d'>map</a></td><td>%d km</td></tr>\n", i, i, i,
				i%6400)
		})
	}},
	{"list", func() string {
		return largePage("<h1>Rivers</h1><ul>%s</ul>", func(i int) string {
			return fmt.Sprintf("<li><a href='/r/%d'>River %d</a>, %d km</li>\n", i, i, i%6400)
		})
	}},
	{"small cells", func() string { // the tree is forty times the page
		return largePage("<h1>Rivers</h1><table>%s</table>", func(int) string { return "<tr><td>x<td>y" })
	}},
	{"definitions", func() string {
		return largePage("<h1>Rivers</h1><dl>%s</dl>", func(i int) string {
			return fmt.Sprintf("<dt id=x%d><code>river%d</code></dt><dd><p>It flows, as <a href='/r/%d'>it does</a> in spring, to the sea.</p></dd>\n", i, i, i)
		})
	}},
	{"code", func() string {
		return largePage("<h1>Rivers</h1>%s", func(i int) string {
			return fmt.Sprintf("<p>How to cross number %d:</p><pre><code class=language-go><span class=k>func</span> <span class=n>cross%d</span>() {\n\t"+
				"<span class=n>row</span>(<span class=mi>%d</span>)\n}</code></pre>\n", i, i, i)
		})
	}},
}

// largePage repeats piece in frame up to 5 MB.
func largePage(frame string, piece func(i int) string) string {
	var b strings.Builder
	for i := 0; b.Len() < 5<<20; i++ {
		b.WriteString(piece(i))
	}
	return "<!doctype html><title>Rivers</title><body>" + fmt.Sprintf(frame, b.String())
}

// BenchmarkHeap tells how much heap the conversion of a large page takes at most, beyond what the page's tree takes:
// sampled while garbage is collected at a tenth of growth, so that a tenth may be garbage.
func BenchmarkHeap(b *testing.B) {
	defer debug.SetGCPercent(debug.SetGCPercent(10))
	for _, p := range largePages {
		b.Run(p.name, func(b *testing.B) {
			page := []byte(p.html())
			before := heap()
			root, err := html.Parse(bytes.NewReader(page))
			if err != nil {
				b.Fatal(err)
			}
			tree := heap() - before
			runtime.KeepAlive(root)
			var most uint64
			for b.Loop() {
				before = heap()
				peak := peakHeap(func() {
					doc, err := convert.Parse(context.Background(), page, "text/html", pageURL)
					if err != nil {
						b.Fatal(err)
					}
					if _, err := doc.Convert(context.Background(), convert.Options{}); err != nil {
						b.Fatal(err)
					}
				})
				most = max(most, peak-before)
			}
			b.ReportMetric(float64(tree)/1e6, "MB-tree")
			b.ReportMetric((float64(most)-float64(tree))/1e6, "MB-beyond")
		})
	}
}

// heap returns the bytes of live objects.
func heap() uint64 {
	runtime.GC()
	return heapNow()
}

func heapNow() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// peakHeap returns the most bytes that objects take while do runs, looked at every 2 ms.
func peakHeap(do func()) uint64 {
	done, peak := make(chan struct{}), make(chan uint64)
	go func() {
		tick := time.NewTicker(2 * time.Millisecond)
		defer tick.Stop()
		most := uint64(0)
		for {
			select {
			case <-tick.C:
				most = max(most, heapNow())
			case <-done:
				peak <- most
				return
			}
		}
	}()
	do()
	close(done)
	return <-peak
}
