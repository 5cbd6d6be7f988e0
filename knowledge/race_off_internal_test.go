//go:build !race

package knowledge

const raceFactor = 1
