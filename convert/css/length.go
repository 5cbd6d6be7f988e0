package css

import (
	"math"
	"strconv"
	"strings"

	"github.com/readthru/readthru/convert/chars"
)

// Number reads a CSS number with its unit. unit is what follows the digits, as it is written; it is not checked. value
// must be trimmed and in lower case. ok is false where value does not begin with a number.
func Number(value string) (n float64, unit string, ok bool) {
	end := 0
	for end < len(value) && (value[end] >= '0' && value[end] <= '9' || value[end] == '.' || end == 0 &&
		(value[end] == '-' || value[end] == '+')) {
		end++
	}
	if end == 0 {
		return 0, value, false
	}
	if exp := value[end:]; len(exp) > 1 && exp[0] == 'e' { // 1e-3, but not 1em
		digits := 1
		if exp[1] == '-' || exp[1] == '+' {
			digits = 2
		}
		first := digits
		for digits < len(exp) && exp[digits] >= '0' && exp[digits] <= '9' {
			digits++
		}
		if digits > first {
			end += digits
		}
	}
	n, err := strconv.ParseFloat(value[:end], 64)
	return n, value[end:], err == nil
}

// The window that lengths are measured in. Lengths that lead out of it lead out of much larger ones too. They are those
// of the laptop among kinds.
const (
	windowWidth  = 1366.0
	windowHeight = 768.0
)

// Length is a length in pixels and a share of what percentages refer to. A number without a unit is in Px. Angles are
// in radians in Px, and times do not occur. Which box a share refers to, only the property says: package hidden works
// it out.
type Length struct {
	Px, Share float64
	Window    bool // it depends on the size of the window
	Bare      bool // it has no unit
}

// ParseLength reads a length, a percentage, a number, or an expression of them (CSS Values Level 4), where em is the
// size of the font in pixels. ok is false for keywords such as auto, and for expressions with too many parts or without
// a value, such as 0/0. Callers give 0 for em where the font does not matter.
func ParseLength(value string, em float64) (l Length, ok bool) {
	e := expression{em: em, nodes: maxNodes}
	l, ok = e.parse(value, 0)
	return l, ok && !math.IsNaN(l.Px) && !math.IsNaN(l.Share)
}

// Fraction reads a number or a percentage as a number: .5 and 50% are alike. It serves opacity and the amounts of
// filters.
func Fraction(value string) (n float64, ok bool) {
	l, ok := ParseLength(value, 0)
	return l.Px + l.Share, ok
}

// mathFunctions are the functions that give a number. Anchor functions are among them since they stand in place of a
// length.
var mathFunctions = chars.Set(`calc -webkit-calc -moz-calc min max clamp abs sign round mod rem hypot sqrt pow exp log
	sin cos tan asin acos atan atan2 env calc-size fit-content anchor anchor-size`)

// Math reports whether value is an expression, such as calc(), of which a length is computed. The arguments are not
// read: valid takes an expression on trust.
func Math(value string) bool {
	name, _, ok := strings.Cut(value, "(")
	return ok && mathFunctions[name]
}

// The limits of an expression. Together they bound the time that one value may take: numbers and functions in all, and
// functions within one another.
const (
	maxNodes  = 500
	maxNested = 32
)

// expression reads one value with calc() and the other functions of numbers.
type expression struct {
	em    float64
	nodes int    // numbers and functions that may still be read
	size  Length // of the basis of calc-size
}

// someSize stands for the size that a box has by what it holds. No style sheet tells how large it is; it must only be
// more than nothing.
const someSize = 100

