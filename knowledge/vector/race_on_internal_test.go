//go:build race

package vector

// raceFactor is how much smaller sets of vectors are under the race detector, which adds nothing to arithmetic.
const raceFactor = 8
