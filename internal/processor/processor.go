// Package processor says how much processor time this process has used. Tests that bound what hostile input costs
// measure that, because it does not grow when the machine has other things to do.
package processor

import "time"

// Of returns the processor time that f takes, with whatever else runs in this process meanwhile.
func Of(f func()) time.Duration {
	begun := Time()
	f()
	return Time() - begun
}
