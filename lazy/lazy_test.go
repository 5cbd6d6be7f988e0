package lazy_test

import (
	"testing"

	"readthru/lazy"
)

func TestAPatternIsCompiledOnce(t *testing.T) {
	if p := lazy.Pattern(`^a+$`); !p().MatchString("aa") || p() != p() {
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
