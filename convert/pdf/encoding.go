package pdf

import (
	"strconv"
	"strings"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/unicode/norm"
)

// encoding is the text of each code of a simple font, "" for a code without one. A code may stand for several
// characters, as a ligature does.
type encoding [256]string

// The encodings that fonts name (§D.2). Symbol and ZapfDingbats have encodings of their own.
var (
	winAnsi = func() (e encoding) {
		for c := 32; c < 256; c++ {
			e[c] = string(charmap.Windows1252.DecodeByte(byte(c)))
		}
		for _, c := range []int{127, 129, 141, 143, 144, 157} {
			e[c] = "•"
		}
		e[173] = "-"
		return e
	}()
	macRoman = func() (e encoding) {
		for c := 32; c < 256; c++ {
			e[c] = string(charmap.Macintosh.DecodeByte(byte(c)))
		}
		return e
	}()
	standard = func() (e encoding) {
		for c := 32; c < 127; c++ {
			e[c] = string(rune(c))
		}
		e['\''], e['`'] = "’", "‘"
		e.set(0xa1, "¡¢£⁄¥ƒ§¤'“«‹›ﬁﬂ")
		e.set(0xb1, "–†‡·")
		e.set(0xb6, "¶•‚„”»…‰")
		e[0xbf] = "¿"
		e.set(0xc1, "`´ˆ˜¯˘˙¨")
		e.set(0xca, "˚¸")
		e.set(0xcd, "˝˛ˇ—")
		e[0xe1], e[0xe3], e[0xf1] = "Æ", "ª", "æ"
		e.set(0xe8, "ŁØŒº")
		e[0xf5] = "ı"
		e.set(0xf8, "łøœß")
		return e
	}()
	// texText is the encoding of most text fonts of TeX, without what few of them have. Those made of pictures (Type 3)
	// name their glyphs by code alone: a65.
	texText = func() (e encoding) {
		e.set(0x0b, "ﬀﬁﬂﬃﬄ")
		for c := 33; c < 127; c++ {
			e[c] = string(rune(c))
		}
		e['\''], e['`'], e['"'] = "’", "‘", "”"
		e['\\'], e[0x7b], e[0x7c] = "“", "–", "—"
		return e
	}()
	symbol = func() (e encoding) {
		e.set(0x20, " !∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼")
		e.set(0xa0, "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊⟨®©™∑⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪")
		e.set(0xf1, "⟩∫⌠⎮⌡⎞⎟⎠⎤⎥⎦⎫⎬⎭")
		return e
	}()
)

// set gives the codes from from on the characters of text, one each.
func (e *encoding) set(from int, text string) {
	for _, r := range text {
		e[from] = string(r)
		from++
	}
}

