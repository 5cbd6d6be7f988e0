package symbols

import (
	"regexp"
	"sync"
)

// pattern compiles an expression when it is first needed: most runs of the program need none of them, and compiling all
// of them would take longer than all else at its start.
func pattern(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
