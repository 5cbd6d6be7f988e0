package page_test

import (
	"strings"
	"testing"

	"github.com/readthru/readthru/page"
)

func TestTextsThatNoHostMatchesAreErrors(t *testing.T) {
	for _, good := range []string{
		"a.example", "A.example.", ".a.example", "*.a.example", "localhost", "dns_name.test", "10.0.0.1", "::1", "*",
		"xn--bcher-kva.example",
	} {
		if err := page.CheckHost(good); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
	for bad, instead := range map[string]string{
		"":                       "",
		"*[":                     "",
		"a b.example":            "",
		"https://a.example/x":    "write a.example",
		"a.example/docs":         "write a.example",
		"a.example:443":          "write a.example",
		"[::1]":                  "write ::1",
		"[::1]:443":              "write ::1",
		"bücher.example":         "write xn--bcher-kva.example",
		"https://u:pw@a.test":    "write a.test",
		strings.Repeat("a", 254): "",
	} {
		err := page.CheckHost(bad)
		if err == nil {
			t.Errorf("%q: no error", bad)
		} else if got := err.Error(); !strings.Contains(got, instead) || instead == "" && strings.Contains(got, "write") {
			t.Errorf("%q: %v, want %q", bad, err, instead)
		} else if strings.Contains(got, "pw") {
			t.Errorf("%q: %v tells a password", bad, err)
		}
	}
}
