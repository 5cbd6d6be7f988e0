package symbols

import (
	"regexp"
	"sync"
)

// pattern returns a function that compiles an expression on first use. Most runs of the program need no patterns, and
// to compile all of them would take most of the program's start.
func pattern(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