// parse reads one number, keyword of a number, function, or sum in parentheses of a CSS expression. Arguments that are
// keywords or names are passed over in the functions that take some. ok is false for what is none of these.
func (e *expression) parse(s string, depth int) (Length, bool) {
	s = strings.TrimSpace(s)
	if e.nodes--; e.nodes < 0 || depth > maxNested || s == "" {
		return Length{}, false
	}
	if n, unit, ok := Number(s); ok {
		return e.unit(n, unit)
	}
	switch s {
	case "pi":
		return Length{Px: math.Pi, Bare: true}, true
	case "e":
		return Length{Px: math.E, Bare: true}, true
	case "infinity":
		return Length{Px: math.MaxFloat32, Bare: true}, true
	case "size":
		return e.size, true
	case "-infinity":
		return Length{Px: -math.MaxFloat32, Bare: true}, true
	}
	name, arguments, ok := call(s)
	if !ok {
		return Length{}, false
	}
	var list []Length
	if name == "calc-size" {
		e.size = Length{Px: someSize}
	}
	for one := range split(arguments, ",") {
		l, ok := e.sum(one, depth+1)
		if ok && name == "calc-size" && len(list) == 0 {
			e.size = l
		}
		if !ok {
			if name == "round" || name == "calc-size" || name == "clamp" && one == "none" || name == "env" {
				continue // a strategy, a basis, a name
			}
			return Length{}, false
		}
		list = append(list, l)
	}
	if len(list) == 0 {
		return Length{}, name == "env"
	}
	return apply(name, list)
}

// apply computes a function of one to three numbers in a length, such as min(). It takes shares for those of a box as
// wide as the window: min, max and clamp compare them so and return one as it is, so that it stays a share; of others
// the result is in pixels. ok is false for functions that are not known.
func apply(name string, list []Length) (Length, bool) {
	first, last := list[0], list[len(list)-1]
	switch name {
	case "", "calc", "-webkit-calc", "-moz-calc", "env", "fit-content":
		return last, len(list) == 1
	case "calc-size":
		return last, true
	case "min", "max":
		for _, l := range list[1:] {
			if (l.guess() < first.guess()) == (name == "min") {
				first = l
			}
		}
		return first, true
	case "clamp":
		if len(list) == 3 {
			low, middle := list[0], list[1]
			if middle.guess() > last.guess() {
				middle = last
			}
			if low.guess() > middle.guess() {
				middle = low
			}
			return middle, true
		}
	}
	if f := functions[name]; f != nil {
		second := Length{}
		if len(list) > 1 {
			second = list[1]
		}
		return Length{
			Px: f(first.guess(), second.guess()), Bare: first.Bare || name == "sign", Window: first.Window || first.Share != 0,
		}, true
	}
	return Length{}, false
}

// functions are those of one or two numbers.
var functions = map[string]func(a, b float64) float64{
	"abs":   func(a, _ float64) float64 { return math.Abs(a) },
	"round": func(a, b float64) float64 { return stepped(a, b, math.Round) },
	"mod":   func(a, b float64) float64 { return a - stepped(a, b, math.Floor) },
	"rem":   math.Mod, "hypot": math.Hypot, "pow": math.Pow, "atan2": math.Atan2,
	"sqrt": func(a, _ float64) float64 { return math.Sqrt(a) },
	"exp":  func(a, _ float64) float64 { return math.Exp(a) },
	"sin":  func(a, _ float64) float64 { return math.Sin(a) },
	"cos":  func(a, _ float64) float64 { return math.Cos(a) },
	"tan":  func(a, _ float64) float64 { return math.Tan(a) },
	"sign": func(a, _ float64) float64 {
		switch {
		case a > 0:
			return 1
		case a < 0:
			return -1
		}
		return 0
	},
}

// stepped computes round() and the like of a length: it rounds a to a multiple of step. A step of 0 counts as 1.
func stepped(a, step float64, round func(float64) float64) float64 {
	if step == 0 {
		step = 1
	}
	return round(a/step) * step
}

// guess is the length in pixels that l has in a box as wide as the window, for comparisons.
func (l Length) guess() float64 { return l.Px + l.Share*windowWidth }

