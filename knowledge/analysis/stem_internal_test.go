package analysis

import "testing"

// Forms of one word are one term. Words of a pair are not.
func TestWordsAreStemmedByTheirScript(t *testing.T) {
	for _, forms := range [][]string{
		{"соединение", "соединения", "соединением", "соединениями", "соедине\u0301ние"},
		{"ошибка", "ошибки", "ошибкой", "ошибками"},
		{"новый", "новая", "новые", "новых"},
		{"서버", "서버를", "서버는", "서버에서", "서버에서는", "서버로", "서버의", "서버가"},
		{"고양이", "고양이가", "고양이를", "고양이는"},
		{"파일", "파일을", "파일로", "파일이", "파일에는"},
		{"كتاب", "الكتاب", "والكتاب", "بالكتاب", "كِتَاب", "كتـــاب"},
		{"مكتبة", "المكتبة", "مكتبات", "المكتبه"},
		{"مبرمج", "المبرمجون", "مبرمجين"},
		{"cats", "cat"},
		{"café", "cafe"},
	} {
		for _, form := range forms {
			if got, want := Stem(form), Stem(forms[0]); got != want {
				t.Errorf("Stem(%q) = %q, want %q as of %q", form, got, want, forms[0])
			}
		}
	}
	for _, pair := range [][2]string{
		{"соединение", "ошибка"}, {"서버", "파일"}, {"كتاب", "مبرمج"}, {"바다", "바로"}, {"도로", "도구"}, {"어이", "어가"},
	} {
		if Stem(pair[0]) == Stem(pair[1]) {
			t.Errorf("Stem(%q) = Stem(%q) = %q", pair[0], pair[1], Stem(pair[0]))
		}
	}
	for _, word := range []string{"кот2", "서버api", "ὕδωρ", "पानी", "straße", "и", "로", "ال"} {
		if got := stemByScript(word); got != word {
			t.Errorf("%q became %q", word, got)
		}
	}
}

func FuzzStem(f *testing.F) {
	f.Add("соединения")
	f.Add("서버에서는")
	f.Add("والمكتبات")
	f.Fuzz(func(t *testing.T, word string) {
		if word != "" && len(word) > 0 && Stem(word) == "" && withoutAccents(word) != "" {
			t.Errorf("Stem(%q) is empty", word)
		}
	})
}
