//go:build !race

package convert_test

const slower = 1
