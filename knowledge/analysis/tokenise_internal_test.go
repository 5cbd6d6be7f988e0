package analysis

import (
	"fmt"
	"strings"
	"testing"
)

func TestTokensOfText(t *testing.T) {
	for _, tt := range []struct {
		text, want string // surface@position
	}{
		{"", ""},
		{"The user's cat don't", "the@0 user@1 cat@2 don@3"},
		{"the users’ cats", "the@0 users@1 cats@2"},
		{"useEffect hook", "useeffect@0 use@0 effect@1 hook@2"},
		{"HTTPServer getURL IDs", "httpserver@0 http@0 server@1 geturl@2 get@2 url@3 ids@4"},
		{"foo_bar __init__ _emphasis_", "foo_bar@0 foo@0 bar@1 init@2 emphasis@3"},
		{"--dry-run E0308 v1.2", "dry@0 run@1 e0308@2 1.2@3 v1@3 2@4"},
		{"15.4. In 3.11rc1, v2 of .5", "15.4@0 15@0 4@1 in@2 3.11rc1@3 3@3 11rc1@4 v2@5 of@6 5@7"},
		{"1.2.x a1.2 1..2 1.é", "1.2@0 1@0 2@1 x@2 a1@3 2@4 1@5 2@6 1@7 é@8"},
		{"9." + strings.Repeat("1", maxWord+1) + " y", "9@0 y@2"},
		{"ship it 🚀 ☂️ → 5 °", "ship@0 it@1 🚀@2 ☂@3 5@4"},
		{"C++ and C# or F#, not #tag", "c++@0 and@1 c#@2 or@3 f#@4 not@5 tag@6"},
		{"see [the guide](https://a.test/some/path?x=1) now", "see@0 the@1 guide@2 now@3"},
		{"[a](b \"title\") c", "a@0 title@1 c@2"},
		{"f(x) [a] (b)", "f@0 x@1 a@2 b@3"},
		{"日本語 text 中", "日本@0 本語@1 text@3 中@4"},
		{"ÜBER Straße", "über@0 straße@1"},
		{strings.Repeat("x", maxWord+1) + " y", "y@1"},
		{"\xff\xfe ok", "ok@0"},
		{"___ a", "a@0"},
	} {
		var got []string
		Tokenise(tt.text, func(t Token) { got = append(got, fmt.Sprintf("%s@%d", t.Surface, t.Pos)) })
		if s := strings.Join(got, " "); s != tt.want {
			t.Errorf("tokens of %q = %q, want %q", tt.text, s, tt.want)
		}
	}
}

func TestStemOf(t *testing.T) {
	for form, want := range map[string]string{
		"connections": "connect", "running": "run", "café": "cafe", "cafés": "cafe", "e0308": "e0308", "foo_bars": "foo_bars",
		"go": "go", "日本": "日本", "c++": "c++", "ガ": "ガ",
	} {
		if got := Stem(form); got != want {
			t.Errorf("stemOf(%q) = %q, want %q", form, got, want)
		}
	}
}

func FuzzTokenise(f *testing.F) {
	for _, s := range []string{
		"useEffect __x__ HTTPServer", "日本語テキスト", "[a](b) ’s don't C++ C#", "\xff_\xff", "a\u0301bc",
		"İstanbul ſ",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		pos := 0
		Tokenise(text, func(tok Token) {
			if tok.Pos < pos || tok.Start < 0 || tok.End <= tok.Start || tok.End > len(text) || len(tok.Surface) == 0 ||
				len(tok.Surface) > maxWord {
				t.Fatalf("token %+v of %q", tok, text)
			}
			pos = tok.Pos
			Stem(string(tok.Surface))
		})
	})
}
