//go:build race

package convert_test

// slower is how much smaller hostile inputs are under the race detector, which makes everything that much slower. "make test"
// runs them in their full size without it.
const slower = 10