// glyphNames are the texts of glyph names that no rule of glyphText gives (Adobe Glyph List; TeX's names of
// mathematical signs).
var glyphNames = pairs(`space=  nbspace=  exclam=! quotedbl=" numbersign=# dollar=$ percent=% ampersand=& quotesingle=' quoteright=’ quoteleft=‘
parenleft=( parenright=) asterisk=* plus=+ comma=, hyphen=- minus=− period=. slash=/ zero=0 one=1 two=2 three=3 four=4 five=5 six=6 seven=7 eight=8 nine=9 colon=:
semicolon=; less=< equal== greater=> question=? at=@ bracketleft=[ backslash=\ bracketright=] asciicircum=^ underscore=_ grave=` + "`" + ` braceleft={ bar=| braceright=}
asciitilde=~ exclamdown=¡ cent=¢ sterling=£ currency=¤ yen=¥ brokenbar=¦ section=§ dieresis=¨ copyright=© ordfeminine=ª guillemotleft=« logicalnot=¬ sfthyphen=- registered=®
macron=¯ degree=° plusminus=± twosuperior=² threesuperior=³ acute=´ mu=μ paragraph=¶ periodcentered=· middot=· cedilla=¸ onesuperior=¹ ordmasculine=º guillemotright=»
onequarter=¼ onehalf=½ threequarters=¾ questiondown=¿ AE=Æ ae=æ Eth=Ð eth=ð multiply=× divide=÷ Oslash=Ø oslash=ø Thorn=Þ thorn=þ germandbls=ß dotlessi=ı dotlessj=ȷ
Dcroat=Đ dcroat=đ Hbar=Ħ hbar=ħ IJ=IJ ij=ij kgreenlandic=ĸ Lslash=Ł lslash=ł Ldot=Ŀ ldot=ŀ Eng=Ŋ eng=ŋ napostrophe=ŉ OE=Œ oe=œ Tbar=Ŧ tbar=ŧ longs=ſ florin=ƒ
circumflex=ˆ caron=ˇ breve=˘ dotaccent=˙ ring=˚ ogonek=˛ tilde=˜ hungarumlaut=˝ endash=– emdash=— quotesinglbase=‚ quotedblleft=“ quotedblright=” quotedblbase=„
dagger=† daggerdbl=‡ bullet=• ellipsis=… perthousand=‰ guilsinglleft=‹ guilsinglright=› fraction=⁄ Euro=€ euro=€ trademark=™ fi=fi fl=fl ff=ff ffi=ffi ffl=ffl
Alpha=Α Beta=Β Gamma=Γ Delta=Δ Epsilon=Ε Zeta=Ζ Eta=Η Theta=Θ Iota=Ι Kappa=Κ Lambda=Λ Mu=Μ Nu=Ν Xi=Ξ Omicron=Ο Pi=Π Rho=Ρ Sigma=Σ Tau=Τ Upsilon=Υ Phi=Φ Chi=Χ Psi=Ψ Omega=Ω
alpha=α beta=β gamma=γ delta=δ epsilon=ε epsilon1=ϵ epsiloninv=ε zeta=ζ eta=η theta=θ theta1=ϑ iota=ι kappa=κ lambda=λ nu=ν xi=ξ omicron=ο pi=π pi1=ϖ rho=ρ rho1=ϱ sigma=σ sigma1=ς tau=τ
upsilon=υ phi=φ phi1=ϕ chi=χ psi=ψ omega=ω omega1=ϖ Ohm=Ω increment=∆ arrowleft=← arrowup=↑ arrowright=→ arrowdown=↓ arrowboth=↔ arrowupdn=↕ arrowdblleft=⇐ arrowdblright=⇒
arrowdblboth=⇔ arrowdblup=⇑ arrowdbldown=⇓ arrowsoutheast=↘ arrownortheast=↗ arrowsouthwest=↙ arrownorthwest=↖ mapsto=↦ forall=∀ universal=∀ partialdiff=∂ existential=∃ emptyset=∅
gradient=∇ nabla=∇ element=∈ notelement=∉ suchthat=∋ owner=∋ product=∏ summation=∑ asteriskmath=∗ radical=√ proportional=∝ infinity=∞ angle=∠ logicaland=∧ logicalor=∨ intersection=∩
union=∪ integral=∫ therefore=∴ similar=∼ congruent=≅ approxequal=≈ notequal=≠ equivalence=≡ lessequal=≤ greaterequal=≥ propersubset=⊂ propersuperset=⊃ notsubset=⊄ reflexsubset=⊆
reflexsuperset=⊇ circleplus=⊕ circlemultiply=⊗ perpendicular=⊥ lozenge=◊ dotmath=⋅ minusplus=∓ openbullet=◦ bulletmath=• diamondmath=⋄ asymptequal=≍ precedes=≺ follows=≻ precedesequal=⪯
followsequal=⪰ lessmuch=≪ greatermuch=≫ similarequal=≃ subsetsqequal=⊑ supersetsqequal=⊒ prime=′ minute=′ second=″ aleph=ℵ weierstrass=℘ Ifractur=ℑ Rfractur=ℜ latticetop=⊤ turnstileleft=⊢
turnstileright=⊣ floorleft=⌊ floorright=⌋ ceilingleft=⌈ ceilingright=⌉ angbracketleft=⟨ angbracketright=⟩ bardbl=∥ backslashbig=\ star=⋆ club=♣ diamond=♦ heart=♥ spade=♠ flat=♭ natural=♮
sharp=♯ check=✓ checkmark=✓ square=□ blacksquare=■ H22073=□ H18543=▪ H18533=■ H18551=▫ filledbox=■ triangle=△ triangleright=▷ triangleleft=◁ triaguprt=▲ triagrt=► triagdn=▼ triaglf=◄ circle=○ H18533a=■
summationtext=∑ summationdisplay=∑ producttext=∏ productdisplay=∏ integraltext=∫ integraldisplay=∫ uniontext=⋃ intersectiontext=⋂ logicalandtext=⋀ logicalortext=⋁ parenleftbig=( parenrightbig=)
parenleftBig=( parenrightBig=) parenleftbigg=( parenrightbigg=) bracketleftbig=[ bracketrightbig=] bracketleftBig=[ bracketrightBig=] braceleftbig={ bracerightbig=} braceleftBig={ bracerightBig=}
radicalbig=√ radicalBig=√ radicalbigg=√ radicalBigg=√ visiblespace=␣ visualspace=␣ compwordmark= tie= slurabove=⌢ slurbelow=⌣ arrowhookleft=↩ arrowhookright=↪ ell=ℓ lscript=ℓ vector=⃗ estimated=℮ numero=№ nonbreakingspace=  onedotenleader=․ figuredash=‒ horizontalbar=―
afii10050=Ґ afii10051=Ђ afii10052=Ѓ afii10053=Є afii10054=Ѕ afii10055=І afii10056=Ї afii10057=Ј afii10058=Љ
afii10059=Њ afii10060=Ћ afii10061=Ќ afii10062=Ў afii10145=Џ afii10098=ґ afii10099=ђ afii10100=ѓ afii10101=є afii10102=ѕ
afii10103=і afii10104=ї afii10105=ј afii10106=љ afii10107=њ afii10108=ћ afii10109=ќ afii10110=ў afii10193=џ
a1=✁ a20=✔ a19=✓ a21=✕ a73=■ a71=● a76=▲ a77=▼ a78=◆ a81=◗ a35=★`)