// unit returns the length that a number with a CSS unit is. Units of fonts are taken at usual proportions of the font's
// size: the fonts are not at hand. Units of the window and of containers are measured in the laptop's. ok is false for
// an unknown unit.
func (e *expression) unit(n float64, unit string) (Length, bool) {
	switch unit {
	case "":
		return Length{Px: n, Bare: true}, true
	case "px", "rad":
		return Length{Px: n}, true
	case "%":
		return Length{Share: n / 100}, true
	case "em", "ic", "cap":
		return Length{Px: n * e.em}, true
	case "ex", "ch", "rcap":
		return Length{Px: n * e.em / 2}, true
	case "rem", "ric":
		return Length{Px: n * 16}, true
	case "lh", "rlh":
		return Length{Px: n * 1.2 * max(e.em, 16)}, true
	case "rex", "rch":
		return Length{Px: n * 8}, true
	case "pt":
		return Length{Px: n * 4 / 3}, true
	case "pc", "cm", "mm", "q", "in":
		return Length{Px: n * map[string]float64{"pc": 16, "cm": 37.8, "mm": 3.78, "q": .945, "in": 96}[unit]}, true
	case "deg", "grad", "turn":
		return Length{Px: n * map[string]float64{"deg": math.Pi / 180, "grad": math.Pi / 200, "turn": 2 * math.Pi}[unit]},
			true
	}
	if len(unit) > 4 || len(unit) < 2 {
		return Length{}, false
	}
	of := windowWidth
	switch strings.TrimLeft(unit, "sldcqv") { // vw, svw, lvw, dvw, cqw …
	case "w", "i":
	case "h", "b", "min":
		of = windowHeight
	case "max":
	default:
		return Length{}, false
	}
	return Length{Px: n * of / 100, Window: true}, true
}

// sum reads terms with + and - between them. The signs stand between spaces. A sign without spaces is part of a number
// (CSS Values Level 4, calc()).
func (e *expression) sum(s string, depth int) (total Length, ok bool) {
	if depth > maxNested {
		return total, false
	}
	begun, sign := 0, 1.0
	for i := 0; ; i++ {
		end := i >= len(s)
		if !end && s[i] == '(' {
			i = until(s, i+1, ")")
			continue
		}
		if !end && (s[i] != '+' && s[i] != '-' || i == 0 || s[i-1] > ' ' || i+1 >= len(s) || s[i+1] > ' ') {
			continue
		}
		l, ok := e.product(s[begun:min(i, len(s))], depth)
		if !ok {
			return total, false
		}
		total = Length{
			Px: total.Px + sign*l.Px, Share: total.Share + sign*l.Share, Window: total.Window || l.Window,
			Bare: l.Bare && (begun == 0 || total.Bare),
		}
		if end {
			return total, true
		}
		if begun, sign = i+1, 1; s[i] == '-' {
			sign = -1
		}
	}
}

// product reads factors with * and / between them, at most one of which has a unit. A length divided by a length is a
// number (CSS Values Level 4, calc()).
func (e *expression) product(s string, depth int) (total Length, ok bool) {
	begun, operator := 0, byte('*')
	total = Length{Px: 1, Bare: true}
	for i := 0; ; i++ {
		end := i >= len(s)
		if !end && s[i] == '(' {
			i = until(s, i+1, ")")
			continue
		}
		if !end && s[i] != '*' && s[i] != '/' {
			continue
		}
		l, ok := e.parse(s[begun:min(i, len(s))], depth+1)
		if !ok {
			return total, false
		}
		switch {
		case operator == '/' && !l.Bare: // a length over a length is a number
			total = Length{Px: total.guess() / l.guess(), Bare: true, Window: total.Window || l.Window}
		case operator == '/':
			total.Px, total.Share = total.Px/l.Px, total.Share/l.Px
		case total.Bare:
			total = Length{Px: total.Px * l.Px, Share: total.Px * l.Share, Window: total.Window || l.Window, Bare: l.Bare}
		default:
			total.Px, total.Share, total.Window = total.Px*l.Px, total.Share*l.Px, total.Window || l.Window
		}
		if end {
			return total, true
		}
		begun, operator = i+1, s[i]
	}
}
