// Package lazy compiles regular expressions when they are first needed. Most runs of the program need none of them, and
// to compile all would take most of its start.
package lazy

import (
	"regexp"
	"sync"
)

// Pattern returns a function that compiles an expression at its first call. It panics then if the expression is none.
func Pattern(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
