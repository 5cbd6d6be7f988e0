package agents

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/readthru/readthru/internal/lazy"
)

// addJSON adds the missing settings to a JSON file. An empty file becomes an object.
func addJSON(text []byte, wants []Want) (edited, error) {
	j, err := parseJSON(text)
	if err != nil {
		return edited{}, err
	}
	if j.blank() {
		j.splice(len(j.text), "{}\n")
		if err := j.parse(); err != nil {
			return edited{}, err
		}
	}
	e := edited{}
	taken := map[string]string{} // groups that cannot be added completely, with the setting that prevents it
	for _, w := range wants {
		if state, err := j.state(w); err != nil {
			return edited{}, err
		} else if state == other && w.Group != "" && taken[w.Group] == "" {
			taken[w.Group] = w.Name()
			e.notes = append(e.notes, fmt.Sprintf("%s already has another value: %s was not added", w.Name(), w.Group))
		}
	}
	for _, w := range wants {
		state, err := j.state(w)
		switch {
		case err != nil:
			return edited{}, err
		case taken[w.Group] != "":
		case state == equal:
		case state == other:
			e.notes = append(e.notes, w.Name()+" already has another value and was not changed")
		default:
			made, err := j.want(w)
			if err != nil {
				return edited{}, err
			}
			e.wants, e.made = append(e.wants, w), append(e.made, made...)
		}
	}
	if len(j.put) == 1 && string(j.text[j.put[0].At:]) == "{}\n" {
		j.text, j.put = text, nil // there is nothing to add: the file stays empty
	}
	e.text, e.put = j.text, j.put
	return e, nil
}

// state is the state of a wanted setting in a file.
type state int

const (
	absent state = iota
	equal
	other // the setting has another value
)

// state returns the state of a wanted setting. It is an error if something else is in its place.
func (j *jsonText) state(w Want) (state, error) {
	c, n, err := j.walk(w.Path[:len(w.Path)-1])
	if err != nil {
		return absent, err
	}
	if !c.object {
		return absent, fmt.Errorf("%s is a list, not an object", strings.Join(w.Path[:n], "."))
	}
	name := w.Path[len(w.Path)-1]
	if n < len(w.Path)-1 {
		return absent, nil
	}
	i, ok := c.member(name)
	if !ok {
		return absent, nil
	}
	if !w.Item {
		if same(c.items[i].value, w.Value) {
			return equal, nil
		}
		return other, nil
	}
	list, ok := j.containerOf(c.items[i].value)
	if !ok || list.object {
		return absent, fmt.Errorf("%s is not a list", w.Name())
	}
	if slices.ContainsFunc(list.items, func(it item) bool { return same(it.value, w.Value) }) {
		return equal, nil
	}
	return absent, nil
}

// want adds an absent setting, with the objects and the list that it needs. It returns the paths of those that it
// created.
func (j *jsonText) want(w Want) (made [][]string, err error) {
	c, n, err := j.walk(w.Path)
	if err != nil {
		return nil, err
	}
	if n == len(w.Path) { // the list exists
		j.add(c, "", w.Value)
		return nil, j.parse()
	}
	value, containers := w.Value, len(w.Path)-1
	if w.Item {
		value, containers = []any{value}, len(w.Path)
	}
	for i := len(w.Path) - 1; i > n; i-- {
		value = map[string]any{w.Path[i]: value}
	}
	for i := n + 1; i <= containers; i++ {
		made = append(made, slices.Clone(w.Path[:i]))
	}
	j.add(c, w.Path[n], value)
	return made, j.parse()
}

// takeJSON removes settings from a JSON file: those that were added, and those in any form with a command that wants
// have too. Then it removes the objects and lists of made that are empty. It returns the number of removed settings.
func takeJSON(text []byte, put, wants []Want, made [][]string) (rest []byte, n int, err error) {
	j, err := parseJSON(text)
	if err != nil || j.blank() {
		return text, 0, err
	}
	for i, w := range slices.Concat(put, wants) {
		is := func(v hujson.Value) bool { return i < len(put) && same(v, w.Value) || ours(v, w) }
		for {
			went, err := j.drop(w, is)
			if err != nil {
				return nil, 0, err
			}
			if !went {
				break
			}
			n++
		}
	}
	if n == 0 {
		return text, 0, nil
	}
	made = slices.Clone(made)
	slices.SortStableFunc(made, func(a, b []string) int { return len(b) - len(a) })
	for _, path := range made {
		c, depth, err := j.walk(path[:len(path)-1])
		if err != nil || depth < len(path)-1 || !c.object {
			continue // others have changed it
		}
		i, ok := c.member(path[len(path)-1])
		if !ok {
			continue
		}
		inner, ok := j.containerOf(c.items[i].value)
		if !ok || len(inner.items) > 0 || len(bytes.TrimSpace(inner.rest)) > 0 {
			continue
		}
		j.remove(c, i)
		if err := j.parse(); err != nil {
			return nil, 0, err
		}
	}
	return j.text, n, nil
}

// drop removes one setting in the place of w, and reports whether there was one. A value of another kind in that place
// belongs to others.
func (j *jsonText) drop(w Want, is func(hujson.Value) bool) (bool, error) {
	path := w.Path
	if !w.Item {
		path = path[:len(path)-1]
	}
	c, n, err := j.walk(path)
	if err != nil || n < len(path) {
		return false, nil //nolint:nilerr // another kind of value is not ours
	}
	for i, it := range c.items {
		if !w.Item && it.name != w.Path[len(w.Path)-1] || c.object == w.Item {
			continue
		}
		if !is(it.value) {
			continue
		}
		j.remove(c, i)
		return true, j.parse()
	}
	return false, nil
}

// ourCommand matches the command lines that this program writes.
var ourCommand = lazy.Pattern(`(?:^|[/\\'" ])readthru(?:\.exe)?['"]? (hook|mcp)(?: |$)`)

// ours reports whether a value has the same command of ours as w.
func ours(v hujson.Value, w Want) bool {
	want := ourCommand().FindStringSubmatch(words(plainOf(w.Value)))
	have := ourCommand().FindStringSubmatch(words(plain(v)))
	return want != nil && have != nil && want[1] == have[1]
}

// words returns the text of a value's command and arguments.
func words(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []any:
		var all []string
		for _, e := range v {
			if s := words(e); s != "" {
				all = append(all, s)
			}
		}
		return strings.Join(all, " ")
	case map[string]any:
		if s := strings.TrimSpace(words(v["command"]) + " " + words(v["args"])); s != "" {
			return s
		}
		return words(v["hooks"])
	}
	return ""
}
