package convert_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/readthru/readthru/convert"
)

func TestCharset(t *testing.T) {
	for _, tt := range []struct {
		name, content, contentType, want string
		guessed                          bool
	}{
		{"utf-8 without a word", "<p>grün", "text/html", "grün", false},
		{"from Content-Type", "<p>gr\xfcn", "text/html; charset=ISO-8859-1", "grün", false},
		{"Content-Type beats meta", "<meta charset=utf-8><p>gr\xfcn", "text/html; charset=latin1", "grün", false},
		{"BOM beats Content-Type", "\xef\xbb\xbf<p>grün", "text/html; charset=latin1", "grün", false},
		{"UTF-16 by BOM", "\xff\xfe<\x00p\x00>\x00x\x00\xfc\x00", "text/html", "xü", false},
		{"from meta", "<meta charset='koi8-r'><p>\xd0\xd2\xc9\xd7\xc5\xd4", "text/html", "привет", false},
		{"from meta http-equiv", `<meta http-equiv="Content-Type" content="text/html; charset=shift_jis"><p>` +
			"\x93\xfa\x96\x7b", "text/html", "日本", false},
		{
			"meta after a long comment", "<!--" + strings.Repeat("x", 1500) + "--><meta charset=gbk><p>\xc4\xe3", "text/html",
			"你", false,
		},
		{"nothing said, bytes not utf-8", "<p>gr\xfcn", "text/html", "grün", true},
		{"utf-8 said and not meant", "<p>gr\xfcn", "text/html; charset=utf-8", "grün", true},
		{"utf-8 with one bad byte", "<p>" + strings.Repeat("grün ", 20) + "\xff", "text/html; charset=utf-8", "grün", true},
		{
			"false Content-Type over UTF-8", "<p>grün, weiß und größer als schön", "text/html; charset=iso-8859-1",
			"größer als schön", false,
		},
		{"false meta over UTF-8", "<meta charset=windows-1251><p>Это страница", "text/html", "Это страница", false},
		{"two characters of GBK that look like UTF-8", "<p>\xc1\xaa\xcd\xa8", "text/html; charset=gbk", "联通", false},
		{
			"Cyrillic, and nothing said", "<p>\xdd\xf2\xee \xf0\xf3\xf1\xf1\xea\xe0\xff \xf1\xf2\xf0\xe0\xed\xe8\xf6\xe0",
			"text/html", "Это русская страница", true,
		},
		{
			"Cyrillic said to be Latin", "<p>\xdd\xf2\xee \xf0\xf3\xf1\xf1\xea\xe0\xff \xf1\xf2\xf0\xe0\xed\xe8\xf6\xe0 \xee " +
				"\xef\xee\xe3\xee\xe4\xe5", "text/html; charset=iso-8859-1", "Это русская страница о погоде", true,
		},
		{"Latin said to be Latin", "<p>" + strings.Repeat("gr\xfcn \xe4 ", 30), "text/html; charset=latin1", "grün ä", false},
		{
			"the page's language decides", "<html lang=sl><p>\x8ae \xe8", "text/html", "Še č", true,
		},
		{"ISO-2022-JP, and nothing said", "<p>\x1b$BF|K\\\x1b(B", "text/html", "日本", true},
		{"unknown charset", "<p>grün", "text/html; charset=nonsense", "grün", false},
		{"nonsense in Content-Type", "<p>grün", "text/html; charset", "grün", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			doc, err := convert.Parse(t.Context(), []byte(tt.content), tt.contentType, pageURL)
			if err != nil {
				t.Fatal(err)
			}
			res, err := doc.Convert(t.Context(), convert.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(res.Markdown, tt.want) {
				t.Errorf("markdown %q lacks %q", res.Markdown, tt.want)
			}
			if got := slices.Contains(res.Warnings, convert.WarnCharset); got != tt.guessed {
				t.Errorf("warnings %q, guessed should be %v", res.Warnings, tt.guessed)
			}
		})
	}
}

func TestTextOfAnyEncodingIsUTF8(t *testing.T) {
	for name, tt := range map[string]struct{ content, want string }{
		"UTF-8":                     {"Grüße", "Grüße"},
		"UTF-8 with a mark":         {"\xef\xbb\xbfGrüße", "Grüße"},
		"Latin-1":                   {"Gr\xfc\xdfe aus K\xf6ln", "Grüße aus Köln"},
		"little-endian with a mark": {"\xff\xfeG\x00\xfc\x00", "Gü"},
		"big-endian with a mark":    {"\xfe\xff\x00G\x00\xfc", "Gü"},
		"little-endian":             {"G\x00r\x00\xfc\x00n\x00", "Grün"},
		"big-endian":                {"\x00G\x00r\x00\xfc\x00n", "Grün"},
		"another alphabet":          {"\xff\xfe\x14\x04\x30\x04", "Да"},
		"binary":                    {"\x89PNG\x00\x01\x00\x00", "\x89PNG\x00\x01\x00\x00"},
		"nothing":                   {"", ""},
	} {
		if got := string(convert.UTF8([]byte(tt.content))); got != tt.want {
			t.Errorf("%s: UTF8(%q) = %q, want %q", name, tt.content, got, tt.want)
		}
	}
}
