// Package llm asks language models: chat and embeddings at OpenAI-compatible endpoints, Anthropic's and Ollama's.
//
// A [Client] uses one model at one endpoint. It retries where that may help, obeys the endpoint's limits, leaves a
// failing endpoint alone for a while, and follows no redirect. It reports each request to [Options].Disclose before it
// sends it. It bounds the size of answers and trusts nothing in them. The key is sent in a header field and appears
// nowhere else, neither in errors nor in disclosures.
//
// A model is always optional: callers must have a fallback. Every error is an [*Error] that says what went wrong, or
// the error of the caller's context.
package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/readthru/readthru/page"
)

// The names of providers, for [Options].Provider.
const (
	OpenAI    = "openai" // and compatible servers: Ollama, LM Studio, llama.cpp, vLLM …
	Anthropic = "anthropic"
	Ollama    = "ollama"
)

// Options configures a Client.
type Options struct {
	Provider string // OpenAI, Anthropic or Ollama
	BaseURL  string // the URL that the API's paths are below; if empty, the provider's own
	Model    string
	APIKey   string // if empty, no key is sent

	// Transport sends the requests and decides which addresses may be reached. It is required.
	Transport http.RoundTripper

	// Disclose is called before every request with the service, what the request is about (Prompt.About, else the
	// endpoint's URL), its size in bytes and the reason. If it fails, the request is not sent. If nil, it is not called.
	Disclose func(service, url string, bytes int64, why string) error

	Timeout  time.Duration // of one call, including its retries. If zero, a minute
	Attempts int           // maximum number of requests per call. If zero, 3

	// MaxContext is the largest context requested of Ollama, in tokens. A prompt that may need more is refused, because
	// Ollama would silently truncate it. If zero, 32768.
	MaxContext int

	Observe func(took time.Duration) // is told how long each answer of Chat took; if nil, nobody is
}

// Client asks one model. It is safe for concurrent use.
type Client struct {
	o        Options
	base     *url.URL
	provider provider
	calls    chan struct{} // holds one element for each running call

	mu       sync.Mutex
	until    time.Time // no requests are sent before this time
	failures int       // consecutive failures
}

// Usage is the cost of a call in tokens, as the endpoint counts them. A count is 0 if the endpoint does not report it.
type Usage struct {
	Prompt     int
	Completion int
}

// Prompt is one question.
type Prompt struct {
	System    string // may be empty
	User      string
	MaxTokens int  // maximum length of the answer. If zero, 1024
	JSON      bool // ask for one JSON object, by the provider's JSON mode if it has one

	About string // for the ledger: what the prompt is about, such as a masked URL. If empty, the endpoint's URL
	Why   string // for the ledger: the reason of the request
}

// Answer is the answer of a model.
type Answer struct {
	Text  string // never empty
	Usage Usage
	Took  time.Duration
}

// Vectors holds the embeddings of texts, in the order of the texts. All have the same length.
type Vectors struct {
	Vectors [][]float32
	Usage   Usage
}

// provider translates calls to the API of an endpoint and its answers back. Its methods do not block. It has no state
// but the parameters that the endpoint refused.
type provider interface {
	chat(model string, p *Prompt) (path string, body any, err error)
	readChat(content []byte) (*Answer, error)
	embed(model string, texts []string) (path string, body any, err error)
	readEmbed(content []byte) (*Vectors, error)
	authorise(h http.Header, key string)

	// adapt learns from a refusal (status 400 or 422) which parameters to leave out from now on. It reports whether the
	// refused body had any of them, so that a retry makes sense.
	adapt(body any, message string) bool
}

