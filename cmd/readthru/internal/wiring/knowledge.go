package wiring

import (
	"cmp"
	"context"
	"fmt"
	"mime"
	"os"
	"path/filepath"
	"strings"

	"github.com/readthru/readthru/convert"
	"github.com/readthru/readthru/crawl"
	"github.com/readthru/readthru/internal/transport"
	"github.com/readthru/readthru/knowledge"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// openKnowledge opens the index over the store, with the configured models.
func (c *Core) openKnowledge() (err error) {
	c.knowledge, err = knowledge.Open(knowledge.Options{
		Store: c.store, PassageChars: c.settings.Knowledge.PassageChars, Convert: convertFile, Observe: c.observer("index"),
		Decode: convert.UTF8, Cleaner: cleaner,
		Model: c.chat, Embeddings: c.embeddings, Withhold: c.withhold(c.chat, c.embeddings), Log: c.log,
		Reranker: c.reranker, WithholdRanked: c.withhold(c.reranker),
		Journal: c.doing,
		Anchors: func(key page.Key) []page.Anchor { return c.fetcher.Anchors(key) },
	})
	if err != nil {
		return fmt.Errorf("open the index: %w", err)
	}
	return nil
}

// cleaner cleans the texts of others that are stored.
var cleaner = store.Cleaner{Edition: convert.CleanEdition, Clean: cleanText}

// cleanText removes, as the conversion does, from a text of others what no reader sees.
func cleanText(text []byte, markdown bool) []byte {
	if markdown {
		return convert.CleanMarkdown(text, "", nil).Text
	}
	return convert.CleanText(text, "").Text
}

// convertFile converts a file to markdown by its name.
func convertFile(ctx context.Context, name string, content []byte) (title, markdown string, err error) {
	kind := mime.TypeByExtension(strings.ToLower(filepath.Ext(name)))
	doc, err := convert.Parse(ctx, content, kind, page.SavedFrom(content))
	if err != nil {
		return "", "", err
	}
	res, err := doc.Convert(ctx, convert.Options{})
	if err != nil {
		return "", "", err
	}
	return res.Title, res.Markdown, nil
}

// CrawlService returns a crawl service by its name, or the configured one.
func (c *Core) crawlService(name string) (crawl.Service, error) {
	s := c.settings
	set := s.Crawl
	set.Service = s.CrawlService(name)
	if s.Source["crawl.firecrawl_url"] == "default" {
		set.FirecrawlURL = cmp.Or(os.Getenv("FIRECRAWL_BASE_URL"), set.FirecrawlURL)
	}
	if set.Service == "firecrawl" && c.offline.Load() {
		return nil, transport.ErrOffline
	}
	config := c.crawlConfig()
	config.Firecrawl = crawl.FirecrawlConfig{
		BaseURL: set.FirecrawlURL,
		Key:     cmp.Or(set.FirecrawlKey, os.Getenv("FIRECRAWL_API_KEY")), Client: c.transport,
	}
	return crawl.New(set.Service, config)
}

// crawlConfig returns the configuration of the crawler.
func (c *Core) crawlConfig() crawl.Config {
	set := c.settings.Crawl
	if set.Interval == 0 {
		set.Interval = -1 // none; to package crawl, 0 is the default
	}
	return crawl.Config{Fetcher: c.fetcher, Workers: set.Workers, Interval: set.Interval, Turn: c.turn, Log: c.log}
}
