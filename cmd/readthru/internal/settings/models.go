package settings

import (
	"os"
	"time"

	"github.com/readthru/readthru/cmd/readthru/internal/terminal"
	"github.com/readthru/readthru/internal/llm"
)

// Reranker returns the configured reranker as a model. Its one request is that of the servers that speak OpenAI's API.
func (s *Settings) Reranker() ModelConfig {
	m := ModelConfig{Provider: "none"}
	if r := s.Rerank; r.BaseURL != "" {
		m = ModelConfig{Provider: llm.OpenAI, BaseURL: r.BaseURL, Model: r.Model, APIKey: r.APIKey, Timeout: time.Minute}
	}
	return m
}

// Client returns a client of the model that a section of the configuration describes.
func (m ModelConfig) Client(section string, o llm.Options) (*llm.Client, error) {
	o.Provider, o.BaseURL, o.Model, o.APIKey, o.Timeout = m.Provider, m.BaseURL, m.Model, m.key(), m.Timeout
	client, err := llm.New(o)
	if err != nil {
		err = terminal.Usagef("%s: %w", section, err)
		if m.Model == "" {
			off := section + ".provider to none"
			if section == "rerank" {
				off = "rerank.base_url to nothing"
			}
			err = terminal.WithHint(err, "set "+section+".model, or set "+off)
		}
		return nil, err
	}
	return client, nil
}

// key returns the configured key, else that of the environment variable that the provider's own programs read. The
// latter is sent only to the provider's own address.
func (m ModelConfig) key() string {
	if m.APIKey != "" || m.BaseURL != "" {
		return m.APIKey
	}
	return os.Getenv(map[string]string{llm.OpenAI: "OPENAI_API_KEY", llm.Anthropic: "ANTHROPIC_API_KEY"}[m.Provider])
}
