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

// Rule is what a rule of the configuration or of the store says; the first match wins. A field is named and valued as
// the key of the configuration that it overrides for some hosts and paths; if it is empty, that key applies. The fields
// and their order are those of the configuration's rules and of [store.RuleFields], from which rules are converted, so
// that a field which one of them lacks does not compile.
type Rule struct {
	Host        string        // pattern: "*.example.com" (also example.com itself); empty matches all
	Path        string        // pattern: "/docs/*"; empty matches all
	Action      string        // intercept, tunnel, block or empty
	Mode        string        // as proxy.mode
	TTL         time.Duration // lifetime of answers, overriding the origin's; 0: no override
	Bypass      bool          // bypass the cache
	Cascade     []string      // as fetch.cascade
	Render      string        // as render.mode
	Preferences string        // as preferences
	Log         string        // off: requests are neither listed nor in figures; they are counted as hidden
}

// Hides reports whether requests that the rule is for are not told of.
func (r Rule) Hides() bool { return r.Log == "off" }

// Rules are tried in order.
type Rules []Rule

// Stored returns the rules for hosts of the store. They come before those of the configuration: they were made later.
func Stored(list []store.Rule) Rules {
	rules := make(Rules, len(list))
	for i, r := range list {
		rules[i] = Rule(r.RuleFields)
	}
	return rules
}

// Check returns an error for a rule that says nothing, matches nothing, or says what no rule can say.
func (r Rule) Check() error {
	type field struct{ name, value, allowed string }
	fields := []field{
		{"action", r.Action, "intercept tunnel block"},
		{"mode", r.Mode, "auto always negotiate never"},
		{"render", r.Render, "auto always never"},
		{"preferences", r.Preferences, "auto respect tell ignore"},
		{"log", r.Log, "off"},
	}
	for _, step := range r.Cascade {
		fields = append(fields, field{"cascade", step, "negotiate alternate local browser markdown_new llm"})
	}
	for _, field := range fields {
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
	case len(r.Path) > 2048:
		return fmt.Errorf("the path %.80q… is longer than 2048 bytes", r.Path)
	case r.Path != "" && r.Path[0] != '/' && r.Path[0] != '*':
		return fmt.Errorf("%.80q is not a path such as /docs/*: did you mean %.80q?", r.Path, "/"+r.Path)
	case r.TTL < 0:
		return fmt.Errorf("ttl %s is negative", r.TTL)
	case r.Action == "" && r.Mode == "" && r.TTL == 0 && !r.Bypass && r.Render == "" && r.Preferences == "" &&
		r.Log == "" && len(r.Cascade) == 0:
		return errors.New("the rule says nothing: give an action, a mode, a ttl, bypass, a cascade, render, preferences " +
			"or log")
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