// pairs reads a table of an encoding, names and texts, "name=text" between spaces. Names of spaces are set afterwards,
// since a space ends a pair.
func pairs(list string) map[string]string {
	m := map[string]string{}
	for field := range strings.FieldsFuncSeq(list, func(r rune) bool { return r == ' ' || r == '\n' }) {
		if key, value, ok := strings.Cut(field, "="); ok {
			m[key] = value
		}
	}
	for _, key := range []string{"space", "nbspace", "nonbreakingspace"} {
		m[key] = " "
	}
	return m
}

// accents are the combining characters that glyph names of letters end with.
var accents = map[string]rune{
	"grave": 0x300, "acute": 0x301, "circumflex": 0x302, "tilde": 0x303, "macron": 0x304, "breve": 0x306,
	"dotaccent": 0x307, "dot": 0x307, "dieresis": 0x308, "ring": 0x30a,
	"hungarumlaut": 0x30b, "caron": 0x30c, "cedilla": 0x327, "commaaccent": 0x327, "ogonek": 0x328, "dotbelow": 0x323,
	"hook": 0x309, "horn": 0x31b,
}

// glyphText returns the text that an encoding has for a glyph by its name; "" for a name without a meaning. Names
// follow the Adobe Glyph List's rules: what follows a dot names a variant, an underscore joins the parts of a ligature,
// and the letters uni or u stand before the hexadecimal digits of code points. Beyond them, a letter with the name of
// an accent is that letter with it.
func glyphText(n string) string {
	if text, ok := glyphNames[n]; ok {
		return text
	}
	if len(n) == 1 {
		return n
	}
	if i := strings.IndexByte(n, '.'); i > 0 { // small capitals and other dress
		return glyphText(n[:i])
	}
	if strings.Contains(n, "_") { // a ligature
		var b strings.Builder
		for part := range strings.SplitSeq(n, "_") {
			if part != "" && len(n) < 60 {
				b.WriteString(glyphText(part))
			}
		}
		return b.String()
	}
	if hex, ok := strings.CutPrefix(n, "uni"); ok && len(hex) >= 4 && len(hex)%4 == 0 && len(hex) <= 32 {
		var b strings.Builder
		for ; len(hex) >= 4; hex = hex[4:] {
			v, err := strconv.ParseUint(hex[:4], 16, 16)
			if err != nil {
				return ""
			}
			b.WriteRune(rune(v))
		}
		return b.String()
	}
	if hex, ok := strings.CutPrefix(n, "u"); ok && len(hex) >= 4 && len(hex) <= 6 {
		if v, err := strconv.ParseUint(hex, 16, 21); err == nil {
			return string(rune(v)) //nolint:gosec // 21 bits
		}
	}
	if digits, ok := strings.CutPrefix(n, "afii"); ok {
		if v, err := strconv.Atoi(digits); err == nil {
			return cyrillic(v)
		}
	}
	if n[0] < 0x80 && len(n) > 3 {
		if mark, ok := accents[n[1:]]; ok {
			return norm.NFC.String(n[:1] + string(mark))
		}
	}
	return ""
}

// cyrillic returns the letter that an encoding has for a glyph name afiiNNNNN, by its number. The numbers are those of
// the Adobe Glyph List, in the order of the Russian alphabet with Ё in its place; glyphNames has the other letters.
func cyrillic(v int) string {
	switch {
	case v >= 10017 && v <= 10022:
		return string(rune('А' + v - 10017))
	case v == 10023:
		return "Ё"
	case v >= 10024 && v <= 10049:
		return string(rune('Ж' + v - 10024))
	case v >= 10065 && v <= 10070:
		return string(rune('а' + v - 10065))
	case v == 10071:
		return "ё"
	case v >= 10072 && v <= 10097:
		return string(rune('ж' + v - 10072))
	case v == 61352:
		return "№"
	}
	return ""
}

// The widths of the standard fonts, for codes 32 to 126, in thousandths of the size. Files need not bring them for the
// fonts that every viewer has (§9.6.2.2). Those of bold and oblique fonts differ little.
var (
	helvetica = [95]uint16{
		278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556, 556, 556,
		556, 556, 556, 278, 278, 584, 584, 584, 556,
		1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667,
		944, 667, 667, 611, 278, 278, 278, 469, 556,
		333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500,
		722, 500, 500, 500, 334, 260, 334, 584,
	}
	times = [95]uint16{
		250, 333, 408, 500, 500, 833, 778, 180, 333, 333, 500, 564, 250, 333, 250, 278, 500, 500, 500, 500, 500, 500, 500,
		500, 500, 500, 278, 278, 564, 564, 564, 444,
		921, 722, 667, 667, 722, 611, 556, 722, 722, 333, 389, 722, 611, 889, 722, 722, 556, 722, 667, 556, 611, 722, 722,
		944, 722, 722, 611, 333, 278, 333, 469, 500,
		333, 444, 500, 444, 500, 444, 333, 500, 500, 278, 278, 500, 278, 778, 500, 500, 500, 500, 333, 389, 278, 500, 500,
		722, 500, 500, 444, 480, 200, 480, 541,
	}
)
