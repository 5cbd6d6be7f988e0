package lazy_test

import (
	"testing"

	"github.com/readthru/readthru/internal/lazy"
)

func TestAPatternIsCompiledOnce(t *testing.T) {
	p := lazy.Pattern(`^a+$`)
	if first := p(); !first.MatchString("aa") || p() != first {
		t.Error("compiled anew, or otherwise")
	}
	wrong := lazy.Pattern(`(`) // no panic yet
	defer func() {
		if recover() == nil {
			t.Error("what is no expression was compiled")
		}
	}()
	wrong()
}
