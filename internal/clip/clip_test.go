package clip_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/readthru/readthru/internal/clip"
)

func TestTextsAreCutBetweenCharacters(t *testing.T) {
	for _, tt := range []struct {
		s                      string
		n                      int
		bytes, runes, ellipsis string
	}{
		{"", 0, "", "", ""},
		{"", 3, "", "", ""},
		{"abc", 0, "", "", "…"},
		{"abc", -1, "", "", "…"},
		{"abc", 1, "a", "a", "…"},
		{"abc", 2, "ab", "ab", "a…"},
		{"abc", 3, "abc", "abc", "abc"},
		{"größe", 3, "gr", "grö", "gr…"},
		{"größe", 4, "grö", "größ", "grö…"},
		{"größe", 5, "grö", "größe", "größe"},
		{"größe", 7, "größe", "größe", "größe"},
		{"日本語", 2, "", "日本", "日…"},
		{"日本語", 3, "日", "日本語", "日本語"},
		{"😀😀", 3, "", "😀😀", "😀😀"},
		{"😀😀", 1, "", "😀", "…"},
		{"😀😀", 5, "😀", "😀😀", "😀😀"},
		{"one two", 5, "one t", "one t", "one…"},
		{"a\xff\xffb", 2, "a\xff", "a\xff", "a…"},
		{"\x80\x80\x80\x80\x80\x80", 5, "\x80\x80\x80\x80\x80", "\x80\x80\x80\x80\x80", "\x80\x80\x80\x80…"},
		{"\x80\x80\x80", 2, "\x80\x80", "\x80\x80", "\x80…"},
	} {
		if got := clip.Bytes(tt.s, tt.n); got != tt.bytes {
			t.Errorf("Bytes(%q, %d) = %q, want %q", tt.s, tt.n, got, tt.bytes)
		}
		if got := clip.Bytes([]byte(tt.s), tt.n); string(got) != tt.bytes {
			t.Errorf("Bytes([]byte(%q), %d) = %q, want %q", tt.s, tt.n, got, tt.bytes)
		}
		if got := clip.Runes(tt.s, tt.n); got != tt.runes {
			t.Errorf("Runes(%q, %d) = %q, want %q", tt.s, tt.n, got, tt.runes)
		}
		if got := clip.Ellipsis(tt.s, tt.n); got != tt.ellipsis {
			t.Errorf("Ellipsis(%q, %d) = %q, want %q", tt.s, tt.n, got, tt.ellipsis)
		}
	}
}

func TestOneLine(t *testing.T) {
	for s, want := range map[string]string{
		"":                             "",
		"as it is":                     "as it is",
		" two  spaces\tand\r\na line ": "two spaces and a line",
		"no\u00a0break\u2028line":      "no break line",
		"\x1b[31mred\x1b[0m\x07\u0085": "[31mred[0m",
		"\ufefftop\u202egnp.\u202c":    "topgnp.",
		"\u2067right\u2069 left":       "right left",
		"a\U000E0041\U000E0042b":       "ab",
		"a\ue000b\uffffc\xffd\ufffde":  "abcde",
		"👩\u200d💻 and ن\u200cم":        "👩\u200d💻 and ن\u200cم",
		"  ":                           "",
		"größe":                        "größe",
	} {
		if got := clip.OneLine(s); got != want {
			t.Errorf("OneLine(%q) = %q, want %q", s, got, want)
		}
	}
}

func TestLinesAreCutAsTheyAreShown(t *testing.T) {
	if got := clip.Line("  one \n two\x00 three ", 8); got != "one two…" {
		t.Errorf("Line: %q", got)
	}
	for s, want := range map[string]string{
		"": "", "\n\n": "", "one": "one", "one\r\ntwo\r\n\n": "two", "one\ntwo three four": "two thr…",
	} {
		if got := clip.LastLine(s, 8); got != want {
			t.Errorf("LastLine(%q) = %q, want %q", s, got, want)
		}
	}
}

func TestIncomplete(t *testing.T) {
	for s, want := range map[string]int{
		"": 0, "abc": 0, "ö": 0, "a\xc3": 1, "a\xe6\x97": 2, "\xf0\x9f\x98": 3, "😀": 0, "\x80": 0, "a\xff": 0, "\x80\x80\x80\x80": 0,
	} {
		if got := clip.Incomplete([]byte(s)); got != want {
			t.Errorf("Incomplete(%q) = %d, want %d", s, got, want)
		}
	}
}

func FuzzClip(f *testing.F) {
	f.Add("größe 日本語 😀", 7)
	f.Add("\x80\xf0\x9f\x98a", 3)
	f.Fuzz(func(t *testing.T, s string, n int) {
		n = max(min(n, len(s)+2), 1)
		b, r, e, l := clip.Bytes(s, n), clip.Runes(s, n), clip.Ellipsis(s, n), clip.Line(s, n)
		if !strings.HasPrefix(s, b) || len(b) > n || len(b) < min(len(s), n)-3 {
			t.Errorf("Bytes(%q, %d) = %q", s, n, b)
		}
		if !strings.HasPrefix(s, r) || utf8.RuneCountInString(r) != min(n, utf8.RuneCountInString(s)) {
			t.Errorf("Runes(%q, %d) = %q", s, n, r)
		}
		if utf8.RuneCountInString(e) > n || utf8.ValidString(s) && (!utf8.ValidString(b) || !utf8.ValidString(e)) {
			t.Errorf("of %q: Bytes %q, Ellipsis %q", s, b, e)
		}
		if !utf8.ValidString(l) || utf8.RuneCountInString(l) > n || strings.ContainsAny(l, "\n\r\t") || clip.OneLine(l) != l {
			t.Errorf("Line(%q, %d) = %q", s, n, l)
		}
		if k := clip.Incomplete([]byte(s)); utf8.ValidString(s) && k != 0 {
			t.Errorf("Incomplete(%q) = %d", s, k)
		}
	})
}
