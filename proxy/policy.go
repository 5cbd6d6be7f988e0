package proxy

import (
	"fmt"
	"reflect"
	"strconv"

	"readthru/fetch"
)

// policy is the part of Options that can change while the proxy runs. It is never changed but replaced as a whole, and
// each request uses the one that it began with.
type policy struct {
	rules   fetch.Rules
	mode    string
	paused  bool
	ports   []string // allowed for CONNECT
	blocked []string // domains
	users   []User
	auth    *authenticator
}

// newPolicy returns the policy of o. If the users are those of before, which may be nil, it keeps what their
// authenticator knows.
func newPolicy(o Options, before *policy) (*policy, error) {
	if !validConfigMode(o.Mode) {
		return nil, fmt.Errorf("mode %q is not auto, always, negotiate or never", o.Mode)
	}
	p := &policy{rules: o.Rules, mode: o.Mode, paused: o.Paused, blocked: o.BlockedDomains, users: o.Users}
	if o.ConnectPorts == nil {
		o.ConnectPorts = []int{443}
	}
	for _, port := range o.ConnectPorts {
		if port < 1 || port > 65535 {
			return nil, fmt.Errorf("connect port %d is not in the range from 1 to 65535", port)
		}
		p.ports = append(p.ports, strconv.Itoa(port))
	}
	if before != nil && reflect.DeepEqual(before.users, o.Users) {
		p.auth = before.auth
		return p, nil
	}
	var err error
	p.auth, err = newAuthenticator(o.Users)
	return p, err
}

// Reconfigure replaces Rules, Mode, Paused, Users, ConnectPorts and BlockedDomains by those of o, for requests that
// begin from now on. Connections of users who have gone, or have another password, are refused. An error names the
// option, and changes nothing.
func (p *Proxy) Reconfigure(o Options) error {
	next, err := newPolicy(o, p.policy.Load())
	if err != nil {
		return fmt.Errorf("configure the proxy: %w", err)
	}
	p.policy.Store(next)
	return nil
}
