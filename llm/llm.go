// Package llm asks models: chat and embeddings over OpenAI-compatible endpoints, Anthropic's and Ollama's.
//
// A [Client] speaks to one model at one endpoint. It asks again where that may help, keeps to what the endpoint says of
// its limits, leaves one in trouble alone for a while, and follows no redirect. What it sends is told to
// [Options].Disclose first; what it receives is bounded and taken for foreign. The key stands in a field of the request
// and nowhere else: not in an error, not in what Disclose is told.
//
// A model is always optional: every error leaves the caller something to fall back to, and is an [*Error] that says
// what kind of trouble it is.
package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"time"
)

// Names of [Options].Provider.
const (
	OpenAI    = "openai" // and whatever speaks like it: Ollama, LM Studio, llama.cpp, vLLM …
	Anthropic = "anthropic"
	Ollama    = "ollama"
)

// Options configures a Client.
type Options struct {
	Provider string // OpenAI, Anthropic or Ollama
	BaseURL  string // where the provider's paths begin; if empty, the provider's own address
	Model    string
	APIKey   string // if empty, none is sent

	// Transport sends the requests, and decides which addresses may be reached. Required.
	Transport http.RoundTripper

	// Disclose is told of every request before it is sent: to whom, about what (Prompt.About, else the endpoint), how many
	// bytes and why. On an error nothing is sent. If nil, nobody is told.
	Disclose func(service, url string, bytes int64, why string) error

	Timeout  time.Duration // of one call with everything that is asked again. If zero, a minute
	Attempts int           // how often one call may ask. If zero, 3

	// MaxContext is the largest context that Ollama is asked to hold, in tokens. A prompt that may need more is refused,
	// because Ollama would cut it without a word. If zero, 32768.
	MaxContext int
}

// Client asks one model. It is safe for concurrent use.
type Client struct {
	o        Options
	base     *url.URL
	provider provider
	calls    chan struct{} // one for each call under way

	mu       sync.Mutex
	until    time.Time // the endpoint is left alone until then
	failures int       // in a row
}

// Usage is what a call cost, in tokens as the endpoint counts them; 0 where it does not say.
type Usage struct {
	Prompt     int
	Completion int
}

// Prompt is one question.
type Prompt struct {
	System    string // may be empty
	User      string
	MaxTokens int  // of the answer. If zero, 1024
	JSON      bool // the answer is to be one JSON object: the provider's mode for it is used where there is one

	About string // what the ledger is told the prompt is made of, such as a page's masked URL; if empty, the endpoint
	Why   string // for the ledger
}

// Answer is what a model said.
type Answer struct {
	Text  string // never empty
	Usage Usage
	Took  time.Duration
}

// Vectors are the embeddings of texts, in their order and all of one length.
type Vectors struct {
	Vectors [][]float32
	Usage   Usage
}

// provider is how an endpoint is spoken to. Its methods neither block nor keep anything but what the endpoint refused.
type provider interface {
	chat(model string, p *Prompt) (path string, body any, err error)
	readChat(content []byte) (*Answer, error)
	embed(model string, texts []string) (path string, body any, err error)
	readEmbed(content []byte) (*Vectors, error)
	authorise(h http.Header, key string)

	// adapt learns from the refusal of a body (a status of 400 or 422) what to leave out next time. It reports whether to
	// ask once more: whether the body had what is left out now.
	adapt(body any, message string) bool
}

// New returns a client. The error says which option cannot be used.
func New(o Options) (*Client, error) {
	if o.Timeout <= 0 {
		o.Timeout = time.Minute
	}
	if o.Attempts <= 0 {
		o.Attempts = 3
	}
	if o.MaxContext <= 0 {
		o.MaxContext = 32768
	}
	c := &Client{o: o, calls: make(chan struct{}, maxCalls)}
	var home string
	switch o.Provider {
	case OpenAI:
		home, c.provider = "https://api.openai.com/v1", &openAI{}
	case Anthropic:
		home, c.provider = "https://api.anthropic.com/v1", &anthropic{}
	case Ollama:
		home, c.provider = "http://localhost:11434", &ollama{maxContext: o.MaxContext}
	default:
		return nil, fmt.Errorf("model provider %q is not one of openai, anthropic, ollama", o.Provider)
	}
	if o.BaseURL != "" {
		home = o.BaseURL
	}
	switch u, err := url.Parse(home); {
	case err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "":
		return nil, errors.New("the model's base URL is no http or https address")
	case u.User != nil || u.RawQuery != "":
		return nil, errors.New("the model's base URL holds credentials or a query: give the key as such")
	default:
		c.base = u.JoinPath("/")
	}
	switch {
	case o.Model == "":
		return nil, errors.New("no model is named")
	case o.Transport == nil:
		return nil, errors.New("the model has no transport")
	case strings.ContainsFunc(o.APIKey, func(r rune) bool { return r <= ' ' || r > '~' }):
		return nil, errors.New("the model's key holds what cannot stand in a header field")
	}
	return c, nil
}

