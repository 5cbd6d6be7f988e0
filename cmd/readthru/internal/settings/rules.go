package settings

import (
	"github.com/readthru/readthru/internal/hostrule"
)

// FetchRules turns the configured rules into fetch's.
func (s *Settings) FetchRules() hostrule.Rules {
	var list hostrule.Rules
	for _, r := range s.Rules {
		list = append(list, hostrule.Rule{
			Host: r.Host, Path: r.Path, Action: r.Action, Mode: r.Mode, TTL: r.TTL,
			Bypass: r.Bypass, Cascade: r.Cascade, Render: r.Render, Preferences: r.Preferences,
			Log: r.Log,
		})
	}
	return list
}
