//go:build !race

package vector

const raceFactor = 1
