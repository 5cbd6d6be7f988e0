package llm

import (
	"encoding/json"
	"net/http"
	"strings"
)

// anthropic speaks Anthropic's Messages API, which has no embeddings and no JSON mode.
type anthropic struct{}

func (*anthropic) adapt(any, string) bool { return false }

// authorise sends the key as Anthropic's API takes it.
func (*anthropic) authorise(h http.Header, key string) {
	h.Set("X-Api-Key", key)
	h.Set("Anthropic-Version", "2023-06-01")
}

// chat returns the path and content of a request to Anthropic's Messages API.
func (*anthropic) chat(model string, p *Prompt) (string, any, error) {
	body := map[string]any{"model": model, "max_tokens": p.MaxTokens, "messages": []message{{"user", p.User}}}
	if p.System != "" {
		body["system"] = p.System
	}
	return "messages", body, nil
}

// readChat reads an answer of Anthropic's Messages API.
func (*anthropic) readChat(content []byte) (*Answer, error) {
	var v struct {
		Content []struct {
			Type string `json:"type"`
			Text string `json:"text"`
		} `json:"content"`
		StopReason string `json:"stop_reason"`
		Usage      struct {
			InputTokens  int `json:"input_tokens"`
			OutputTokens int `json:"output_tokens"`
		} `json:"usage"`
	}
	if err := json.Unmarshal(content, &v); err != nil {
		return nil, unreadable(err)
	}
	switch v.StopReason {
	case "refusal":
		return nil, &Error{Kind: Refused, Message: "the model refused"}
	case "max_tokens", "model_context_window_exceeded":
		return nil, cut()
	}
	var text strings.Builder
	for _, part := range v.Content {
		if part.Type == "text" {
			text.WriteString(part.Text)
		}
	}
	return &Answer{Text: text.String(), Usage: Usage{Prompt: v.Usage.InputTokens, Completion: v.Usage.OutputTokens}}, nil
}

func (*anthropic) embed(string, []string) (string, any, error) {
	return "", nil, &Error{Kind: BadRequest, Message: "Anthropic has no embeddings"}
}

func (*anthropic) readEmbed([]byte) (*Vectors, error) { return &Vectors{}, nil }
