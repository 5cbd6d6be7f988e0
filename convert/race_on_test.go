//go:build race

package convert_test

// raceFactor is how much smaller hostile inputs are under the race detector, which makes everything that much slower.
const raceFactor = 8
