//go:build race

package pdf_test

const raceFactor = 10
