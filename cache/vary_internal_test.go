package cache

import "testing"

func TestVary(t *testing.T) {
	for _, tt := range []struct {
		name              string
		vary, first, then string
		want              bool
	}{
		{"same value, RFC 9111 §4.1", "Vary: Foo", "Foo: 1", "Foo: 1", true},
		{"another value", "Vary: Foo", "Foo: 1", "Foo: 2", false},
		{"absent at first", "Vary: Foo", "", "Foo: 1", false},
		{"absent later", "Vary: Foo", "Foo: 1", "", false},
		{"absent both times", "Vary: Foo, Bar", "Bar: 1", "Bar: 1", true},
		{"on a second line", "Vary: Bar\nVary: Foo", "Foo: 1", "Foo: 2", false},
		{"in any case", "Vary: FOO", "foo: 1", "foo: 2", false},
		{"other fields do not matter", "Vary: Foo", "Foo: 1\nBar: 1", "Foo: 1\nBar: 2", true},
		{"two lines are one list", "Vary: Foo", "Foo: 1, 2", "Foo: 1\nFoo: 2", true},
		{"space around commas", "Vary: Foo", "Foo: 1,2", "Foo:  1 ,  2 ", true},
		{"a comma in a quoted string", "Vary: Foo", `Foo: "1, 2"`, `Foo: "1,2"`, false},
		{"order matters where we do not know the field", "Vary: Foo", "Foo: 1, 2", "Foo: 2, 1", false},
		{"languages in another order", "Vary: Accept-Language", "Accept-Language: en, de", "Accept-Language: de, en", true},
		{"languages in another case", "Vary: Accept-Language", "Accept-Language: en, de", "Accept-Language: eN, De", true},
		{
			"other weights are another choice", "Vary: Accept-Language", "Accept-Language: en, de;q=0.5",
			"Accept-Language: en;q=0.5, de", false,
		},
		{"codings in another order", "Vary: Accept-Encoding", "Accept-Encoding: gzip, br", "Accept-Encoding: br,gzip", true},
		{
			"the language answered is preferred", "Vary: Accept-Language\nContent-Language: de", "Accept-Language: en, de",
			"Accept-Language: fr;q=0.5, de", true,
		},
		{
			"the language answered is not preferred", "Vary: Accept-Language\nContent-Language: de", "Accept-Language: en, de",
			"Accept-Language: fr, de;q=0.5", false,
		},
		{"User-Agent is no list", "Vary: User-Agent", "User-Agent: A (x, y)", "User-Agent: A (x,y)", false},
		{"nor is Referer", "Vary: Referer", "Referer: http://a/?b,c", "Referer: http://a/?b, c", false},
		{"cookies are compared, hashed", "Vary: Cookie", "Cookie: a=1", "Cookie: a=2", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := answered(&shared, get(&shared, tt.first), 200, "Cache-Control: max-age=60\n"+tt.vary)
			if got := shared.matches(get(&shared, tt.then), r); got != tt.want {
				t.Errorf("%q selects what answered %q: %v, want %v", tt.then, tt.first, got, tt.want)
			}
			for name, value := range r.Selecting {
				if name == "cookie" && value == "a=1" {
					t.Error("a cookie is kept as it is")
				}
			}
		})
	}
}

// A tag that an origin gives to all forms of a file is offered only for the form that the request asks for.
func TestSuits(t *testing.T) {
	const json, html = "Content-Type: application/json; charset=utf-8", "Content-Type: text/html"
	for _, tt := range []struct {
		name                string
		answer, first, then string
		want                bool
	}{
		{"the same request", "Vary: Accept\n" + json, "Accept: */*", "Accept: */*", true},
		{"another type", "Vary: Accept\n" + json, "Accept: application/json", "Accept: text/html, */*;q=0.8", false},
		{"its type, named first", "Vary: Accept\n" + html, "Accept: text/html", "Accept: text/html, */*;q=0.8", true},
		{"its type, named last", "Vary: Accept\n" + html, "Accept: text/html", "Accept: text/html;q=0.5, text/plain", false},
		{"any type", "Vary: Accept\n" + json, "Accept: application/json", "Accept: */*", false},
		{"no type", "Vary: Accept\n" + json, "Accept: application/json", "", false},
		{"another field alone", "Vary: Accept, X\n" + json, "Accept: */*\nX: 1", "Accept: */*\nX: 2", true},
		{
			"a coding not asked for", "Vary: Accept-Encoding\nContent-Encoding: gzip", "Accept-Encoding: gzip", "", false,
		},
		{
			"a coding asked for", "Vary: Accept-Encoding\nContent-Encoding: gzip", "Accept-Encoding: gzip",
			"Accept-Encoding: gzip, br", true,
		},
		{
			"a coding refused", "Vary: Accept-Encoding\nContent-Encoding: gzip", "Accept-Encoding: gzip",
			"Accept-Encoding: gzip;q=0, br", false,
		},
		{"no coding", "Vary: Accept-Encoding", "", "Accept-Encoding: gzip", true},
		{
			"another language", "Vary: Accept-Language\nContent-Language: de", "Accept-Language: de", "Accept-Language: en",
			false,
		},
		{"a language not stated", "Vary: Accept-Language", "Accept-Language: de", "Accept-Language: en", false},
	} {
		r := answered(&shared, get(&shared, tt.first), 200, "Cache-Control: max-age=60\n"+tt.answer)
		if got := suits(r, get(&shared, tt.then).Header, shared.key); got != tt.want {
			t.Errorf("%s: what answered %q suits %q: %v, want %v", tt.name, tt.first, tt.then, got, tt.want)
		}
	}
}
