package llm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
)

// openAI speaks the API of OpenAI's chat completions and embeddings. Many servers implement it, each without some of
// its parameters.
type openAI struct {
	mu    sync.Mutex
	lacks map[string]bool // parameters that the endpoint refused
}

// optional are the parameters that can be left out of a request.
var optional = []string{"response_format", "temperature", "max_tokens", "encoding_format"}

// adapt learns from an endpoint's refusal which optional parameter it does not know, by the name in the message, and
// reports whether to ask again without it. Endpoints that call themselves compatible differ in these.
func (o *openAI) adapt(body any, message string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	sent, _ := body.(map[string]any)
	again := false
	for _, name := range optional {
		if _, had := sent[name]; had && strings.Contains(message, name) { // also if another call has learnt it meanwhile
			if o.lacks == nil {
				o.lacks = map[string]bool{}
			}
			o.lacks[name], again = true, true
		}
	}
	return again
}

// has reports whether the endpoint accepts a parameter, as far as is known.
func (o *openAI) has(name string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return !o.lacks[name]
}

// authorise sends the key as OpenAI's API takes it.
func (*openAI) authorise(h http.Header, key string) { h.Set("Authorization", "Bearer "+key) }

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// messages returns a prompt in the form of OpenAI and Ollama.
func messages(p *Prompt) []message {
	list := []message{{"user", p.User}}
	if p.System != "" {
		list = []message{{"system", p.System}, list[0]}
	}
	return list
}

// chat returns the path and content of a request to OpenAI's chat completions.
func (o *openAI) chat(model string, p *Prompt) (string, any, error) {
	body := map[string]any{"model": model, "messages": messages(p), "stream": false}
	if o.has("temperature") {
		body["temperature"] = 0
	}
	if o.has("max_tokens") {
		body["max_tokens"] = p.MaxTokens
	} else { // newer models also count their reasoning and renamed the parameter
		body["max_completion_tokens"] = p.MaxTokens
	}
	if p.JSON && o.has("response_format") {
		body["response_format"] = map[string]string{"type": "json_object"}
	}
	return "chat/completions", body, nil
}

// readChat reads an answer of OpenAI's chat completions. One that was refused, filtered or cut is an error.
func (*openAI) readChat(content []byte) (*Answer, error) {
	var v struct {
		Choices []struct {
			Message struct {
				Content string `json:"content"`
				Refusal string `json:"refusal"`
			} `json:"message"`
			FinishReason string `json:"finish_reason"`
		} `json:"choices"`
		Usage openAIUsage `json:"usage"`
	}
	if err := json.Unmarshal(content, &v); err != nil {
		return nil, unreadable(err)
	}
	if len(v.Choices) == 0 {
		return nil, &Error{Kind: Malformed, Message: "the answer has no choice"}
	}
	choice := &v.Choices[0]
	switch {
	case choice.Message.Refusal != "":
		return nil, &Error{Kind: Refused, Message: "the model refused: " + choice.Message.Refusal}
	case choice.FinishReason == "content_filter":
		return nil, &Error{Kind: Refused, Message: "the answer was filtered"}
	case choice.FinishReason == "length":
		return nil, cut()
	}
	return &Answer{Text: choice.Message.Content, Usage: v.Usage.usage()}, nil
}

// embed returns the path and content of a request for embeddings.
func (o *openAI) embed(model string, texts []string) (string, any, error) {
	body := map[string]any{"model": model, "input": texts}
	if o.has("encoding_format") {
		body["encoding_format"] = "float"
	}
	return "embeddings", body, nil
}

// readEmbed reads an answer with embeddings, which are in the order that their indexes say.
func (*openAI) readEmbed(content []byte) (*Vectors, error) {
	var v struct {
		Data []struct {
			Index     int     `json:"index"`
			Embedding numbers `json:"embedding"`
		} `json:"data"`
		Usage openAIUsage `json:"usage"`
	}
	if err := json.Unmarshal(content, &v); err != nil {
		return nil, unreadable(err)
	}
	vectors := make([][]float32, len(v.Data))
	for _, d := range v.Data {
		if d.Index < 0 || d.Index >= len(vectors) || vectors[d.Index] != nil {
			return nil, &Error{Kind: Malformed, Message: fmt.Sprintf("a vector has the wrong index %d", d.Index)}
		}
		vectors[d.Index] = d.Embedding
	}
	return &Vectors{Vectors: vectors, Usage: v.Usage.usage()}, nil
}

// numbers is a vector, without null, which stands for NaN in the answers of some servers, and which package json would
// read as 0.
type numbers []float32

// UnmarshalJSON reads an array of numbers.
func (n *numbers) UnmarshalJSON(content []byte) error {
	if bytes.Contains(content, []byte("null")) {
		return errors.New("a vector has null for a number")
	}
	return json.Unmarshal(content, (*[]float32)(n))
}

type openAIUsage struct {
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`
}

func (u openAIUsage) usage() Usage {
	return Usage{Prompt: u.PromptTokens, Completion: u.CompletionTokens}
}
