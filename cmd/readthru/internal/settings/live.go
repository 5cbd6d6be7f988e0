package settings

import (
	"reflect"
	"slices"
)

// liveKeys are the keys that a running daemon takes over from a reloaded configuration. All others need a restart.
var liveKeys = []string{
	"proxy.mode", "proxy.users", "proxy.connect_ports", "rules", "blocked_domains",
	"fetch.cascade", "fetch.timeout", "fetch.max_body", "fetch.user_agent", "fetch.max_html_chars",
	"markdown_new.daily_limit", "render.mode", "convert.links", "convert.images", "convert.front_matter",
	"pages.with_cookies", "preferences", "cache.page_ttl", "cache.stale_limit", "cache.heuristic_max", "cache.max_size",
	"log.level",
}

// Merge returns s with the values that next has for liveKeys. It names the live keys that changed, and the others that
// differ from the start.
func (s *Settings) Merge(next *Settings) (merged *Settings, changed, waiting []string) {
	c := *s.Config
	merged = &Settings{Config: &c, DataDir: s.DataDir, ConfigFile: s.ConfigFile, Source: map[string]string{}}
	theirs := next.Leaves()
	for i, l := range merged.Leaves() {
		merged.Source[l.Path] = s.Source[l.Path]
		if reflect.DeepEqual(l.value.Interface(), theirs[i].value.Interface()) {
			continue
		}
		if !slices.Contains(liveKeys, l.Path) {
			waiting = append(waiting, l.Path)
			continue
		}
		changed = append(changed, l.Path)
		l.value.Set(theirs[i].value)
		merged.Source[l.Path] = next.Source[l.Path]
	}
	return merged, changed, waiting
}
