package fetch_test

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/readthru/readthru/fetch"
)

// grammars is where the symbol maps of all tests keep the machine code of their grammars.
var grammars string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "grammars")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	grammars = dir
	fetch.TakeYourTime()
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		_ = os.RemoveAll(dir)
		os.Exit(code)
	}))
}
