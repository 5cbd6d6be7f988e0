// Package hostrule says what is done otherwise for some hosts and paths, because an operator wants that.
//
// A [Rule] names hosts and paths, and what becomes of requests for them: of the first rule that matches, package proxy
// reads whether it intercepts and who gets markdown, package cache how long answers are fresh, and package fetch how a
// page is made. Rules of the store come before those of the configuration. Site recipes of the store, which say what of
// a page is content, join those that are shipped ([RecipeSet]).
package hostrule

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/readthru/readthru/cache"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// Rule is one entry of the config's rules; the first match wins.
type Rule struct {
	Host, Path string        // patterns: "*.example.com" (also example.com itself), "/docs/*"; empty matches all
	Action     string        // intercept, tunnel, block or empty
	Mode       string        // as proxy.mode; if empty, proxy.mode applies
	TTL        time.Duration // lifetime of answers, overriding the origin's; 0: no override
	Bypass     bool          // bypass the cache
	Cascade    []string
	Render     string // as render.mode; if empty, render.mode applies
	// as the key preferences: auto, respect, tell or ignore; if empty, that key applies
	Preferences string
	Log         string // off: requests are neither listed nor in figures; they are counted as hidden
}

// Hides reports whether requests that the rule is for are not told of.
func (r Rule) Hides() bool { return r.Log == "off" }

// Rules are tried in order.
type Rules []Rule

// Stored returns rules of the store. They come before those of the configuration: they were made later.
func Stored(list []store.Rule) Rules {
	rules := make(Rules, len(list))
	for i, r := range list {
		rules[i] = Rule{
			Host: r.Host, Path: r.Path, Action: r.Action, Mode: r.Mode, TTL: r.TTL, Bypass: r.Bypass, Render: r.Render,
			Preferences: r.Preferences, Log: r.Log,
		}
	}
	return rules
}

// Check returns an error for a rule that says nothing, matches nothing, or says what no rule can say.
func (r Rule) Check() error {
	for _, field := range []struct{ name, value, allowed string }{
		{"action", r.Action, "intercept tunnel block"},
		{"mode", r.Mode, "auto always negotiate never"},
		{"render", r.Render, "auto always never"},
		{"preferences", r.Preferences, "auto respect tell ignore"},
		{"log", r.Log, "off"},
	} {
		if allowed := strings.Fields(field.allowed); field.value != "" && !slices.Contains(allowed, field.value) {
			return fmt.Errorf("%s %.40q is none of %s", field.name, field.value, strings.Join(allowed, ", "))
		}
	}
	if r.Host != "" {
		if err := page.CheckHost(r.Host); err != nil {
			return err
		}
	}
	switch {
	case len(r.Path) > 2048 || r.Path != "" && r.Path[0] != '/' && r.Path[0] != '*':
		return fmt.Errorf("%.80q is not a path such as /docs/*", r.Path)
	case r.TTL < 0:
		return fmt.Errorf("ttl %s is negative", r.TTL)
	case r.Action == "" && r.Mode == "" && r.TTL == 0 && !r.Bypass && r.Render == "" && r.Preferences == "" &&
		r.Log == "" && len(r.Cascade) == 0:
		return errors.New("the rule says nothing: give an action, a mode, a ttl, bypass, render, preferences or log")
	case r.Path != "" && r.Action == "intercept":
		return errors.New("only whole hosts are intercepted: leave out the path")
	}
	return nil
}

// MatchesHost reports whether the rule is for a host, if only for some of its paths.
func (r Rule) MatchesHost(host string) bool {
	return page.MatchHost(r.Host, host)
}

// Match returns the first rule that matches. The port of host is ignored. With an empty path, as at CONNECT, only
// rules without a path match.
func (r Rules) Match(host, urlPath string) (Rule, bool) {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	for _, rule := range r {
		if page.MatchHost(rule.Host, host) && page.MatchPath(rule.Path, urlPath) {
			return rule, true
		}
	}
	return Rule{}, false
}

// For returns the first rule for a URL. Its path is matched as it is decoded, so that no escape in it evades a rule.
func (r Rules) For(u *url.URL) (Rule, bool) { return r.Match(u.Hostname(), u.Path) }

// Cache returns the cache's part of the rule for a URL.
func (r Rules) Cache(u *url.URL) cache.Rule {
	rule, _ := r.For(u)
	return cache.Rule{Lifetime: rule.TTL, Bypass: rule.Bypass}
}