// Model returns the model's name.
func (c *Client) Model() string { return c.o.Model }

// Provider returns the provider's name.
func (c *Client) Provider() string { return c.o.Provider }

// Local reports whether the endpoint is on this machine, so that what it is told stays here.
func (c *Client) Local() bool {
	host := c.base.Hostname()
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// Room returns how long a prompt may be whose answer may have maxTokens, System and User together in bytes; 0 when that
// is not known beforehand.
func (c *Client) Room(maxTokens int) int {
	if o, ok := c.provider.(*ollama); ok {
		return max(1, o.room(maxTokens))
	}
	return 0
}

// Chat asks one question. An answer that was refused, cut for its length or empty is an error: it is no answer (rule
// E12).
func (c *Client) Chat(ctx context.Context, p Prompt) (*Answer, error) {
	if p.MaxTokens <= 0 {
		p.MaxTokens = 1024
	}
	begun := time.Now()
	q := question{p.About, p.Why, maxChat, func() (string, any, error) { return c.provider.chat(c.o.Model, &p) }}
	content, err := c.ask(ctx, q)
	if err != nil {
		return nil, err
	}
	a, err := c.provider.readChat(content)
	if err != nil {
		return nil, c.explain(err)
	}
	if a.Text = withoutThoughts(a.Text); a.Text == "" {
		return nil, c.explain(&Error{Kind: Malformed, Message: "the answer is empty"})
	}
	a.Took = time.Since(begun)
	return a, nil
}

// withoutThoughts returns an answer without what open models think aloud before it.
func withoutThoughts(text string) string {
	text = strings.TrimSpace(text)
	if _, said, ok := strings.Cut(text, "</think>"); ok && strings.HasPrefix(text, "<think>") {
		return strings.TrimSpace(said)
	}
	return text
}

// Embed returns the vectors of texts, none of which may be empty. About and why are for the ledger. The lengths of
// vectors from two calls are the caller's to compare.
func (c *Client) Embed(ctx context.Context, texts []string, about, why string) (*Vectors, error) {
	if len(texts) == 0 {
		return &Vectors{}, nil
	}
	q := question{about, why, maxVectors, func() (string, any, error) { return c.provider.embed(c.o.Model, texts) }}
	content, err := c.ask(ctx, q)
	if err != nil {
		return nil, err
	}
	v, err := c.provider.readEmbed(content)
	if err != nil {
		return nil, c.explain(err)
	}
	if err := checkVectors(v.Vectors, len(texts)); err != nil {
		return nil, c.explain(err)
	}
	return v, nil
}

// maxDimension is the longest vector taken. The longest of known models has 8192 numbers.
const maxDimension = 1 << 14

// checkVectors reports what is wrong with an answer's vectors.
func checkVectors(vectors [][]float32, want int) error {
	malformed := func(format string, args ...any) error {
		return &Error{Kind: Malformed, Message: fmt.Sprintf(format, args...)}
	}
	if len(vectors) != want {
		return malformed("%d vectors for %d texts", len(vectors), want)
	}
	for _, v := range vectors {
		switch {
		case len(v) == 0 || len(v) > maxDimension:
			return malformed("a vector of %d numbers", len(v))
		case len(v) != len(vectors[0]):
			return malformed("vectors of %d and of %d numbers", len(vectors[0]), len(v))
		}
		sum := 0.0
		for _, x := range v {
			sum += float64(x) * float64(x)
		}
		if sum == 0 || math.IsInf(sum, 0) || math.IsNaN(sum) {
			return malformed("a vector without a direction")
		}
	}
	return nil
}

// JSON reads the object that the answer is into v, which knows all of its fields. Models put fences and words around it
// all the same: what stands before the first brace and after the last is not looked at.
func (a *Answer) JSON(v any) error {
	from, to := strings.IndexByte(a.Text, '{'), strings.LastIndexByte(a.Text, '}')
	if from < 0 || to < from {
		return &Error{Kind: Malformed, Message: "the answer holds no JSON object"}
	}
	d := json.NewDecoder(strings.NewReader(a.Text[from : to+1]))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return &Error{Kind: Malformed, Message: "the answer's JSON is not as asked for", cause: err}
	}
	if d.More() {
		return &Error{Kind: Malformed, Message: "the answer holds more than one JSON object"}
	}
	return nil
}
