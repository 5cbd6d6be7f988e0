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
