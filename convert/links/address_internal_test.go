package links

import (
	"net/url"
	"testing"
)

// TestPlainURLIsReadByParse holds what allows plainURL to stand for url.Parse.
func TestPlainURLIsReadByParse(t *testing.T) {
	plain := 0
	for _, rest := range []string{
		"//a.test", "//a.test/b?c=d#e", "//a.test?x", "//a.test#x", "//a-b.test/ü (x) [y] {z}|", "//a.test/b c", "//-/",
		"//.", "//a/b:c@d", "//a.test/%zz", "//a.test/%20", "//a.test:80/", "//a b/", "//a@b/", "//[::1]/", "//[::1/", "//", "///x",
		"/x", "x", "", "//ü.test/", "//a.test\\b", "//a.test/\\b", "//a.test?%zz", "//a.test#%zz",
	} {
		if !plainURL(rest) {
			continue
		}
		plain++
		if _, err := url.Parse("https:" + rest); err != nil {
			t.Errorf("plainURL(%q) is true, but: %v", rest, err)
		}
	}
	if plain < 9 {
		t.Errorf("%d addresses are plain, want 9 or more", plain)
	}
}
