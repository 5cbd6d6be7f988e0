package css

import (
	"strings"

	"golang.org/x/net/html"
)

// anchored puts lengths in the place of references to the edges and sizes of other boxes (CSS Anchor Positioning): what
// stands for a box that is not there, or some length of one that is. anchor is the box that is meant where a reference
// names none; names mean something in one tree. It returns "" where browsers drop the declaration, and the value as it
// is where the size of a box would have to be known. It replaces maxReferences references at most.
func (s *Sheet) anchored(value, anchor string, tree *html.Node) string {
	for range maxReferences {
		at := strings.Index(value, "anchor(")
		if other := strings.Index(value, "anchor-size("); at < 0 || other >= 0 && other < at {
			at = other
		}
		if at < 0 || at > 0 && nameByte(value[at-1]) {
			return value
		}
		open := at + strings.IndexByte(value[at:], '(') + 1
		shut := until(value, open, ")")
		arguments := value[open:min(shut, len(value))]
		first := min(until(arguments, 0, ","), len(arguments))
		name := anchor
		for word := range words(arguments[:first]) {
			if strings.HasPrefix(word, "--") {
				name = word
			}
		}
		length := "0px"
		switch {
		case s.anchors[inTree{tree, name}] && strings.HasPrefix(value[at:], "anchor-size"):
			return value // nobody knows
		case s.anchors[inTree{tree, name}]:
		case first == len(arguments):
			return "" // browsers do as if the property were not set
		default:
			length = strings.TrimSpace(arguments[first+1:])
		}
		value = value[:at] + length + value[min(shut+1, len(value)):]
	}
	return value
}

// anchorNames notes the boxes that a declaration makes anchors. It is asked of every declaration of every rule and
// style attribute when the page's sheets are read, because a box may stand behind the one that refers to it. tree is
// the shadow root of the rule, nil for the document.
func (s *Sheet) anchorNames(d *declaration, tree *html.Node) {
	if d.name != "anchor-name" {
		return
	}
	if s.anchors == nil {
		s.anchors = map[inTree]bool{}
	}
	for name := range split(d.value, ",") {
		s.anchors[inTree{tree, strings.TrimSpace(name)}] = true
	}
}
