package settings

import (
	"strings"
	"testing"

	"github.com/readthru/readthru/convert"
)

// Each value is refused with its key by whatever reads the configuration, and not first where it is used.
func TestValuesThatCannotWorkAreRefused(t *testing.T) {
	for _, tt := range []struct{ yaml, want string }{
		{"proxy: {listen: nonsense}", "proxy.listen: \"nonsense\" is not an address"},
		{"admin: {listen: '0.0.0.0:0'}", "admin.listen: 0.0.0.0:0 is reachable from other machines"},
		{"proxy: {users: [{name: ann}]}", "proxy.users: "},
		{"oidc: {issuer: nope}", "oidc.issuer: \"nope\" is not a URL like https://"},
		{"oidc: {issuer: 'http://login.test', client_id: us}", "oidc.issuer: \"http://login.test\" is not a URL like https"},
		{"oidc: {issuer: 'https://login.test'}", "oidc.client_id: is empty"},
		{"proxy: {upstream: 'ftp://x'}", "proxy.upstream: "},
		{"proxy: {upstream: proxy}", "proxy.upstream: \"proxy\" is not a URL with a host"},
		{"proxy: {direct: ['http://x/']}", "proxy.direct: \"http://x/\" is not a host"},
		{"proxy: {connect_ports: [0]}", "proxy.connect_ports: 0 is not a port"},
		{"admin: {hosts: ['a.test:80']}", "admin.hosts: \"a.test:80\" is not a host such as a.example or *.a.example: write a.test"},
		{"rules: [{host: '*[', action: tunnel}]", "rules: rule 1: \"*[\" is not a host"},
		{"rules: [{action: block}, {host: 'https://a.test', action: block}]", "rules: rule 2: \"https://a.test\" is not a host"},
		{"rules: [{host: a.test, path: docs, action: block}]", "rules: rule 1: \"docs\" is not a path"},
		{"rules: [{host: a.test}]", "rules: rule 1: the rule says nothing"},
		{"rules: [{host: a.test, ttl: -1h}]", "rules: rule 1: ttl -1h0m0s is negative"},
		{"blocked_domains: ['https://a.test']", "blocked_domains: \"https://a.test\" is not a host"},
		{"blocked_domains: ['']", "blocked_domains: the name of a host is empty"},
		{"fetch: {timeout: 0s}", "fetch.timeout: 0s is too short"},
		{"fetch: {max_body: 0}", "fetch.max_body: 0 is below 1"},
		{"fetch: {user_agent: \"a\\r\\nb\"}", "fetch.user_agent: "},
		{"crawl: {workers: 0}", "crawl.workers: 0 is below 1"},
		{"crawl: {interval: -1s}", "crawl.interval: -1s is too short"},
		{"crawl: {firecrawl_url: nope}", "crawl.firecrawl_url: \"nope\" is not a URL with a host"},
		{"markdown_new: {base_url: 'ftp://a.test'}", "markdown_new.base_url: \"ftp://a.test\" does not begin with http:// or https://"},
		{"github: {api_url: 'https://u:pw@'}", "github.api_url: \"***\" is not a URL with a host"},
		{"search: {searxng_url: nope}", "search.searxng_url: "},
		{"llm: {provider: openai}", "llm: the model's name is missing"},
		{"llm: {provider: openai, model: m, base_url: nope}", "llm: the model's base URL"},
		{"embeddings: {provider: anthropic, model: m}", "embeddings.provider: anthropic has no embeddings"},
		{"knowledge: {passage_chars: -4}", "knowledge.passage_chars: -4 is below 1"},
		{"render: {concurrency: -2}", "render.concurrency: -2 is below 0"},
		{"render: {attach: nope}", "render.attach: \"nope\" is not a URL with a host"},
		{"cache: {targeted: ['CDN Cache']}", "cache.targeted: \"CDN Cache\" is not the name of a field"},
		{"forges: [{url: 'https://a.test'}]", "forges: forge 1 lacks a kind"},
		{"upstream: {resolve: [x]}", "upstream.resolve: "},
		{"pages: {with_cookies: remember}", "pages.with_cookies: remember needs cache.mode private"},
	} {
		s := &Settings{Config: Defaults(), Source: map[string]string{}}
		if err := s.readYAML("file", []byte(tt.yaml)); err != nil {
			t.Errorf("%s: %v", tt.yaml, err)
		} else if err = s.Check(); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s", tt.yaml, err, tt.want)
		} else if strings.Contains(err.Error(), "pw") {
			t.Errorf("%s: %v tells a password", tt.yaml, err)
		}
	}
}

// What the converter can write may be configured, and nothing else.
func TestFormsOfTheConverterAreTaken(t *testing.T) {
	for key, forms := range map[string][]string{"links": convert.LinkForms, "images": convert.ImageForms} {
		s := &Settings{Config: Defaults(), Source: map[string]string{}}
		for _, form := range forms {
			if err := s.readYAML("file", []byte("convert: {"+key+": "+form+"}")); err != nil {
				t.Error(err)
			}
		}
		want := `"x" is not one of ` + strings.Join(forms, ", ")
		if err := s.readYAML("file", []byte("convert: {"+key+": x}")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestValuesThatWorkAreTaken(t *testing.T) {
	for _, yaml := range []string{
		"proxy: {direct: ['*', .corp.test, '10.0.0.0/8', 'a.test:8080', '[::1]:80', '::1']}",
		"blocked_domains: ['*.a.test', .b.test, www.c.test]",
		"rules: [{host: '::1', action: tunnel}, {path: '/docs/*', ttl: 1h}, {host: a.test, cascade: [local]}]",
		"render: {attach: 'ws://127.0.0.1:9222/devtools'}",
		"crawl: {interval: 0s}",
		"llm: {provider: ollama, model: m}",
	} {
		s := &Settings{Config: Defaults(), Source: map[string]string{}}
		if err := s.readYAML("file", []byte(yaml)); err != nil {
			t.Errorf("%s: %v", yaml, err)
		} else if err := s.Check(); err != nil {
			t.Errorf("%s: %v", yaml, err)
		}
	}
}
