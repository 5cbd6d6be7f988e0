package css

import (
	"strings"

	"golang.org/x/net/html"

	"github.com/readthru/readthru/convert/chars"
)

// truth says of a condition where it holds and where it does not. What is not known is neither. So "not" of an unknown
// condition stays unknown (Media Queries Level 4, general enclosed), and a rule that nobody understands holds nowhere.
type truth struct{ yes, no windows }

// always returns the truth of a condition that does not depend on the window.
func always(yes bool) truth {
	if yes {
		return truth{yes: everywhere}
	}
	return truth{no: everywhere}
}

// conditions evaluates a condition with "and", "or", "not" and parentheses. Feature evaluates what stands between
// parentheses, or a function with its name. It serves @media, @supports, @container and if(). "and" and "or" are not
// mixed without parentheses, and what breaks off or is no condition is unknown as a whole.
func conditions(s string, feature func(name, inside string) truth, depth int) truth {
	s = strings.TrimSpace(s)
	if depth > maxNested || s == "" {
		return truth{}
	}
	if rest, ok := strings.CutPrefix(s, "not"); ok && rest != "" && (rest[0] <= ' ' || rest[0] == '(') {
		t := conditions(rest, feature, depth+1)
		return truth{t.no, t.yes}
	}
	total, operator := truth{}, ""
	for s != "" {
		open := strings.IndexByte(s, '(')
		if open < 0 {
			return truth{}
		}
		name := strings.TrimSpace(s[:open])
		if operator != "" {
			var is bool
			if name, is = strings.CutPrefix(name, operator); !is {
				return truth{}
			}
			name = strings.TrimSpace(name)
		}
		end := until(s, open+1, ")")
		inside := strings.TrimSpace(s[open+1 : min(end, len(s))])
		var t truth
		switch {
		case name == "not":
			t = conditions("("+inside+")", feature, depth+1)
			t = truth{t.no, t.yes}
		case name == "" && (strings.HasPrefix(inside, "(") || strings.HasPrefix(inside, "not ") ||
			strings.HasPrefix(inside, "not(")):
			t = conditions(inside, feature, depth+1)
		default:
			t = feature(name, inside)
		}
		switch operator {
		case "":
			total = t
		case "and":
			total = truth{total.yes & t.yes, total.no | t.no}
		case "or":
			total = truth{total.yes | t.yes, total.no & t.no}
		}
		s = strings.TrimSpace(s[min(end+1, len(s)):])
		if operator == "" {
			switch {
			case strings.HasPrefix(s, "and"):
				operator = "and"
			case strings.HasPrefix(s, "or"):
				operator = "or"
			}
		}
	}
	return total
}

// supports reports whether a condition of @supports holds: whether browsers know a declaration or a selector. A
// declaration that this package does not know counts as not supported; a function that it does not know is neither, so
// that neither it nor its "not" holds.
func supports(condition string) bool {
	return conditions(strings.ToLower(withoutComments(condition)), func(name, inside string) truth {
		switch name {
		case "":
			return always(supported(inside))
		case "selector":
			l := (&parser{}).selectors(inside, nil, false)
			return always(l != nil)
		case "font-tech", "font-format":
			return always(true)
		}
		return truth{}
	}, 0).yes != 0
}

// supported reports whether browsers know the declaration that a condition of @supports asks for, given as "name:
// value". Of properties that this package reads the value is judged; of others the name is enough.
func supported(declaration string) bool {
	name, value, ok := strings.Cut(declaration, ":")
	if !ok {
		return false
	}
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	if bare, _, marked := strings.Cut(value, "!"); marked {
		value = strings.TrimSpace(bare)
	}
	switch {
	case strings.HasPrefix(name, "--"):
		return true
	case aliases[name] != "":
		name = aliases[name]
	case !properties[name]:
		return otherProperties[name] && !strings.HasPrefix(value, "-moz-")
	}
	if refers(value) {
		return true
	}
	set := false
	expand(name, value, func(string, string) { set = true })
	return set
}

// otherProperties are properties that style sheets ask for and that hide nothing. supported knows them, so that rules
// for current browsers are read and those for old ones are not.
var otherProperties = chars.Set(`align-content align-items align-self appearance -webkit-appearance aspect-ratio
	backdrop-filter -webkit-backdrop-filter border-radius box-decoration-break -webkit-box-decoration-break box-shadow
	box-sizing caret-color column-count columns cursor flex flex-direction flex-wrap flex-basis flex-grow
	flex-shrink float font-family font-variant-numeric font-variation-settings font-weight gap grid grid-area
	grid-auto-flow grid-gap grid-template grid-template-areas grid-template-columns hyphens image-rendering
	initial-letter justify-content justify-items justify-self line-clamp -webkit-line-clamp mask-composite object-fit
	object-position offset-path order outline overflow-anchor overflow-clip-margin overflow-wrap overscroll-behavior
	paint-order place-content place-items pointer-events print-color-adjust resize row-gap column-gap
	scroll-behavior scroll-snap-type scrollbar-color scrollbar-gutter scrollbar-width shape-outside tab-size
	text-decoration text-decoration-color text-decoration-thickness text-overflow text-underline-offset text-wrap
	touch-action transform-style transition-behavior user-select -webkit-user-select vertical-align view-transition-name
	word-break writing-mode animation-timeline anchor-name field-sizing interpolate-size position-anchor position-try
	text-box-trim -webkit-font-smoothing -webkit-text-size-adjust`)

// container returns the windows in which a condition of @container holds for a container of the window's width, and the
// custom property that it asks for. in has the windows in which the size holds, style the query of a style().
func container(prelude string) (in windows, style string) {
	at := strings.IndexByte(prelude, '(')
	if at < 0 {
		return 0, ""
	}
	name := strings.TrimSpace(prelude[:at])
	for _, word := range []string{"style", "not"} { // what is not the container's name
		if name == word || strings.HasSuffix(name, " "+word) {
			at -= at - strings.LastIndex(prelude[:at], word)
			break
		}
	}
	condition := strings.TrimSpace(prelude[at:])
	if fn, inside, ok := call(condition); ok && fn == "style" {
		return everywhere, strings.TrimSpace(inside)
	}
	return conditions(strings.ToLower(condition), mediaFeature, 0).yes, ""
}

// styled reports whether the condition of a style query, as in "--name: value" or "--name", holds for n. Of @container
// style() n is the parent of the element that a rule is about.
func (s *Sheet) styled(n *html.Node, query string, depth int) bool {
	name, want, hasValue := strings.Cut(query, ":")
	value := s.custom(n, strings.TrimSpace(name), depth)
	if !hasValue {
		return value != ""
	}
	want, ok := s.substitute(n, strings.TrimSpace(want), depth)
	return ok && strings.EqualFold(strings.TrimSpace(value), want)
}
