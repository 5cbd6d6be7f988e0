package agents

import "reflect"

// SameJSON reports whether a file holds what it held before, when what was put in is taken out by its meaning.
func SameJSON(before, after []byte) bool {
	x, errX := parseJSON(before)
	y, errY := parseJSON(after)
	if errX != nil || errY != nil {
		return false
	}
	if x.blank() {
		return true
	}
	return holds(plain(y.root), plain(x.root))
}

// holds reports whether everything of part is in whole, lists with more at their end.
func holds(whole, part any) bool {
	switch part := part.(type) {
	case map[string]any:
		m, ok := whole.(map[string]any)
		for name, v := range part {
			ok = ok && holds(m[name], v)
		}
		return ok
	case []any:
		list, ok := whole.([]any)
		if !ok || len(list) < len(part) {
			return false
		}
		for i, v := range part {
			if !holds(list[i], v) {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(whole, part)
}
