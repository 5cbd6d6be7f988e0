package main

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

// merge returns s with the values that next has for liveKeys. It names the live keys that changed, and the others that
// differ from the start.
func (s *settings) merge(next *settings) (merged *settings, changed, waiting []string) {
	c := *s.config
	merged = &settings{config: &c, dataDir: s.dataDir, configFile: s.configFile, source: map[string]string{}}
	theirs := next.leaves()
	for i, l := range merged.leaves() {
		merged.source[l.path] = s.source[l.path]
		if reflect.DeepEqual(l.value.Interface(), theirs[i].value.Interface()) {
			continue
		}
		if !slices.Contains(liveKeys, l.path) {
			waiting = append(waiting, l.path)
			continue
		}
		changed = append(changed, l.path)
		l.value.Set(theirs[i].value)
		merged.source[l.path] = next.source[l.path]
	}
	return merged, changed, waiting
}
