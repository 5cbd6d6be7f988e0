package wiring

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/readthru/readthru/api/firecrawl"
	"github.com/readthru/readthru/cmd/readthru/internal/settings"
	"github.com/readthru/readthru/cmd/readthru/internal/terminal"
	"github.com/readthru/readthru/crawl"
	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/internal/llm"
	"github.com/readthru/readthru/internal/summary"
	"github.com/readthru/readthru/internal/transport"
	"github.com/readthru/readthru/knowledge"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// openModels creates clients of the configured models.
func (c *Core) openModels() (err error) {
	s := c.settings
	if c.chat, err = c.model("llm", s.LLM.ModelConfig, s.LLM.MaxContext); err != nil {
		return err
	}
	if c.embeddings, err = c.model("embeddings", s.Embeddings, 0); err != nil {
		return err
	}
	if c.reranker, err = c.model("rerank", s.Reranker(), 0); err != nil {
		return err
	}
	return c.openSearXNG()
}

// openSearXNG creates a client of the configured search engine; none if the program is offline.
func (c *Core) openSearXNG() (err error) {
	address := c.settings.Search.SearXNGURL
	if address == "" || c.offline.Load() {
		return nil
	}
	c.searxng, err = firecrawl.NewSearXNG(address, endpoint{c.transport},
		func(service, about string, bytes int64, why string) error {
			return c.store.Disclose(store.Disclosure{
				Service: service, URL: page.MaskString(about), Bytes: bytes, Why: why, Rule: "search.searxng_url",
			})
		})
	if err != nil {
		return terminal.Usagef("search.searxng_url: %w", err)
	}
	return nil
}

// model returns a client of a configured model; nil if there is none, or if the program is offline.
func (c *Core) model(section string, m settings.ModelConfig, maxContext int) (*llm.Client, error) {
	if m.Provider == "none" || c.offline.Load() {
		return nil, nil
	}
	rule := section + ".provider " + m.Provider
	if section == "rerank" {
		rule = "rerank.base_url"
	}
	disclose := func(service, about string, bytes int64, why string) error {
		return c.store.Disclose(store.Disclosure{
			Service: service, URL: page.MaskString(about), Bytes: bytes, Why: why, Rule: rule,
		})
	}
	return m.Client(section, llm.Options{
		MaxContext: maxContext, Transport: endpoint{c.transport}, Disclose: disclose, Observe: c.observer("model"),
	})
}

// observer returns what is told how long a part of the work took.
func (c *Core) observer(part string) func(took time.Duration) {
	return func(took time.Duration) { c.times.Observe(part, took) }
}

// services returns the third parties that the configuration lets be asked, by their names in the ledger, and whether
// each runs on this machine.
func (c *Core) services() map[string]bool {
	list, now := map[string]bool{}, c.now.Load()
	if now.MarkdownNew.Mode != "off" {
		list[fetch.MarkdownNewService] = false
	}
	for _, m := range []*llm.Client{c.chat, c.embeddings, c.reranker} {
		if m != nil {
			list[m.Service()] = m.Local()
		}
	}
	if c.searxng != nil {
		list[c.searxng.Service()] = page.Loopback(c.searxng.Address.Hostname())
	}
	if cmp.Or(now.AskedService(), now.Crawl.Service) == "firecrawl" {
		list[crawl.FirecrawlService] = false
	}
	return list
}

// endpoint connects to the configured address, private or not, and to no other.
type endpoint struct{ transport *transport.Transport }

// RoundTrip implements [http.RoundTripper].
func (e endpoint) RoundTrip(req *http.Request) (*http.Response, error) {
	return e.transport.RoundTrip(req.WithContext(transport.Endpoint(req.Context(), req.URL)))
}

// withhold returns what reports whether a document of a private host must not be sent to some models. Models on this
// machine may get all.
func (c *Core) withhold(models ...*llm.Client) func(d *knowledge.Document) bool {
	return func(d *knowledge.Document) bool {
		if !slices.ContainsFunc(models, func(m *llm.Client) bool { return !local(m) }) {
			return false
		}
		u, err := url.Parse(d.URL)
		if err != nil || u.Host == "" {
			return false // a file or a text that a user added
		}
		return !c.fetcher.MayDisclose(u)
	}
}

// local reports whether a model, if there is one, runs on this machine.
func local(m *llm.Client) bool { return m == nil || m.Local() }

// summaries returns a maker of summaries that stores them.
func (c *Core) summaries() *summary.Maker {
	return summary.New(summary.Options{
		Model: c.chat, MayLeave: c.fetcher.CheckDisclosure, Content: c.contentOf,
		Clean: func(md string) string { return string(cleanText([]byte(md), true)) },
		Defines: func(ctx context.Context, name string, code []byte) string {
			b := c.symbols.Begin(ctx)
			b.Add(name, code)
			return b.Map(0).Outline()
		},
		Kept: func(p *page.Page) (list []summary.Summary) {
			for _, s := range c.store.Summaries(page.KeyOf(p.NormalizedURL)) {
				if s.ContentHash == p.ContentHash {
					list = append(list, summary.Summary{
						Kind: summary.Kind(s.Kind), Text: s.Text, By: s.By, Model: s.Model, Part: s.Part, Weak: s.Weak,
						Time: s.Time, Took: s.Took,
						Usage: llm.Usage{Prompt: s.PromptTokens, Completion: s.CompletionTokens},
					})
				}
			}
			return list
		},
		Keep: func(p *page.Page, s summary.Summary) error {
			return c.store.AddSummary(page.KeyOf(p.NormalizedURL), store.Summary{
				ContentHash: p.ContentHash, Kind: string(s.Kind), Text: s.Text, By: s.By, Model: s.Model, Part: s.Part,
				Weak: s.Weak, Time: s.Time, Took: s.Took,
				PromptTokens: s.Usage.Prompt, CompletionTokens: s.Usage.Completion,
			})
		},
		Log: c.log,
	})
}

// contentOf returns the markdown of a stored page in the version that its content hash names.
func (c *Core) contentOf(p *page.Page) (markdown string, ok bool) {
	k := page.KeyOf(p.NormalizedURL)
	versions, err := c.store.Versions(k)
	if err != nil {
		return "", false
	}
	for _, v := range versions {
		if v.ContentHash == p.ContentHash {
			content, err := c.store.VersionMarkdown(k, v)
			return string(content), err == nil
		}
	}
	return "", false
}
