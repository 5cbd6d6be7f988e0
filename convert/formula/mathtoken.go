package formula

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/text/unicode/norm"

	"github.com/readthru/readthru/convert/chars"
	"github.com/readthru/readthru/convert/dom"
)

// character returns the text of a token. Fences and accents are looked up by it.
func (w *texWriter) character(n *html.Node) string { return strings.TrimSpace(w.text(n)) }

// text returns the text of a token as it stands. It reads 1,000 bytes at most.
func (w *texWriter) text(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		switch {
		case d.Type == html.TextNode:
			b.WriteString(d.Data)
		case d.Type == html.ElementNode && d.Data == "mjx-c" && d.FirstChild == nil: // its class has the code point
			for class := range strings.FieldsSeq(dom.Attr(d, "class")) {
				if hex, ok := strings.CutPrefix(class, "mjx-c"); ok {
					if code, err := strconv.ParseInt(hex, 16, 32); err == nil && code > ' ' {
						b.WriteRune(rune(code))
					}
				}
			}
		}
		if b.Len() > 1000 {
			break
		}
	}
	return b.String()
}

// wordsTeX writes a token that is words within a formula. A sign alone is no word. Spaces at their edges stay, as \text
// keeps them.
func wordsTeX(text string) string {
	text = strings.NewReplacer(`\`, "", "{", "", "}", "").Replace(text)
	inner := chars.OneLine(text)
	switch {
	case text == "":
		return ""
	case strings.Trim(inner, "()[],.;:") == "" && inner != "":
		return inner
	}
	if first, _ := utf8.DecodeRuneInString(text); unicode.IsSpace(first) && inner != "" {
		inner = " " + inner
	}
	if last, _ := utf8.DecodeLastRuneInString(text); unicode.IsSpace(last) {
		inner += " "
	}
	return `\text{` + inner + "}"
}

// token writes a number, a name, a sign or words. name is that of the element: mn, mi, mo, mtext or ms.
func (w *texWriter) token(n *html.Node, name string) string {
	if name == "mtext" || name == "ms" {
		return wordsTeX(w.text(n))
	}
	var words []string
	for _, r := range w.character(n) {
		if command, letter := alphabet(r); command != "" {
			words = append(words, command+"{"+letter+"}")
			continue
		}
		for _, r := range norm.NFKC.String(string(r)) {
			switch {
			case r >= 0x2061 && r <= 0x2064 || r == ' ' || r == '\n' || r == '\t': // invisible operators
			case r == '−':
				words = append(words, "-")
			case r < utf8.RuneSelf:
				words = append(words, asciiTeX(r))
			default:
				if command := texSymbols[r]; command != "" {
					words = append(words, `\`+command)
				} else {
					words = append(words, string(r))
				}
			}
		}
	}
	tex := strings.Join(words, "")
	if len(words) > 1 && strings.Contains(tex, `\`) {
		tex = strings.Join(words, " ")
	}
	if (name == "mi" || name == "mo") && functions[tex] {
		return `\` + tex
	}
	if variant := dom.Attr(n, "mathvariant"); tex != "" && (variant == "bold" || dom.HasClass(n, "mjx-b")) {
		return `\mathbf{` + tex + "}"
	} else if tex != "" && variant == "double-struck" {
		return `\mathbb{` + tex + "}"
	}
	return tex
}

// alphabet returns the command for a letter, in a token of a formula, that Unicode has in another alphabet of
// mathematics, and the letter in plain form; "" for italic and sans-serif letters, which mean what plain ones do.
// Ranges are those of Unicode's mathematical alphanumeric symbols, with the letters that Unicode had before.
func alphabet(r rune) (command, letter string) {
	switch {
	case r == 'ℂ' || r == 'ℍ' || r == 'ℕ' || r == 'ℙ' || r == 'ℚ' || r == 'ℝ' || r == 'ℤ',
		r >= 0x1d538 && r <= 0x1d56b, r >= 0x1d7d8 && r <= 0x1d7e1:
		command = `\mathbb`
	case r >= 0x1d400 && r <= 0x1d433, r >= 0x1d468 && r <= 0x1d49b, r >= 0x1d7ce && r <= 0x1d7d7:
		command = `\mathbf`
	case r == 'ℬ' || r == 'ℰ' || r == 'ℱ' || r == 'ℋ' || r == 'ℐ' || r == 'ℒ' || r == 'ℳ' || r == 'ℛ',
		r >= 0x1d49c && r <= 0x1d503:
		command = `\mathcal`
	case r == 'ℭ' || r == 'ℌ' || r == 'ℨ', r >= 0x1d504 && r <= 0x1d537, r >= 0x1d56c && r <= 0x1d59f:
		command = `\mathfrak`
	default:
		return "", ""
	}
	return command, norm.NFKC.String(string(r))
}

// asciiTeX returns a character of ASCII in a token of MathML as TeX shows it.
func asciiTeX(r rune) string {
	switch r {
	case '{', '}', '#', '%', '&', '$', '_':
		return `\` + string(r)
	case '\\':
		return `\backslash`
	case '~':
		return `\sim`
	}
	return string(r)
}

// functions are the names that TeX has commands for. Others stay letters.
var functions = map[string]bool{
	"sin": true, "cos": true, "tan": true, "cot": true, "sec": true, "csc": true, "arcsin": true, "arccos": true,
	"arctan": true, "sinh": true, "cosh": true, "tanh": true, "log": true, "ln": true, "lg": true, "exp": true,
	"lim": true, "max": true, "min": true, "sup": true, "inf": true, "det": true, "dim": true, "ker": true, "gcd": true,
	"arg": true, "deg": true, "Pr": true, "hom": true, "limsup": true, "liminf": true,
}

// texSymbols are the commands of characters beyond ASCII. Others are written as they are.
var texSymbols = func() map[rune]string {
	m := map[rune]string{}
	fields := strings.Fields(`α alpha β beta γ gamma δ delta ε epsilon ϵ epsilon ζ zeta η eta θ theta ϑ vartheta ι iota κ
		kappa λ lambda μ mu ν nu ξ xi π pi ρ rho ς varsigma σ sigma τ tau υ upsilon φ phi ϕ phi χ chi ψ psi ω omega Γ Gamma
		Δ Delta Θ Theta Λ Lambda Ξ Xi Π Pi Σ Sigma Υ Upsilon Φ Phi Ψ Psi Ω Omega ∂ partial ∇ nabla ∞ infty ∑ sum ∏ prod ∐
		coprod ∫ int ∬ iint ∭ iiint ∮ oint ± pm ∓ mp × times ÷ div ⋅ cdot · cdot ∗ ast ∘ circ • bullet ⋆ star ≤ leq ≥ geq ≠
		neq ≈ approx ≃ simeq ≅ cong ≡ equiv ∼ sim ∝ propto ≪ ll ≫ gg ∈ in ∉ notin ∋ ni ⊂ subset ⊃ supset ⊆ subseteq ⊇
		supseteq ∪ cup ∩ cap ∖ setminus ∅ emptyset ∧ land ∨ lor ¬ neg ∀ forall ∃ exists ∄ nexists ⇒ Rightarrow ⇐ Leftarrow ⇔
		Leftrightarrow ⟹ implies ⟺ iff → rightarrow ← leftarrow ↔ leftrightarrow ↦ mapsto ↑ uparrow ↓ downarrow ⟶
		longrightarrow ⟨ langle ⟩ rangle ⌊ lfloor ⌋ rfloor ⌈ lceil ⌉ rceil ∣ mid ∥ parallel ‖ Vert ⊥ perp ∠ angle … ldots ⋯
		cdots ⋮ vdots ⋱ ddots ′ prime ℓ ell ℏ hbar ℜ Re ℑ Im ℵ aleph ⊕ oplus ⊗ otimes ⊖ ominus ⋃ bigcup ⋂ bigcap ⨁ bigoplus
		⨂ bigotimes √ surd ∎ blacksquare † dagger ‡ ddagger ≺ prec ≻ succ ⊢ vdash ⊨ models ⊤ top`)
	for i := 0; i+1 < len(fields); i += 2 {
		r, _ := utf8.DecodeRuneInString(fields[i])
		m[r] = fields[i+1]
	}
	return m
}()
