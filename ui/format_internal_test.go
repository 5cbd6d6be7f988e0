package ui

import "testing"

func TestWordsAgreeWithNumbers(t *testing.T) {
	for n, want := range map[int64]string{0: "0 pages", 1: "1 page", 2: "2 pages", 12345: "12\u202f345 pages"} {
		if got := someText(n, "page"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
