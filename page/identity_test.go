package page_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/readthru/readthru/page"
)

func TestNormalize(t *testing.T) {
	for _, tt := range []struct{ name, url, want string }{
		{"scheme and host are lower-cased", "HTTPS://Example.COM/Path", "https://example.com/Path"},
		{"default port of https goes", "https://a.test:443/", "https://a.test/"},
		{"default port of http goes", "http://a.test:80/x", "http://a.test/x"},
		{"another port stays", "http://a.test:443/x", "http://a.test:443/x"},
		{"fragment goes", "https://a.test/x#part", "https://a.test/x"},
		{"no path is the root", "https://a.test", "https://a.test/"},
		{"dot segments are resolved", "https://a.test/a/./b/../c", "https://a.test/a/c"},
		{"dots cannot climb above the root", "https://a.test/../../x", "https://a.test/x"},
		{"trailing slash stays", "https://a.test/a/", "https://a.test/a/"},
		{"a repository has one name", "https://github.com/cli/cli/", "https://github.com/cli/cli"},
		{"also as git calls it", "https://github.com/cli/cli.git", "https://github.com/cli/cli"},
		{"and in a group", "https://gitlab.com/a/b/c.git/", "https://gitlab.com/a/b/c"},
		{"a file of a repository keeps its own", "https://github.com/cli/cli/blob/main/x.git", "https://github.com/cli/cli/blob/main/x.git"},
		{"a directory too", "https://github.com/cli/cli/tree/main/x.git/", "https://github.com/cli/cli/tree/main/x.git/"},
		{"elsewhere .git stays", "https://a.test/cli/cli.git", "https://a.test/cli/cli.git"},
		{"an owner's page stays", "https://github.com/cli/", "https://github.com/cli/"},
		{"path keeps its case", "https://a.test/README", "https://a.test/README"},
		{"escapes are made uniform", "https://a.test/%7euser/%e4%bd%a0", "https://a.test/~user/%E4%BD%A0"},
		{"an escaped slash is no slash", "https://a.test/a%2Fb", "https://a.test/a%2Fb"},
		{"query is sorted by name", "https://a.test/?b=2&a=1", "https://a.test/?a=1&b=2"},
		{"equal names keep their order", "https://a.test/?a=2&b=1&a=1", "https://a.test/?a=2&a=1&b=1"},
		{"escapes in the query are made uniform", "https://a.test/?q=a%20b&p=%2f", "https://a.test/?p=%2F&q=a+b"},
		{"a name without value is not one with an empty value", "https://a.test/?a&b=", "https://a.test/?a&b="},
		{"tracking goes", "https://a.test/?utm_source=x&UTM_Medium=y&gclid=1&fbclid=2&msclkid=3&q=1", "https://a.test/?q=1"},
		{"tracking of mails goes", "https://a.test/?mkt_tok=1&vero_id=2&__hstc=3&igsh=4&ymclid=5&q=1", "https://a.test/?q=1"},
		{"names like those of tracking stay", "https://a.test/?mkt=1&utm=2&xutm_source=3", "https://a.test/?mkt=1&utm=2&xutm_source=3"},
		{"nothing but tracking leaves no query", "https://a.test/?utm_source=x", "https://a.test/"},
		{"what cannot be read stays", "https://a.test/?b=%zz&a=1", "https://a.test/?b=%zz&a=1"},
		{"user info goes", "https://me:pw@a.test/", "https://a.test/"},
		{"IPv6 keeps its brackets", "http://[2001:DB8::1]:80/x", "http://[2001:db8::1]/x"},
		{"IPv6 with a port", "http://[::1]:8080/x", "http://[::1]:8080/x"},
		{"a route stays", "https://a.test/x#/guide/", "https://a.test/x#/guide/"},
		{"a route with a bang stays", "https://a.test/#!/Guide", "https://a.test/#!/Guide"},
		{"escapes in a route are made uniform", "https://a.test/#/%7eme/%e4%bd%a0", "https://a.test/#/~me/%E4%BD%A0"},
		{"the query of a route is sorted, without tracking", "https://a.test/#/q?utm_id=1&b=2&a=1", "https://a.test/#/q?a=1&b=2"},
		{"nothing but tracking leaves a route no query", "https://a.test/#/q?utm_id=1", "https://a.test/#/q"},
		{"what marks text in a route goes", "https://a.test/#/guide:~:text=x", "https://a.test/#/guide"},
		{"a link that leads nowhere is no route", "https://a.test/x#!", "https://a.test/x"},
		{"an escaped slash begins no route", "https://a.test/x#%2Fguide", "https://a.test/x"},
		{"a trailing dot of the host goes", "https://a.test./x", "https://a.test/x"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := page.Normalize(mustParse(t, tt.url)); got != tt.want {
				t.Errorf("Normalize(%s) = %s, want %s", tt.url, got, tt.want)
			}
		})
	}
}

