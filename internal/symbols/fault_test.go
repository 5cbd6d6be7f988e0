package symbols_test

import (
	"strings"
	"testing"

	"github.com/readthru/readthru/internal/fault/faulttest"
)

// A file whose reading panics is counted as failed, and its turn is another's.
func TestAFileWhoseReadingPanicsIsCounted(t *testing.T) {
	b := withoutGrammars(t).Begin(t.Context())
	faulttest.Once(t, "symbols: read a file")
	b.Add("a.go", []byte("package a\nfunc A() {}\n"))
	m := b.Map(0)
	if m.Skipped.Failed != 1 || strings.Contains(m.Text(), "func A") {
		t.Errorf("skipped %+v, text %q; want a.go failed", m.Skipped, m.Text())
	}
}
