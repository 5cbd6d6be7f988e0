package convert

import (
	"regexp"
	"sync"
)

// pattern compiles an expression when it is first needed: compiling all of them would take longer than all else at the
// program's start.
func pattern(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
