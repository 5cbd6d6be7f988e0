package css

import (
	"strings"

	"golang.org/x/net/html"
)

// extent is what a @scope rule is about: the elements in one that from selects, or in a certain one, but not in one
// further in that to selects (CSS Cascading Level 6, §2.5). It belongs to all the rules in the @scope block.
type extent struct {
	from, to []*selector
	owner    *html.Node // without from: what the style element stands in
}

// extent reads the prelude of @scope. It is nil if browsers refuse it. A scope without a start is the element around
// the style element, or the host of its shadow root.
func (s *Sheet) extent(prelude string) *extent {
	e := &extent{}
	p := parser{quirks: s.quirks}
	list := func(rest string) (all []*selector, after string) {
		end := until(rest, 1, ")")
		return p.selectors(rest[1:min(end, len(rest))], nil, true), strings.TrimSpace(rest[min(end+1, len(rest)):])
	}
	if strings.HasPrefix(prelude, "(") {
		if e.from, prelude = list(prelude); len(e.from) == 0 {
			return nil
		}
	} else {
		if e.owner = s.owner; e.owner == s.tree {
			e.owner = s.hosts[s.tree]
		}
	}
	if word, rest := cutName(prelude); strings.EqualFold(word, "to") {
		if rest = strings.TrimSpace(rest); !strings.HasPrefix(rest, "(") {
			return nil
		}
		e.to, prelude = list(rest)
	}
	if prelude != "" {
		return nil
	}
	return e
}

// scoped reports whether a rule of @scope holds for n. It tries each element from n outwards as the root of the scope,
// and leaves in r.near how near the one is that matched, for the cascade. s.scope is nil again afterwards.
func (s *Sheet) scoped(r *rule, n *html.Node) (is bool) {
	defer func() { s.scope = nil }()
	r.near = 1 << nearBits
	for e := n; e != nil && !is && s.steps >= 0; e = e.Parent {
		r.near = max(r.near-1, 1)
		s.scope = nil
		if e == r.scope.owner || r.scope.from != nil && s.any(r.scope.from, e, nil) {
			s.scope = e
			is = !s.limited(r.scope, n, e) && s.matches(r.selector, 0, n, nil)
		}
	}
	return is
}

// limited reports whether n lies in a limit of a @scope rule, below its root. The limit itself is out of the scope,
// too.
func (s *Sheet) limited(x *extent, n, root *html.Node) bool {
	for e := n; e != nil && e != root; e = e.Parent {
		if s.any(x.to, e, nil) {
			return true
		}
	}
	return false
}
