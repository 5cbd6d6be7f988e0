package judge

import (
	"strings"

	"golang.org/x/net/html"

	"github.com/readthru/readthru/convert/chars"
)

// odds hold how often blocks with a name, or with a first word, are content: from -1, never, to 1, always. They were
// counted on the pages that the model was learnt from; what was too rare there is missing.
type odds struct {
	name, text map[string]float32
}

// names returns, by the table of names, the lowest and the highest odds of n's names, 0 for none. The names are the
// words of its class and other attributes; see [namesOf].
func (o odds) names(n *html.Node) (low, high float32) {
	for name := range namesOf(n) {
		v := o.name[name]
		low, high = min(low, v), max(high, v)
	}
	return low, high
}

// word returns the odds of a first word of a block, and whether they are known.
func (o odds) word(w string) (float32, bool) {
	if len(w) > 24 {
		return 0, false
	}
	v, ok := o.text[strings.ToLower(w)]
	return v, ok
}

// namesOf yields the names whose odds are known, words of n's class, id and kin, without digits, in lower case. Names
// in camelCase are several words. It yields 16 words at most, and passes over long attributes: some sites write their
// whole style into classes.
func namesOf(n *html.Node) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		budget := 16
		for i := range n.Attr {
			switch n.Attr[i].Key {
			case "class", "id", "role", "itemprop", "aria-label", "data-testid", "itemtype":
			default:
				continue
			}
			value := n.Attr[i].Val
			if len(value) > 400 {
				continue
			}
			start := -1
			for j := 0; j <= len(value); j++ {
				if j < len(value) && chars.Letter(value[j]) {
					if start >= 0 && value[j] < 'a' && value[j-1] >= 'a' { // camelCase
						if !yieldName(value[start:j], &budget, yield) {
							return
						}
						start = j
					}
					if start < 0 {
						start = j
					}
					continue
				}
				if start >= 0 {
					if !yieldName(value[start:j], &budget, yield) {
						return
					}
					start = -1
				}
			}
		}
	}
}

// yieldName yields a name for the odds, that of an element in lower case, unless it is too short or too long to say
// anything. It is false when the budget is spent or yield wants no more.
func yieldName(name string, budget *int, yield func(string) bool) bool {
	if len(name) < 3 || len(name) > 20 {
		return true
	}
	*budget--
	return *budget >= 0 && yield(strings.ToLower(name))
}
