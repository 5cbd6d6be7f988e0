package main

import (
	"encoding/json"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

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

func (p *program) configCommand() *cli.Command {
	return &cli.Command{
		Name:  "config",
		Usage: "print the configuration with the source of each value",
		Flags: []cli.Flag{jsonFlag()},
		Action: func(c *cli.Context) error {
			s, err := p.loadAlone(c)
			if err != nil {
				return err
			}
			rows := s.shown()
			p.unknownVariables(s)
			if c.Bool("json") {
				return p.printJSON(rows)
			}
			var cells [][]string
			for _, r := range rows {
				text, err := json.Marshal(r.Value)
				if err != nil {
					return err
				}
				value := string(text)
				if t, ok := r.Value.(string); ok && t != "" {
					value = t
				}
				cells = append(cells, []string{r.Key, value, r.Source})
			}
			// values are not cut: a part would be wrong
			_, err = io.WriteString(p.out, layout([]string{"KEY", "VALUE", "FROM"}, cells, 0))
			return err
		},
	}
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

// unknownVariables warns of environment variables that look like keys but are not: a misspelt one has no effect.
func (p *program) unknownVariables(s *settings) {
	known := []string{"READTHRU_DATA_DIR", "READTHRU_CONFIG", "READTHRU_SESSION", replayVariable}
	for _, l := range s.leaves() {
		known = append(known, "READTHRU_"+strings.ToUpper(strings.ReplaceAll(l.path, ".", "_")))
	}
	for _, e := range os.Environ() {
		if name, _, _ := strings.Cut(e, "="); strings.HasPrefix(name, "READTHRU_") && !slices.Contains(known, name) {
			p.note("warning: %s is not a key of the configuration", name)
		}
	}
}
