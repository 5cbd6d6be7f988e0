package settings

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"

	"github.com/readthru/readthru/api/firecrawl"
	"github.com/readthru/readthru/cmd/readthru/internal/terminal"
	"github.com/readthru/readthru/internal/botauth"
	"github.com/readthru/readthru/internal/fleet"
	"github.com/readthru/readthru/internal/llm"
	"github.com/readthru/readthru/internal/releases"
	"github.com/readthru/readthru/internal/transport"
	"github.com/readthru/readthru/internal/users"
	"github.com/readthru/readthru/page"
)

// Check returns an error for a value that cannot work. The error names the key and its source.
func (s *Settings) Check() error {
	for _, part := range []func(bad func(path string, err error) error) error{
		s.checkListeners, s.checkURLs, s.checkNumbers, s.checkLists, s.checkUpstream, s.checkModels, s.checkFleet,
		s.checkIdentity,
	} {
		err := part(func(path string, err error) error { return terminal.Usagef("%s: %s: %w", s.Source[path], path, err) })
		if err != nil {
			return err
		}
	}
	if s.Pages.WithCookies == "remember" && s.Cache.Mode != "private" {
		return terminal.Usagef("%s: pages.with_cookies: remember needs cache.mode private", s.Source["pages.with_cookies"])
	}
	return nil
}

// checkListeners refuses addresses that cannot be listened on, an admin port that other machines reach without a token,
// and users of the proxy that package users refuses or that lack a name or a password.
func (s *Settings) checkListeners(bad func(string, error) error) error {
	for _, l := range []struct{ path, addr string }{
		{"proxy.listen", s.Proxy.Listen}, {"admin.listen", s.Admin.Listen},
	} {
		if _, err := net.ResolveTCPAddr("tcp", l.addr); err != nil || !strings.Contains(l.addr, ":") {
			return bad(l.path, fmt.Errorf("%q is not an address like 127.0.0.1:7887", l.addr))
		}
	}
	if !Loopback(s.Admin.Listen) && s.Admin.Token == "" {
		err := bad("admin.listen", fmt.Errorf("%s is reachable from other machines without a token", s.Admin.Listen))
		return terminal.WithHint(err, "set admin.token, or listen on 127.0.0.1")
	}
	if err := users.Check(s.Users()); err != nil {
		return bad("proxy.users", err)
	}
	for i, u := range s.Proxy.Users {
		if u.Name == "" || u.PasswordHash == "" {
			return bad("proxy.users", fmt.Errorf("user %d lacks a name or a password_hash", i+1))
		}
	}
	return nil
}

// checkIdentity refuses a provider of identities that cannot be asked, or over a network without encryption.
func (s *Settings) checkIdentity(bad func(string, error) error) error {
	if s.OIDC.Issuer == "" {
		return nil
	}
	u, err := url.Parse(s.OIDC.Issuer)
	switch {
	case err != nil || u.Host == "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil ||
		u.Scheme != "https" && (u.Scheme != "http" || !page.Loopback(u.Hostname())):
		return bad("oidc.issuer", fmt.Errorf("%q is not a URL like https://login.example.com", s.OIDC.Issuer))
	case s.OIDC.ClientID == "":
		return bad("oidc.client_id", errors.New("is empty, and oidc.issuer is not"))
	}
	return nil
}

// checkFleet refuses a fleet for a node whose pages are one user's.
func (s *Settings) checkFleet(bad func(string, error) error) error {
	if s.Fleet.Database == "" {
		if s.Fleet.Bodies != "" {
			err := bad("fleet.bodies", errors.New("without fleet.database this is a node alone, which keeps content itself"))
			return terminal.WithHint(err, "set fleet.database, too, or leave fleet.bodies empty")
		}
		return nil
	}
	if s.Cache.Mode == "private" {
		err := bad("fleet.database", errors.New("what a private cache keeps is told to no fleet"))
		return terminal.WithHint(err, "set cache.mode to shared, or leave fleet.database empty")
	}
	if s.Fleet.Wait < time.Millisecond || s.Fleet.Wait > 10*time.Second {
		return bad("fleet.wait", fmt.Errorf("%s is not between 1ms and 10s", s.Fleet.Wait))
	}
	if err := s.FleetOptions("").Check(); err != nil {
		if e, ok := errors.AsType[*fleet.BodiesError](err); ok {
			return bad("fleet.bodies", e.Err)
		}
		return bad("fleet.database", err)
	}
	return nil
}

