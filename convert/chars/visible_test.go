package chars_test

import (
	"bytes"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/readthru/readthru/convert/chars"
)

func TestVisibleRemovesInvisibleCharacters(t *testing.T) {
	for _, tt := range []struct {
		name, text, clean string
		smuggled          bool
	}{
		{"plain text is left alone", "a b\n", "a b\n", false},
		{"soft hyphens and zero-width spaces go", "co\u00adop\u200berate", "cooperate", false},
		{"a joiner between emoji stays", "👩\u200d💻", "👩\u200d💻", false},
		{"a joiner between Latin letters goes", "a\u200db", "ab", false},
		{"an emoji keeps its variation selector", "❤\ufe0f", "❤\ufe0f", false},
		{"tag characters are smuggled text", "x\U000e0068\U000e0069", "x", true},
		{"a flag that tags spell stays", scotland, scotland, false},
		{"tags after a flag that spell anything else go", "🏴\U000e0068\U000e0069\U000e007f", "🏴", true},
		{"a bidirectional override is smuggled text", "a\u202eb", "ab", true},
		{"a run of variation selectors is smuggled text", "x\ufe01\ufe02", "x", true},
		{"a colour of a terminal goes whole", "\x1b[1;31mred\x1b[0m", "red", false},
		{"a title of a window goes whole", "a\x1b]0;HIDE\ab\x1b]2;HIDE\x1b\\c", "abc", false},
		{
			"a sequence without an end takes nothing visible", "\x1b[1;31\nkeep \x1b]0;keep\nkeep", "[1;31\nkeep ]0;keep\nkeep",
			false,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if clean, smuggled := chars.Visible(tt.text); clean != tt.clean || smuggled != tt.smuggled {
				t.Errorf("Visible(%+q) = %+q, %v, want %+q, %v", tt.text, clean, smuggled, tt.clean, tt.smuggled)
			}
		})
	}
}

const scotland = "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f"

func TestEveryInvisibleCharacterIsFound(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if got := chars.IndexInvisible([]byte(string(r))) == 0; got != chars.Invisible(r) {
			t.Errorf("IndexInvisible finds %+q: %t, want %t", r, got, !got)
		}
	}
}

// FuzzIndexInvisible compares the scan by words with the one by characters, and holds that a text without invisible
// characters stays as it is.
func FuzzIndexInvisible(f *testing.F) {
	for _, s := range []string{
		"", "plain\r\n\ttext\f", "é ü 日本語 – “quoted” カナ", "1234567\x1b", "12345678\x7f9", "1234567\u00ad", "\u200b\ufeff",
		scotland, "a\xe2\x80", "\xf3\xa0\x81", "\xff\x9b", "\u3164\uffa0\u115f", "👩\u200d💻",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		want := strings.IndexFunc(s, chars.Invisible)
		if got := chars.IndexInvisible([]byte(s)); got != want {
			t.Fatalf("IndexInvisible(%+q) = %d, want %d", s, got, want)
		}
		clean, _ := chars.AppendVisible(nil, []byte(s))
		if len(clean) > len(s) || want < 0 && utf8.ValidString(s) && string(clean) != s {
			t.Fatalf("AppendVisible(%+q) = %+q", s, clean)
		}
		if again, _ := chars.AppendVisible(nil, clean); !bytes.Equal(again, clean) {
			t.Fatalf("AppendVisible(%+q) leaves %+q, of which more goes", s, clean)
		}
	})
}

func BenchmarkIndexInvisible(b *testing.B) {
	for name, text := range map[string]string{
		"English":  strings.Repeat("A line of prose, of about the usual length: it ends here.\n", 4000),
		"Russian":  strings.Repeat("Строка текста обычной длины, которая кончается здесь.\n", 4000),
		"Japanese": strings.Repeat("これは普通の長さの文章です。ここで終わります。\n", 4000),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if chars.IndexInvisible([]byte(text)) >= 0 {
					b.Fatal("found something")
				}
			}
		})
	}
}
