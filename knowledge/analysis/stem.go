package analysis

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kljensen/snowball/english"
	"golang.org/x/text/unicode/norm"
)

// Stem returns the term a surface form is indexed under: without accents and, when it is a word in letters, without the
// ending that its script lets one know: an English one of a word in Latin letters, a Russian one of a word in Cyrillic,
// the particles of a Korean word, and article, conjunction and ending of an Arabic one.
func Stem(surface string) string {
	word := surface
	letters := true
	for i := 0; i < len(word); i++ {
		if word[i] >= utf8.RuneSelf {
			word = withoutAccents(stemByScript(word))
			break
		}
	}
	for i := 0; i < len(word); i++ {
		if c := word[i]; c < 'a' || c > 'z' {
			letters = false
			break
		}
	}
	if !letters || len(word) < 3 {
		return word
	}
	return english.Stem(word, false)
}

// withoutAccents returns a word without accents, to be stemmed: the combining marks before U+0900 go, as those of
// Latin, Greek, Cyrillic, Hebrew and Arabic letters. Those of later blocks stay: in the scripts of India they are
// letters.
func withoutAccents(s string) string {
	var b strings.Builder
	for _, r := range norm.NFD.String(s) {
		if !unicode.Is(unicode.Mn, r) || r >= 0x0900 { // marks of other scripts are letters
			b.WriteRune(r)
		}
	}
	return norm.NFC.String(b.String())
}

// stemByScript returns a word without what its script shows to be an ending. Words of other scripts, and those with
// letters of several, stay as they are.
func stemByScript(word string) string {
	first, _ := utf8.DecodeRuneInString(word)
	script, stem := unicode.Cyrillic, lightRussian
	switch {
	case unicode.Is(unicode.Hangul, first):
		script, stem = unicode.Hangul, withoutParticles
	case unicode.Is(unicode.Arabic, first):
		script, stem = unicode.Arabic, lightArabic
	}
	for _, r := range word {
		if !unicode.Is(script, r) && !unicode.Is(unicode.Mn, r) && r != tatweel {
			return word
		}
	}
	return stem(word)
}

// tatweel widens an Arabic word.
const tatweel = 'ـ'

// lightRussian stems: it returns a Russian word without the endings of its cases, after the light stemmer of Dolamic
// and Savoy. At least three letters are left.
func lightRussian(word string) string {
	word = strings.ReplaceAll(strings.ReplaceAll(word, "\u0301", ""), "ё", "е") // a stress mark, for learners
	letters := utf8.RuneCountInString(word)
	for n := 4; n > 0 && letters > 3; n-- {
		if cut := len(word) - n*len("а"); letters > n+2 && strings.Contains(russianEndings, " "+word[cut:]+" ") {
			word, letters = word[:cut], letters-n
			break
		}
	}
	if letters > 3 && (strings.HasSuffix(word, "ь") || strings.HasSuffix(word, "и") || strings.HasSuffix(word, "нн")) {
		word = word[:len(word)-len("ь")]
	}
	return word
}

const russianEndings = " иями оями иям иях оях ями оям оьв ами его ему ери ими ого ому ыми оев ая яя ях юю ах ею их " +
	"ия ию ьв ою ую ям ых ея ам ем ей ев ий им ое ой ом ов ые ый ым ми а е и о у й ы я ь "

// A particle of Korean follows a noun without a space.
type particle struct {
	text   string
	closed int // 1: only after a syllable that ends in a consonant; -1: only after one that does not; 0: after both
}

// particles are the common ones, the longer first: those of case and topic, and those that stand for prepositions.
var particles = [...]particle{
	{"에서는", 0},
	{"에서도", 0},
	{"으로는", 1},
	{"으로도", 1},
	{"에게서", 0},
	{"이라는", 1},
	{"에서", 0},
	{"에게", 0},
	{"으로", 1},
	{"까지", 0},
	{"부터", 0},
	{"보다", 0},
	{"처럼", 0},
	{"에는", 0},
	{"에도", 0},
	{"로는", -1},
	{"로도", -1},
	{"라는", -1},
	{"이나", 1},
	{"이란", 1},
	{"만의", 0},
	{"은", 1},
	{"는", -1},
	{"이", 1},
	{"가", -1},
	{"을", 1},
	{"를", -1},
	{"과", 1},
	{"와", -1},
	{"로", -1},
	{"의", 0},
	{"에", 0},
	{"도", 0},
	{"만", 0},
}

// withoutParticles stems: it returns a Korean word without the particles at its end, as long as two syllables are left.
// A noun that ends as a particle does loses that, too, with and without further particles: it stays one term.
func withoutParticles(word string) string {
	for again := true; again; {
		again = false
		for _, p := range particles {
			rest, has := strings.CutSuffix(word, p.text)
			if !has || utf8.RuneCountInString(rest) < 2 {
				continue
			}
			last, _ := utf8.DecodeLastRuneInString(rest)
			if p.closed != 0 && isClosed(last, p.text[0:len("로")] == "로") != (p.closed > 0) {
				continue
			}
			word, again = rest, true
			break
		}
	}
	return word
}

// isClosed reports, to stem Korean words, whether a syllable ends in a consonant; with open, one that ends in ㄹ does
// not count as closed.
func isClosed(syllable rune, open bool) bool {
	const first, last, finals, rieul = 0xAC00, 0xD7A3, 28, 8
	if syllable < first || syllable > last {
		return false
	}
	final := (syllable - first) % finals
	return final != 0 && (!open || final != rieul)
}

// lightArabic stems: it returns an Arabic word without article, conjunction and the commonest endings, after the light
// stemmer of Larkey, Ballesteros and Connell (light10), with its letters in one form.
func lightArabic(word string) string {
	word = arabicForms.Replace(strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, word))
	letters := utf8.RuneCountInString(word)
	if rest, has := strings.CutPrefix(word, "و"); has && letters > 3 {
		word, letters = rest, letters-1
	}
	for _, article := range [...]string{"بال", "كال", "فال", "ال", "لل"} {
		n := utf8.RuneCountInString(article)
		if rest, has := strings.CutPrefix(word, article); has && letters-n >= 2 {
			word, letters = rest, letters-n
			break
		}
	}
	for _, ending := range [...]string{"ها", "ان", "ات", "ون", "ين", "يه", "ه", "ي"} {
		n := utf8.RuneCountInString(ending)
		if rest, has := strings.CutSuffix(word, ending); has && letters-n >= 2 {
			word, letters = rest, letters-n
		}
	}
	return word
}

// arabicForms gives letters that are written in several ways one form.
var arabicForms = strings.NewReplacer("أ", "ا", "إ", "ا", "آ", "ا", "ٱ", "ا", "ى", "ي", "ة", "ه",
	string(tatweel), "")