// FleetOptions returns the options of the node's part in its fleet. Its default name is the machine's with the port of
// its proxy, which is at address.
func (s *Settings) FleetOptions(address string) fleet.Options {
	node := s.Fleet.Node
	if node == "" {
		host, _ := os.Hostname() // without, it is the port
		_, port, _ := net.SplitHostPort(address)
		node = host + ":" + port
	}
	return fleet.Options{
		Database: s.Fleet.Database, Bodies: s.Fleet.Bodies, Name: s.Fleet.Name, Node: node, Wait: s.Fleet.Wait,
		Version: releases.Version,
	}
}

// checkURLs refuses values of the configuration that are no URLs of their schemes. A URL that may hold a password is
// masked in the error.
func (s *Settings) checkURLs(bad func(string, error) error) error {
	const web, devTools, any = "http https", "http https ws wss", ""
	for _, l := range []struct{ path, raw, schemes string }{
		{"proxy.upstream", s.Proxy.Upstream, any},
		{"markdown_new.base_url", s.MarkdownNew.BaseURL, web},
		{"github.base_url", s.GitHub.BaseURL, web},
		{"github.codeload_url", s.GitHub.CodeloadURL, web},
		{"github.raw_url", s.GitHub.RawURL, web},
		{"github.api_url", s.GitHub.APIURL, web},
		{"crawl.firecrawl_url", s.Crawl.FirecrawlURL, web},
		{"render.attach", s.Render.Attach, devTools},
	} {
		if l.raw == "" {
			continue
		}
		raw := l.raw
		if strings.Contains(raw, "@") {
			raw = page.SecretMask // it may have a password
		}
		switch u, err := url.Parse(l.raw); {
		case err != nil || u.Hostname() == "":
			return bad(l.path, fmt.Errorf("%q is not a URL with a host", raw))
		case l.schemes != any && !slices.Contains(strings.Fields(l.schemes), u.Scheme):
			return bad(l.path, fmt.Errorf("%q does not begin with %s://", raw, strings.ReplaceAll(l.schemes, " ", ":// or ")))
		}
	}
	for i, f := range s.Forges {
		if f.Kind == "" {
			return bad("forges", fmt.Errorf("forge %d lacks a kind: github, gitlab, gitea or bitbucket", i+1))
		}
		for _, raw := range []string{f.URL, f.APIURL} {
			if _, err := page.Parse(raw); err != nil && (raw != "" || f.URL == "") {
				return bad("forges", fmt.Errorf("forge %d: %w", i+1, err))
			}
		}
	}
	if s.Search.SearXNGURL != "" {
		if _, err := firecrawl.NewSearXNG(s.Search.SearXNGURL, nil, nil); err != nil {
			return bad("search.searxng_url", err)
		}
	}
	return nil
}

