package settings

import (
	"github.com/readthru/readthru/internal/hostrule"
)

// HostRules returns the configured rules for hosts and paths.
func (s *Settings) HostRules() hostrule.Rules {
	var list hostrule.Rules
	for _, r := range s.Rules {
		list = append(list, hostrule.Rule(r))
	}
	return list
}
