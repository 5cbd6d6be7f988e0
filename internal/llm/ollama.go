package llm

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// ollama speaks Ollama's own API, because only that API can set the size of the context. The default is small, and
// Ollama silently truncates a longer prompt.
type ollama struct{ maxContext int }

const (
	bytesPerToken = 2   // a cautious estimate: most tokens stand for more text
	formatTokens  = 256 // tokens that the model's own format may add to a prompt
)

// room returns the maximum length of a prompt in bytes if its answer may have maxTokens.
func (o *ollama) room(maxTokens int) int {
	return (o.maxContext - maxTokens - formatTokens) * bytesPerToken
}

func (*ollama) adapt(any, string) bool { return false }

func (*ollama) authorise(h http.Header, key string) { h.Set("Authorization", "Bearer "+key) }

// chat returns the path and content of a request to Ollama's chat API, with a context that is large enough for prompt
// and answer. The error is an [*Error] with TooLong if the largest context is not.
func (o *ollama) chat(model string, p *Prompt) (string, any, error) {
	// Use few sizes of context: Ollama reloads the model whenever the size changes.
	need := (len(p.System)+len(p.User)+1)/bytesPerToken + p.MaxTokens + formatTokens
	if need > o.maxContext {
		words := fmt.Sprintf("the prompt may need a context of %d tokens; the maximum is %d", need, o.maxContext)
		return "", nil, &Error{Kind: BadRequest, Message: words, TooLong: true}
	}
	size := 4096
	for size < need {
		size *= 2
	}
	body := map[string]any{
		"model": model, "messages": messages(p), "stream": false,
		"options": map[string]any{"temperature": 0, "num_ctx": min(size, o.maxContext), "num_predict": p.MaxTokens},
	}
	if p.JSON {
		body["format"] = "json"
	}
	return "api/chat", body, nil
}

// readChat reads an answer of Ollama's chat API.
func (*ollama) readChat(content []byte) (*Answer, error) {
	var v struct {
		Message    message `json:"message"`
		Done       bool    `json:"done"`
		DoneReason string  `json:"done_reason"`
		Prompt     int     `json:"prompt_eval_count"`
		Completion int     `json:"eval_count"`
		Error      string  `json:"error"`
	}
	if err := json.Unmarshal(content, &v); err != nil {
		return nil, unreadable(err)
	}
	switch {
	case v.Error != "":
		return nil, &Error{Kind: Trouble, Message: v.Error}
	case v.DoneReason == "length" || !v.Done:
		return nil, cut()
	}
	return &Answer{Text: v.Message.Content, Usage: Usage{Prompt: v.Prompt, Completion: v.Completion}}, nil
}

func (*ollama) embed(model string, texts []string) (string, any, error) {
	// Of a text that is longer than the model's context, only the beginning is embedded: a vector is an approximation.
	return "api/embed", map[string]any{"model": model, "input": texts, "truncate": true}, nil
}

// readEmbed reads an answer of Ollama's API for embeddings.
func (*ollama) readEmbed(content []byte) (*Vectors, error) {
	var v struct {
		Embeddings []numbers `json:"embeddings"`
		Prompt     int       `json:"prompt_eval_count"`
	}
	if err := json.Unmarshal(content, &v); err != nil {
		return nil, unreadable(err)
	}
	vectors := make([][]float32, len(v.Embeddings))
	for i, x := range v.Embeddings {
		vectors[i] = x
	}
	return &Vectors{Vectors: vectors, Usage: Usage{Prompt: v.Prompt}}, nil
}
