package charset

import (
	"math"
	"sync"
	"unicode"
	"unicode/utf8"

	htmlcharset "golang.org/x/net/html/charset"
)

// manyBytes is an encoding of characters of several bytes, and a language that is written in it. Bytes of such an
// encoding have no meaning one by one, so that the text is decoded for its cost.
type manyBytes struct {
	name, language string
	frequent       map[rune]float64 // what its most frequent characters cost, in bits
	rest           float64          // what others of its script cost
	script         *unicode.RangeTable
}

// multibyte are the encodings of Chinese, Japanese and Korean.
var multibyte = sync.OnceValue(func() []manyBytes {
	japanese := ranked(ideographs["ja"], 2)
	return []manyBytes{
		{"gb18030", "zh", ranked(ideographs["zh-hans"], .4), 13, unicode.Han},
		{"big5", "zh", ranked(ideographs["zh-hant"], .4), 13, unicode.Han},
		{"shift_jis", "ja", japanese, 14.5, unicode.Han},
		{"euc-jp", "ja", japanese, 14.5, unicode.Han},
		{"euc-kr", "ko", ranked(ideographs["ko"], .2), 13, unicode.Hangul},
	}
})

// ranked returns what the characters of a multibyte encoding cost that are ordered by frequency: the n-th is about as
// frequent as 1/(n+10), and rare is the cost of being such a character at all. That is Zipf's law with an offset.
func ranked(list string, rare float64) map[rune]float64 {
	costs, rank := map[rune]float64{}, 0
	for _, r := range list {
		costs[r] = rare + math.Log2(float64(rank+10)*math.Log(31))
		rank++
	}
	return costs
}

// costOf returns what a text costs in this encoding. Its runs are the parts with bytes beyond ASCII. It is infinite for
// bytes that cannot be decoded at all.
func (m *manyBytes) costOf(runs []byte) (bits float64) {
	e, _ := htmlcharset.Lookup(m.name)
	text, err := e.NewDecoder().Bytes(runs)
	if err != nil {
		return math.Inf(1)
	}
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		text = text[size:]
		if r >= utf8.RuneSelf {
			bits += m.character(r)
		}
	}
	return bits
}

// character returns what a character costs in the encoding's language, in bits: by its rank, else by its kind.
func (m *manyBytes) character(r rune) float64 {
	if bits, ok := m.frequent[r]; ok {
		return bits
	}
	switch {
	case r == utf8.RuneError:
		return 2 * costControl
	case r == '、', r == '。', r == '，', r == '：', r == '\u3000', r == '（', r == '）', r == '「', r == '」', r == '・', r == 'ー':
		return 6
	case unicode.Is(unicode.Hiragana, r):
		if m.language == "ja" {
			return 7
		}
		return 20
	case unicode.Is(unicode.Katakana, r):
		if m.language != "ja" {
			return 20
		}
		if r >= 0xff61 && r <= 0xff9f { // of one byte, which any byte may be
			return 13
		}
		return 8.5
	case unicode.Is(m.script, r):
		return m.rest
	case unicode.Is(unicode.Han, r):
		return 17 // in Korean
	case r >= 0xe000 && r <= 0xf8ff: // for private use
		return 2 * costControl
	case r >= 0xff00 && r < 0xff61, r >= 0x2000 && r < 0x2700, r >= 0x3000 && r < 0x3040:
		return 11
	}
	return 18
}

// highRuns returns the parts of a text in a multibyte encoding that have bytes beyond ASCII, each with the ASCII byte
// behind it, which may be the second one of a character, and a space between them. It ends after 64 KiB.
func highRuns(content []byte) []byte {
	const most = 64 << 10
	var runs []byte
	for i := 0; i < len(content) && len(runs) < most; i++ {
		if content[i] < utf8.RuneSelf {
			continue
		}
		for i < len(content) && content[i] >= utf8.RuneSelf || i > 0 && i < len(content) && content[i-1] >= utf8.RuneSelf &&
			content[i] > ' ' && content[i] != '<' {
			runs = append(runs, content[i])
			i++
		}
		runs = append(runs, ' ')
	}
	return runs
}
