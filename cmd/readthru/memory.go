package main

import (
	"cmp"
	"context"
	"fmt"
	"mime"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"readthru/convert"
	"readthru/crawl"
	"readthru/fetch"
	"readthru/knowledge"
	"readthru/llm"
	"readthru/page"
	"readthru/store"
)

// openKnowledge opens the index on top of the store, with the models that are configured.
func (c *core) openKnowledge() error {
	s := c.settings
	model, err := c.model("llm", s.LLM)
	if err != nil {
		return err
	}
	embeddings, err := c.model("embeddings", s.Embeddings)
	if err != nil {
		return err
	}
	c.knowledge, err = knowledge.Open(knowledge.Options{
		Store: c.store, PassageChars: s.Knowledge.PassageChars, Convert: convertFile, Model: model, Embeddings: embeddings, Withhold: c.withhold, Log: c.log,
	})
	if err != nil {
		return fmt.Errorf("open the index: %w", err)
	}
	return nil
}

// model returns a client of a configured model; nil when there is none, or nothing may leave.
func (c *core) model(section string, m modelConfig) (*llm.Client, error) {
	if m.Provider == "none" || c.offline {
		return nil, nil
	}
	client, err := llm.New(llm.Options{
		Provider: m.Provider, BaseURL: m.BaseURL, Model: m.Model, APIKey: m.APIKey, Transport: endpoint{c.transport},
		Disclose: func(service, about string, bytes int64, why string) error {
			return c.store.Disclose(store.Disclosure{Service: service, URL: page.MaskString(about), Bytes: bytes, Why: why, Rule: section + ".provider " + m.Provider})
		},
	})
	if err != nil {
		return nil, usageError{fmt.Errorf("%s: %w", section, err)}
	}
	return client, nil
}

// endpoint reaches what the operator configured, private or not, and nothing else.
type endpoint struct{ transport *fetch.Transport }

func (e endpoint) RoundTrip(req *http.Request) (*http.Response, error) {
	return e.transport.RoundTrip(req.WithContext(fetch.Endpoint(req.Context(), req.URL)))
}

// withhold keeps documents of private hosts back from models, unless all models run on this machine.
func (c *core) withhold(d *knowledge.Document) bool {
	if local(c.settings.LLM) && local(c.settings.Embeddings) {
		return false
	}
	u, err := url.Parse(d.URL)
	if err != nil || u.Host == "" {
		return false // a file or a text: it was put into a knowledge base by hand
	}
	return !c.fetcher.MayLeave(u)
}

// local reports whether a model, if there is one, runs on this machine.
func local(m modelConfig) bool {
	if m.Provider == "none" || m.Provider == llm.Ollama && m.BaseURL == "" {
		return true
	}
	u, err := url.Parse(m.BaseURL)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return u.Hostname() == "localhost" || err == nil && ip.IsLoopback()
}

// convertFile makes markdown of a file by its name.
func convertFile(ctx context.Context, name string, content []byte) (title, markdown string, err error) {
	kind := mime.TypeByExtension(strings.ToLower(filepath.Ext(name)))
	doc, err := convert.Parse(ctx, content, kind, nil)
	if err != nil {
		return "", "", err
	}
	res, err := doc.Convert(ctx, convert.Options{})
	if err != nil {
		return "", "", err
	}
	return res.Title, res.Markdown, nil
}

// crawlService returns the crawl service as configured. The names that other tools use in the environment are heeded where ours
// are not set (rule D9).
func (c *core) crawlService() (crawl.Service, error) {
	s := c.settings
	set := s.Crawl
	if s.source["crawl.service"] == "default" {
		set.Service = cmp.Or(os.Getenv("CRAWL_SERVICE"), set.Service)
	}
	if s.source["crawl.firecrawl_url"] == "default" {
		set.FirecrawlURL = cmp.Or(os.Getenv("FIRECRAWL_BASE_URL"), set.FirecrawlURL)
	}
	if set.Service == "firecrawl" && c.offline {
		return nil, errOffline
	}
	if set.Interval == 0 {
		set.Interval = -1 // none at all; to crawl, 0 is the default
	}
	return crawl.New(set.Service, crawl.Config{
		Fetcher: c.fetcher, Workers: set.Workers, Interval: set.Interval, Log: c.log,
		Firecrawl: crawl.FirecrawlConfig{BaseURL: set.FirecrawlURL, Key: cmp.Or(set.FirecrawlKey, os.Getenv("FIRECRAWL_API_KEY")), Client: c.transport},
	})
}
