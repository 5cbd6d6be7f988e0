//go:build unix

package convert_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/readthru/readthru/convert"
	"github.com/readthru/readthru/internal/processor"
)

// TestHostileCorpusPagesCostLittle builds the pages that bombs.json describes, in testdata/security or the folder
// that READTHRU_CORPUS_SECURITY names, and checks that each is converted within 2 s of processor time for each 10 MiB
// and 300 MB, beyond 10 MiB six times its length more, or gives its text alone.
func TestHostileCorpusPagesCostLittle(t *testing.T) {
	if testing.Short() {
		t.Skip("short: it takes seconds of a processor")
	}
	dir := cmp.Or(os.Getenv("READTHRU_CORPUS_SECURITY"), "testdata/security")
	file, err := os.ReadFile(filepath.Join(dir, "bombs.json"))
	if err != nil {
		t.Fatal(err)
	}
	var kinds []struct{ ID, Kind, Make string }
	if err := json.Unmarshal(file, &kinds); err != nil {
		t.Fatal(err)
	}
	for _, k := range kinds {
		if k.Kind != "html" {
			continue // codings are undone elsewhere
		}
		for _, n := range []int{2000, 80000 / shrink} {
			t.Run(fmt.Sprintf("%s-%d", k.ID, n), func(t *testing.T) {
				html := bombOf(t, k.Make, n)
				runtime.GC()
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				begun := processor.Time()
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
				defer cancel()
				doc, err := convert.Parse(ctx, []byte(html), "text/html", pageURL)
				if err != nil {
					t.Fatal(err)
				}
				res, err := doc.Convert(ctx, convert.Options{})
				if err != nil {
					t.Fatal(err)
				}
				took := processor.Time() - begun
				runtime.ReadMemStats(&after)
				t.Logf("%d bytes to %d: %v of processor time, %d MB in the heap, %v", len(html), len(res.Markdown),
					took.Round(time.Millisecond), int64(after.HeapSys-before.HeapSys)>>20, res.Warnings)
				if took > time.Duration(1+len(html)/(10<<20))*2*time.Second {
					t.Errorf("%v of processor time", took)
				}
				if grown := int64(after.Sys) - int64(before.Sys); grown > 300<<20+6*max(int64(len(html))-10<<20, 0) {
					t.Errorf("%d MB more memory", grown>>20)
				}
				if strings.Contains(html, "KEPT") && !strings.Contains(res.Markdown, "KEPT") {
					t.Errorf("the markdown lacks the text: %.200q", res.Markdown)
				}
			})
		}
	}
}

// bombOf builds a page from its description: "PIECE x N", or one of a few others.
func bombOf(t *testing.T, description string, n int) string {
	t.Helper()
	if piece, ok := strings.CutSuffix(description, " x N"); ok {
		if strings.Contains(piece, "<td>x") || strings.Contains(piece, "<tr>") && !strings.Contains(piece, "<table>") {
			return "<p>KEPT</p><table>" + strings.Repeat(piece, n) + "</table>"
		}
		return "<p>KEPT</p>" + strings.Repeat(piece, n) + "x"
	}
	switch {
	case strings.HasPrefix(description, "colspan="):
		return "<p>KEPT</p><table><tr><td " + description + " row" + strings.TrimPrefix(description, "col") +
			">a<td>b<tr><td>c</table>"
	case strings.HasPrefix(description, "N attributes"):
		return "<p " + manyAttributes(n) + ">KEPT</p>"
	case strings.Contains(description, "-char attribute"):
		return "<p title='" + strings.Repeat("x", 10*n) + "'>KEPT</p>"
	case strings.HasPrefix(description, "100 blockquotes"):
		return "<p>KEPT</p>" + strings.Repeat("<blockquote>", 100) + strings.Repeat("line<br>", n)
	case strings.HasPrefix(description, "50 MB"):
		return "<p>" + strings.Repeat("x", 50<<20/shrink)
	}
	t.Fatalf("unknown page description %q", description)
	return ""
}