// checkNumbers refuses durations, sizes and counts of the configuration that are below their least value, and numbers
// in proxy.connect_ports that are no ports.
func (s *Settings) checkNumbers(bad func(string, error) error) error {
	for _, l := range []struct {
		path        string
		least, have time.Duration
	}{
		{"fetch.timeout", 1, s.Fetch.Timeout},
		{"llm.timeout", 1, s.LLM.Timeout},
		{"embeddings.timeout", 1, s.Embeddings.Timeout},
		{"crawl.interval", 0, s.Crawl.Interval},
		{"cache.page_ttl", 0, s.Cache.PageTTL},
		{"cache.stale_limit", 0, s.Cache.StaleLimit},
		{"cache.heuristic_max", 0, s.Cache.HeuristicMax},
	} {
		if l.have < l.least {
			return bad(l.path, fmt.Errorf("%s is too short", l.have))
		}
	}
	for _, l := range []struct {
		path        string
		least, have int64
	}{
		{"fetch.max_body", 1, int64(s.Fetch.MaxBody)},
		{"fetch.max_html_chars", 1, int64(s.Fetch.MaxHTMLChars)},
		{"cache.max_size", 1, int64(s.Cache.MaxSize)},
		{"cache.memory", 0, int64(s.Cache.Memory)},
		{"llm.max_context", 1, int64(s.LLM.MaxContext)},
		{"knowledge.passage_chars", 1, int64(s.Knowledge.PassageChars)},
		{"requests.last", 0, int64(s.Requests.Last)},
		{"requests.days", 0, int64(s.Requests.Days)},
		{"requests.max_size", 2 << 20, int64(s.Requests.MaxSize)},
		{"crawl.workers", 1, int64(s.Crawl.Workers)},
		{"render.concurrency", 0, int64(s.Render.Concurrency)},
		{"markdown_new.daily_limit", 0, int64(s.MarkdownNew.DailyLimit)},
	} {
		if l.have < l.least {
			return bad(l.path, fmt.Errorf("%d is below %d", l.have, l.least))
		}
	}
	for _, port := range s.Proxy.ConnectPorts {
		if port < 1 || port > 65535 {
			return bad("proxy.connect_ports", fmt.Errorf("%d is not a port", port))
		}
	}
	return nil
}

// checkLists looks for texts that match no host and no field.
func (s *Settings) checkLists(bad func(string, error) error) error {
	for i, r := range s.HostRules() {
		if err := r.Check(); err != nil {
			return bad("rules", fmt.Errorf("rule %d: %w", i+1, err))
		}
	}
	for _, l := range []struct {
		path  string
		hosts []string
	}{{"blocked_domains", s.BlockedDomains}, {"admin.hosts", s.Admin.Hosts}, {"proxy.direct", s.Proxy.Direct}} {
		for _, host := range l.hosts {
			if l.path == "proxy.direct" {
				if _, err := netip.ParsePrefix(host); err == nil {
					continue
				}
				if name, port, err := net.SplitHostPort(host); err == nil && !strings.Contains(port, "/") {
					host = name
				}
			}
			if err := page.CheckHost(host); err != nil {
				return bad(l.path, err)
			}
		}
	}
	for _, name := range s.Cache.Targeted {
		if !httpguts.ValidHeaderFieldName(name) {
			return bad("cache.targeted", fmt.Errorf("%q is not the name of a field", name))
		}
	}
	if !httpguts.ValidHeaderFieldValue(s.Fetch.UserAgent) {
		return bad("fetch.user_agent", fmt.Errorf("%q is not the value of a field", s.Fetch.UserAgent))
	}
	if s.Fetch.Sign.Directory != "" {
		if _, err := botauth.CheckDirectory(s.Fetch.Sign.Directory); err != nil {
			return bad("fetch.sign.directory", err)
		}
	}
	return nil
}

// checkUpstream refuses what package transport could not use: how names are resolved, authorities, and the upstream
// proxy.
func (s *Settings) checkUpstream(bad func(string, error) error) error {
	for path, o := range map[string]transport.Options{
		"upstream.resolve": {Resolve: s.Upstream.Resolve}, "upstream.ca_file": {CAFile: s.Upstream.CAFile},
		"proxy.upstream": {Upstream: s.Proxy.Upstream},
	} {
		if s.Source[path] == "default" {
			continue
		}
		if _, err := transport.New(o); err != nil {
			return bad(path, err)
		}
	}
	return nil
}

// checkModels refuses configurations of models (of text, embeddings, reranking) of which no client can be made.
func (s *Settings) checkModels(bad func(string, error) error) error {
	for _, l := range []struct {
		section string
		model   ModelConfig
	}{{"llm", s.LLM.ModelConfig}, {"embeddings", s.Embeddings}, {"rerank", s.Reranker()}} {
		if l.model.Provider == "none" {
			continue
		}
		if _, err := l.model.Client(l.section, llm.Options{Transport: http.DefaultTransport}); err != nil {
			return err
		}
	}
	if s.Embeddings.Provider == "anthropic" {
		return bad("embeddings.provider", errors.New("anthropic has no embeddings: use openai or ollama"))
	}
	return nil
}
