package agents

import "reflect"

// PluginHooks returns the hooks file of a Claude Code plugin whose hooks run line.
func PluginHooks(line string) string {
	hooks := map[string][]any{}
	for _, w := range claudeHooks(func(...string) string { return line }, Choice{}) {
		hooks[w.Path[1]] = append(hooks[w.Path[1]], w.Value)
	}
	type file struct {
		Description string           `json:"description"`
		Hooks       map[string][]any `json:"hooks"`
	}
	return render(file{"Keeps the web pages and documentation that the agent reads", hooks}, "", "  ", "\n", true) + "\n"
}

// SameJSON reports whether after has everything that before has, by its meaning.
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

// holds reports whether whole has everything of part. Lists of whole may have more items at their end.
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
