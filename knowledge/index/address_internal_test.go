package index

import (
	"strings"
	"testing"
)

func TestAddressWords(t *testing.T) {
	for address, want := range map[string]string{
		"https://docs.python.org/3.11/library/functools.html": "docs python library functools",
		"https://www.postgresql.org/docs/15/sql-copy.html":    "postgresql docs sql copy",
		"http://localhost:8080/a_b/c%20d?q=secret#top":        "localhost a_b c d",
		"notes/2024/setup.md":                                 "notes setup",
		"12345":                                               "",
		"":                                                    "",
		"://":                                                 "",
		"https://a.test/" + strings.Repeat("x", 1000): "a " + strings.Repeat("x", maxAddress-3),
	} {
		if got := addressWords(address); got != want {
			t.Errorf("words of %q: %q, want %q", address, got, want)
		}
	}
}
