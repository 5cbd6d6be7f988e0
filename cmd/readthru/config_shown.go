package main

import (
	"slices"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/page"
)

// secretKeys are keys whose values are never shown.
var secretKeys = []string{
	"admin.token", "proxy.upstream", "github.token", "llm.api_key", "embeddings.api_key", "rerank.api_key",
	"crawl.firecrawl_key", "fleet.database", "fleet.bodies",
}

// urlKeys are keys whose URLs are shown without a password.
var urlKeys = []string{
	"markdown_new.base_url", "llm.base_url", "embeddings.base_url", "rerank.base_url", "crawl.firecrawl_url",
	"search.searxng_url",
}

// shown returns the configuration with the source of each value. Secrets are masked.
func (s *settings) shown() []api.Setting {
	rows := []api.Setting{
		{Key: "data_dir", Value: s.dataDir, Source: s.source["data_dir"]},
		{Key: "config", Value: s.configFile, Source: s.source["config"]},
	}
	if s.configFile == "" {
		rows[1].Value, rows[1].Source = userFile(), "default, missing"
	}
	for _, l := range s.leaves() {
		v := plain(l.value)
		if slices.Contains(secretKeys, l.path) && v != "" {
			v = page.SecretMask
		}
		if raw, ok := v.(string); ok && slices.Contains(urlKeys, l.path) {
			v = page.MaskString(raw)
		}
		rows = append(rows, api.Setting{Key: l.path, Value: v, Source: s.source[l.path]})
	}
	return rows
}