func TestKeysAreStableAndDiffer(t *testing.T) {
	a, b := page.KeyOf("https://a.test/"), page.KeyOf("https://a.test/x")
	if a == b || a != page.KeyOf("https://a.test/") {
		t.Error("keys do not follow their URLs")
	}
	if doc := a.Doc(); len(doc) != 16 || !strings.HasPrefix(a.String(), doc) || len(a.String()) != 64 {
		t.Errorf("doc %q, key %q", doc, a)
	}
}

func TestParseSaysWhatIsWrong(t *testing.T) {
	for _, tt := range []struct{ raw, want string }{
		{"", "empty"},
		{"  ", "empty"},
		{"example.com/x", "write https://example.com/x"},
		{"//example.com/x", "write https://example.com/x"},
		{"ftp://a.test/", "ftp is not http or https"},
		{"file:///etc/passwd", "file is not http or https"},
		{"https:///path", "no host"},
		{"http://:80/", "no host"},
		{"https://a.test/%zz", "invalid URL escape"},
	} {
		if _, err := page.Parse(tt.raw); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("Parse(%q): %v, want an error with %q", tt.raw, err, tt.want)
		}
	}
	if u, err := page.Parse(" https://a.test/x "); err != nil || u.String() != "https://a.test/x" {
		t.Errorf("Parse with spaces: %v, %v", u, err)
	}
	if _, err := page.Parse("https://me:pa55word@a.test:bad/?token=s3cret"); err == nil ||
		strings.Contains(err.Error(), "pa55word") || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("an error tells a secret: %v", err)
	}
}

func TestEscapesOfAPathStay(t *testing.T) {
	base, err := page.Parse("https://a.test/x%2Fy/")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ path, want string }{
		{"/a%2Fb", "/a%2Fb"},
		{"/a%2Fb|c", "/a%2Fb%7Cc"},
		{"/a%2fb%2Bc%3a/{d}^`\"<>\\", "/a%2fb%2Bc%3a/%7Bd%7D%5E%60%22%3C%3E%5C"},
		{"/caf\u00e9/a%2Fb", "/caf%C3%A9/a%2Fb"},
		{"/caf\u00e9", "/caf%C3%A9"},
		{"/a b%20c", "/a%20b%20c"},
		{"/[a]|b", "/[a]%7Cb"},
		{"/a", "/a"},
	} {
		u, err := page.Parse("https://a.test" + tt.path)
		if err != nil || u.String() != "https://a.test"+tt.want {
			t.Errorf("Parse(%q) = %v, %v, want %q", tt.path, u, err, tt.want)
		}
		u, err = page.Resolve(base, "."+tt.path)
		if err != nil || u.String() != "https://a.test/x%2Fy"+tt.want {
			t.Errorf("Resolve(%q) = %v, %v, want %q", tt.path, u, err, tt.want)
		}
	}
}

func FuzzNormalizeIsIdempotent(f *testing.F) {
	for _, s := range []string{
		"https://a.test/a/../b?x=1&a=%20", "http://A.test:80//x//y", "https://a.test/?a;b=c",
		"https://a.test/%2e%2e/x", "http://[::1]/", "https://a.test./?=&&=x", "https://a.test/#/a%7e?b=[c]&a",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		u, err := page.Parse(raw)
		if err != nil {
			return
		}
		once := page.Normalize(u)
		again, err := url.Parse(once)
		if err != nil {
			t.Fatalf("Normalize(%q) = %q, which does not parse: %v", raw, once, err)
		}
		if twice := page.Normalize(again); twice != once {
			t.Errorf("Normalize(%q) = %q, and of that %q", raw, once, twice)
		}
	})
}
