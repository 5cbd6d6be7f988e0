package strict

import (
	"net/url"
	"testing"
)

func FuzzAuthority(f *testing.F) {
	for _, s := range []string{"a.test:443", "[::1]:443", "a.test", "[::ffff:1.2.3.4]:1", "a:0443", "A.TEST.:1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		host, port, err := SplitAuthority(s, "443")
		if err != nil {
			return
		}
		joined := JoinAuthority(host, port, "443")
		again, samePort, err := SplitAuthority(joined, "443")
		if err != nil || again != host || samePort != port {
			t.Fatalf("%q → %q %q → %q → %q %q, %v", s, host, port, joined, again, samePort, err)
		}
		u, err := url.Parse("https://" + joined + "/")
		if err != nil || u.Hostname() != host || u.User != nil || u.Path != "/" {
			t.Fatalf("%q is read otherwise by net/url: %v %v", joined, u, err)
		}
	})
}
