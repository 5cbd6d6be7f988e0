package proxy

import (
	"fmt"
	"strconv"

	"github.com/readthru/readthru/internal/hostrule"
)

// policy is the part of Options that can change while the proxy runs. It is never changed but replaced as a whole, and
// each request uses the one that it began with.
type policy struct {
	rules   hostrule.Rules
	mode    string
	paused  bool
	ports   []string // allowed for CONNECT
	blocked []string // domains
}

// newPolicy returns the policy of o.
func newPolicy(o Options) (*policy, error) {
	if !validConfigMode(o.Mode) {
		return nil, fmt.Errorf("mode %q is not auto, always, negotiate or never", o.Mode)
	}
	p := &policy{rules: o.Rules, mode: o.Mode, paused: o.Paused, blocked: o.BlockedDomains}
	if o.ConnectPorts == nil {
		o.ConnectPorts = []int{443}
	}
	for _, port := range o.ConnectPorts {
		if port < 1 || port > 65535 {
			return nil, fmt.Errorf("connect port %d is not in the range from 1 to 65535", port)
		}
		p.ports = append(p.ports, strconv.Itoa(port))
	}
	return p, nil
}

// Reconfigure replaces Rules, Mode, Paused, ConnectPorts and BlockedDomains by those of o, for requests that begin from
// now on. An error names the option, and changes nothing.
func (p *Proxy) Reconfigure(o Options) error {
	next, err := newPolicy(o)
	if err != nil {
		return fmt.Errorf("configure the proxy: %w", err)
	}
	p.policy.Store(next)
	return nil
}

func validConfigMode(mode string) bool {
	switch mode {
	case "", "auto", "always", "negotiate", "never":
		return true
	}
	return false
}
