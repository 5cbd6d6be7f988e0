package proxy

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/readthru/readthru/internal/hostrule"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/proxy/preset"
	"github.com/readthru/readthru/proxy/strict"
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

// newPolicy returns the policy that options of the proxy describe. The error names the option that is invalid.
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

// validConfigMode reports whether the mode of the configured policy, by which pages are converted, is one.
func validConfigMode(mode string) bool {
	switch mode {
	case "", "auto", "always", "negotiate", "never":
		return true
	}
	return false
}

// action is the treatment of a CONNECT by the proxy.
type action int

const (
	intercept action = iota
	tunnel
	refuse
)

// verdict is the policy's decision about a CONNECT, and its reason.
type verdict struct {
	action  action
	why     string          // for the log; of a tunnel as in tunnelField
	refusal *strict.Refusal // with refuse
}

// judge applies the policy to a CONNECT. It checks, in this order, the allowed ports, the first matching rule, the
// pause, blocked domains, the preset, and whether the client rejected our certificate for the host lately. A blocked
// domain is intercepted, so that its pages are refused as markdown (rule A11) but open in a browser. Rules with a path
// apply to the requests inside an intercepted connection.
func (x *exchange) judge(c *connect) verdict {
	host, port := c.host, c.port
	if host == localHost {
		return verdict{action: intercept, why: "local"}
	}
	if x.p.o.Replay != nil {
		return verdict{action: intercept, why: "replay"}
	}
	if !slices.Contains(x.policy.ports, port) {
		return verdict{refuse, "port", &strict.Refusal{
			Status: http.StatusForbidden, Title: "Port refused", ProxyError: "connection_refused",
			Detail: fmt.Sprintf("CONNECT to port %s is not allowed: to allow it, add %s to proxy.connect_ports.", port, port),
		}}
	}
	v, rule, decided := x.policy.judgeHost(host, x.paused())
	x.rec.Rule = rule
	if decided {
		return v
	}
	if until, ok := x.s.rejects(c); ok {
		return verdict{action: tunnel, why: fmt.Sprintf("client-rejected-ca; until=%q", until.Format(time.RFC3339))}
	}
	return verdict{action: intercept, why: "default"}
}

// judgeHost decides about connections to a host, for all clients. Rule is the pattern of the rule that matched. What is
// not decided is intercepted unless the client rejected our certificate.
func (p *policy) judgeHost(host string, paused bool) (v verdict, rule string, decided bool) {
	if r, ok := p.rules.Match(host, ""); ok {
		rule = r.Host
		switch {
		case r.Action == "block":
			return verdict{refuse, "rule", strict.Blocked(host, strict.ByRule)}, rule, true
		case r.Action == "tunnel":
			return verdict{action: tunnel, why: "rule"}, rule, true
		case r.Action == "intercept" && !paused:
			return verdict{action: intercept, why: "rule"}, rule, true
		}
	}
	switch category := preset.Category(host); {
	case paused:
		return verdict{action: tunnel, why: "paused"}, rule, true
	case page.Blocked(host, p.blocked):
		return verdict{action: intercept, why: "blocked domain"}, rule, true
	case category != "":
		return verdict{action: tunnel, why: fmt.Sprintf("preset; category=%q", category)}, rule, true
	}
	// Only this is open to what the client has taught us of itself.
	return verdict{action: intercept, why: "default"}, rule, false
}

// Treatment returns the policy for a host, intercept, tunnel or block, and why. Clients that rejected our certificate
// there are tunnelled all the same, and a browser gets the pages of a blocked domain.
func (p *Proxy) Treatment(host string) (treatment, why string) {
	now := p.policy.Load()
	v, _, _ := now.judgeHost(host, now.paused)
	if v.why == "blocked domain" {
		return "block", v.why
	}
	return [...]string{intercept: "intercept", tunnel: "tunnel", refuse: "block"}[v.action], v.why
}
