package css

import (
	"math"
	"strings"

	"golang.org/x/net/html"
)

// frames are what an animation sets at its end, and what it sets all the time. A page may keep its text hidden until an
// animation shows it, or hide it by one.
type frames struct{ first, last, same map[string]string }

// keyframes reads the block of @keyframes, from i on, and returns the offset behind it. Kept are what the first and the
// last state set, and what all of them set alike: more is not needed to say what is seen at rest. Declarations that are
// important are left out, as browsers do (CSS Animations Level 1, §3). A name that is defined twice has the later
// frames.
func (s *Sheet) keyframes(name, css string, i int) int {
	end := until(css, i, "}")
	body := css[i:min(end, len(css))]
	f := &frames{first: map[string]string{}, last: map[string]string{}}
	count := 0 // of states: a frame may be that of several
	for i := blank(body, 0); i < len(body); i = blank(body, i) {
		open := until(body, i, "{")
		if open >= len(body) {
			break
		}
		shut := until(body, open+1, "}")
		set := map[string]string{}
		eachDeclaration(body[open+1:min(shut, len(body))], func(d declaration) {
			if d.shorthand == "" && !d.important && !strings.HasPrefix(d.name, "--") {
				set[d.name] = d.value
			}
		})
		for at := range split(strings.ToLower(withoutComments(body[i:open])), ",") {
			count++
			into := map[string]map[string]string{"from": f.first, "0%": f.first, "to": f.last, "100%": f.last}[at]
			for name, value := range set {
				if into != nil {
					into[name] = value
				}
			}
		}
		if f.same == nil {
			f.same = set
		} else {
			for name, value := range f.same {
				if set[name] != value {
					delete(f.same, name)
				}
			}
		}
		i = shut + 1
	}
	if count < 2 {
		f.same = nil // it moves to and from what the element has
	}
	if s.frames == nil {
		s.frames, s.animations = map[inTree]*frames{}, map[string]bool{}
	}
	name = strings.ToLower(name)
	s.frames[inTree{s.tree, name}], s.animations[name] = f, true
	return end + 1
}

// animate puts what animations leave into place: those that have ended, and those that nobody waits for. A page that
// fades in its text sets opacity to 0 and animates it to 1; readers see the end. What an animation sets wins over all
// but important declarations (CSS Cascading Level 5, §6.1).
func (s *Sheet) animate(n *html.Node, best *candidates) {
	names, tree, a := "", (*html.Node)(nil), animation{fill: "none", count: "1", direction: "normal", state: "running"}
	for i := range *best {
		switch c := &(*best)[i]; c.name {
		case "animation-name":
			names, tree = c.value, s.treeOf(n, c.by)
		case "animation-fill-mode":
			a.fill = c.value
		case "animation-iteration-count":
			a.count = c.value
		case "animation-direction":
			a.direction = c.value
		case "animation-duration":
			a.duration = c.value
		case "animation-delay":
			a.delay = c.value
		case "animation-play-state":
			a.state = c.value
		}
	}
	if names == "" || names == "none" {
		return
	}
	for name := range split(names, ",") {
		f := s.frames[inTree{tree, strings.Trim(name, `"'`)}]
		if f == nil {
			continue
		}
		for name, value := range a.leaves(f) {
			best.put(&declaration{name: name, value: value}, animatedSet, nil)
		}
	}
}

// animation is how the frames of an animation are shown. They are the values of the properties of the same names, as
// they are written, with the initial ones where none is set.
type animation struct{ fill, count, direction, duration, delay, state string }

// leaves returns what is seen of an animation by somebody who waits a while. It is nil where the element is at last as
// its rules have it, and what all frames set where the animation never ends, ends in the middle of a turn, takes too
// long, or waits for a script.
func (a *animation) leaves(f *frames) map[string]string {
	count, _, known := Number(a.count)
	duration, delay := seconds(a.duration), seconds(a.delay)
	switch {
	case a.count == "infinite", !known, count != math.Trunc(count), strings.Contains(a.count, ","),
		duration*count+delay > longest, a.state == "paused" && duration > 0:
		return f.same
	case a.fill != "forwards" && a.fill != "both":
		return nil
	}
	// At the end of an odd number of turns the last frame is seen, of none the first.
	last := true
	switch even := math.Mod(count, 2) == 0; a.direction {
	case "normal":
		last = count > 0
	case "reverse":
		last = count == 0
	case "alternate":
		last = !even
	case "alternate-reverse":
		last = even
	}
	if last {
		return f.last
	}
	return f.first
}

// longest is for how many seconds a reader waits for the end of an animation. It ends a trick: text that is there after
// an hour is on no screen.
const longest = 60

// seconds reads a time of an animation, of several the first. What does not begin with a number is 0.
func seconds(value string) float64 {
	first, _, _ := strings.Cut(value, ",")
	n, unit, _ := Number(strings.TrimSpace(first))
	if unit == "ms" {
		return n / 1000
	}
	return n
}

// initials are the values that properties have where nothing sets them, as far as that is not what an absent value
// means here.
var initials = map[string]string{
	"display": "inline", "visibility": "visible", "color": "canvastext", "font-size": "medium", "line-height": "normal",
	"letter-spacing": "normal", "text-indent": "0", "font-size-adjust": "none", "text-shadow": "none",
	"-webkit-text-fill-color": "currentcolor", "opacity": "1",
}

// Animated reports whether one of these animations is defined in a style sheet that is not at hand. Its keyframes may
// set anything: package hidden then does not take the element for hidden for good.
func (s *Sheet) Animated(names string) bool {
	for name := range split(names, ",") {
		if name = strings.Trim(name, `"'`); name != "" && name != "none" && !s.animations[name] {
			return true
		}
	}
	return false
}
