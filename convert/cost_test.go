package convert_test

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/readthru/readthru/internal/processor"

	"golang.org/x/net/html"
)

// shrink is how much smaller hostile inputs are than in full size: 1 where READTHRU_FULL_SIZE is set. In a fifth of the
// size what is quadratic still stands out against parsing.
var shrink = func() int {
	if os.Getenv("READTHRU_FULL_SIZE") != "" {
		return 1
	}
	return 5 * raceFactor
}()

// many repeats s n times; great numbers are shrunk.
func many(s string, n int) string {
	if n >= 5000 {
		n /= shrink
	}
	return strings.Repeat(s, n)
}

// maxCost is what a conversion may cost in units of html.Parse of the same bytes. Pages cost 4 or 5, the dearest of the
// hostile ones 40.
const maxCost = 100

// checkCost runs do, and fails the test when that takes out of proportion to parsing content, in processor time: other
// programs on the machine do not count. Two seconds are free.
func checkCost(t *testing.T, content string, do func()) {
	t.Helper()
	begun := processor.Time()
	do()
	took := processor.Time() - begun
	if took < 2*time.Second {
		return
	}
	begun = processor.Time()
	_, _ = html.Parse(bytes.NewReader([]byte("<p>" + content))) // too deep a page is none of this function's business
	if unit := processor.Time() - begun; took > maxCost*unit {
		t.Errorf("it took %v of processor time, parsing takes %v", took, unit)
	}
}
