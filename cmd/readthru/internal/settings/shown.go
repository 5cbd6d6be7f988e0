package settings

import (
	"slices"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/page"
)

// secretKeys are keys whose values are never shown.
var secretKeys = []string{
	"admin.token", "proxy.upstream", "github.token", "oidc.client_secret", "llm.api_key",
	"embeddings.api_key", "rerank.api_key",
	"crawl.firecrawl_key", "fleet.database", "fleet.bodies",
}

// urlKeys are keys whose URLs are shown without a password.
var urlKeys = []string{
	"markdown_new.base_url", "llm.base_url", "embeddings.base_url", "rerank.base_url", "crawl.firecrawl_url",
	"search.searxng_url",
}

// Shown returns the configuration with the source of each value. Secrets are masked.
func (s *Settings) Shown() []api.Setting {
	rows := []api.Setting{
		{Key: "data_dir", Value: s.DataDir, Source: s.Source["data_dir"]},
		{Key: "config", Value: s.ConfigFile, Source: s.Source["config"]},
	}
	if s.ConfigFile == "" {
		rows[1].Value, rows[1].Source = userFile(), "default, missing"
	}
	for _, l := range s.Leaves() {
		v := plain(l.value)
		if slices.Contains(secretKeys, l.Path) && v != "" {
			v = page.SecretMask
		}
		if raw, ok := v.(string); ok && slices.Contains(urlKeys, l.Path) {
			v = page.MaskString(raw)
		}
		rows = append(rows, api.Setting{Key: l.Path, Value: v, Source: s.Source[l.Path]})
	}
	return rows
}