// New returns a client. The error says which option is wrong.
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
		return nil, fmt.Errorf("unknown model provider %q: use openai, anthropic or ollama", o.Provider)
	}
	if o.BaseURL != "" {
		home = o.BaseURL
	}
	switch u, err := url.Parse(home); {
	case err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "":
		return nil, errors.New("the model's base URL must be an http or https URL")
	case u.User != nil || u.RawQuery != "":
		return nil, errors.New("the model's base URL must not have credentials or a query: set the key instead")
	default:
		c.base = u.JoinPath("/")
	}
	switch {
	case o.Model == "":
		return nil, errors.New("the model's name is missing")
	case o.Transport == nil:
		return nil, errors.New("the model has no transport")
	case strings.ContainsFunc(o.APIKey, func(r rune) bool { return r <= ' ' || r > '~' }):
		return nil, errors.New("the model's key has characters that a header field cannot have")
	}
	return c, nil
}

// Model returns the model's name.
func (c *Client) Model() string { return c.o.Model }

// Provider returns the provider's name.
func (c *Client) Provider() string { return c.o.Provider }

// Local reports whether the endpoint is on this machine, so that prompts do not leave it.
func (c *Client) Local() bool { return page.Loopback(c.base.Hostname()) }

// Service is the model's name in the ledger of disclosures.
func (c *Client) Service() string { return c.o.Provider + " " + c.base.Host }

// Room returns the maximum length of a prompt (System and User together, in bytes) whose answer may have maxTokens. It
// returns 0 if the limit is not known.
func (c *Client) Room(maxTokens int) int {
	if o, ok := c.provider.(*ollama); ok {
		return max(1, o.room(maxTokens))
	}
	return 0
}

// Chat asks one question. It is an error if the model refuses, or if its answer is empty or was cut at its maximum
// length (rule E12).
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
	if c.o.Observe != nil {
		c.o.Observe(a.Took)
	}
	return a, nil
}

// withoutThoughts returns an answer without the reasoning that open models write before it.
func withoutThoughts(text string) string {
	text = strings.TrimSpace(text)
	if _, said, ok := strings.Cut(text, "</think>"); ok && strings.HasPrefix(text, "<think>") {
		return strings.TrimSpace(said)
	}
	return text
}

// Embed returns the vectors of texts, none of which may be empty. about and why are for the ledger, as in [Prompt]. The
// vectors of one call have the same length; Embed does not compare them with those of other calls.
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

// maxDimension is the maximum length of a vector. The longest vectors of known models have 8192 numbers.
const maxDimension = 1 << 14

// checkVectors returns an error if the vectors of an answer are not usable: not one for each text, of different or
// absurd lengths, or without a direction (all zeros, or numbers too large to square).
func checkVectors(vectors [][]float32, want int) error {
	malformed := func(format string, args ...any) error {
		return &Error{Kind: Malformed, Message: fmt.Sprintf(format, args...)}
	}
	if len(vectors) != want {
		return malformed("got %d vectors for %d texts", len(vectors), want)
	}
	for _, v := range vectors {
		switch {
		case len(v) == 0 || len(v) > maxDimension:
			return malformed("a vector has %d numbers", len(v))
		case len(v) != len(vectors[0]):
			return malformed("the vectors have different lengths: %d and %d numbers", len(vectors[0]), len(v))
		}
		sum := 0.0
		for _, x := range v {
			sum += float64(x) * float64(x)
		}
		if sum == 0 || math.IsInf(sum, 0) || math.IsNaN(sum) {
			return malformed("a vector has no direction")
		}
	}
	return nil
}

// JSON decodes the JSON object of an answer into v, which must have all of its fields. It ignores text before the first
// brace and after the last one, because models wrap the object in fences and words.
func (a *Answer) JSON(v any) error {
	from, to := strings.IndexByte(a.Text, '{'), strings.LastIndexByte(a.Text, '}')
	if from < 0 || to < from {
		return &Error{Kind: Malformed, Message: "the answer has no JSON object"}
	}
	d := json.NewDecoder(strings.NewReader(a.Text[from : to+1]))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return &Error{Kind: Malformed, Message: "the answer's JSON does not have the requested form", cause: err}
	}
	if d.More() {
		return &Error{Kind: Malformed, Message: "the answer has more than one JSON object"}
	}
	return nil
}
