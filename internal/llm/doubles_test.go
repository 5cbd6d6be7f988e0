package llm_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/readthru/readthru/internal/llm"
)

// request is what a double received.
type request struct {
	path   string
	header http.Header
	body   map[string]any
}

// double is an endpoint: it answers each path of a provider as the real one does, unless it was told to answer
// otherwise first.
type double struct {
	*httptest.Server
	mu      sync.Mutex
	got     []request
	instead []http.HandlerFunc // handlers of the next requests, one each; nil answers as the provider does
}

func newDouble(t *testing.T, instead ...http.HandlerFunc) *double {
	t.Helper()
	d := &double{instead: instead}
	d.Server = httptest.NewServer(http.HandlerFunc(d.serve))
	t.Cleanup(d.Close)
	return d
}

func (d *double) serve(w http.ResponseWriter, r *http.Request) {
	content, _ := io.ReadAll(r.Body)
	var body map[string]any
	_ = json.Unmarshal(content, &body)
	d.mu.Lock()
	d.got = append(d.got, request{r.URL.Path, r.Header.Clone(), body})
	var f http.HandlerFunc
	if len(d.instead) > 0 {
		f, d.instead = d.instead[0], d.instead[1:]
	}
	d.mu.Unlock()
	if f != nil {
		f(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	switch r.URL.Path {
	case "/v1/chat/completions":
		io.WriteString(w,
			`{"id":"chatcmpl-1","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"Paris"},"finish_reason":"stop"}],
			"usage":{"prompt_tokens":12,"completion_tokens":3,"total_tokens":15}}`)
	case "/v1/messages":
		io.WriteString(w,
			`{"id":"msg_1","type":"message","role":"assistant","content":[{"type":"text","text":"Par"},{"type":"text","text":"is"}],"stop_reason":"end_turn",
			"usage":{"input_tokens":12,"output_tokens":3}}`)
	case "/api/chat":
		io.WriteString(w,
			`{"model":"m","message":{"role":"assistant","content":"Paris"},"done":true,"done_reason":"stop","prompt_eval_count":12,"eval_count":3}`)
	case "/v1/embeddings":
		texts := body["input"].([]any)
		data := []map[string]any{} // in reverse order: only the index counts
		for i, text := range slices.Backward(texts) {
			data = append(data, map[string]any{"object": "embedding", "index": i, "embedding": vectorOf(text.(string))})
		}
		_ = json.NewEncoder(w).Encode(map[string]any{
			"object": "list", "data": data,
			"usage": map[string]int{"prompt_tokens": 9, "total_tokens": 9},
		})
	case "/api/embed":
		list := [][]float32{}
		for _, text := range body["input"].([]any) {
			list = append(list, vectorOf(text.(string)))
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"model": "m", "embeddings": list, "prompt_eval_count": 9})
	default:
		http.NotFound(w, r)
	}
}

func vectorOf(text string) []float32 { return []float32{float32(len(text)), 1, -0.5} }

func (d *double) requests() []request {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.got
}

// answer returns a handler that answers with a status, fields ("Name: value") and content.
func answer(status int, content string, fields ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for _, f := range fields {
			name, value, _ := strings.Cut(f, ": ")
			w.Header().Set(name, value)
		}
		w.WriteHeader(status)
		io.WriteString(w, content)
	}
}

const key = "sk-proj-0123456789"

// base returns where a provider's paths begin on a double.
func base(provider string, d *double) string {
	if provider == llm.Ollama {
		return d.URL
	}
	return d.URL + "/v1"
}

func client(t *testing.T, provider, url string, change ...func(*llm.Options)) *llm.Client {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	o := llm.Options{Provider: provider, BaseURL: url, Model: "m", APIKey: key, Transport: transport}
	for _, f := range change {
		f(&o)
	}
	c, err := llm.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// kind returns what kind of trouble an error is, and fails unless it is a whole and safe one.
func kind(t *testing.T, err error) llm.Kind {
	t.Helper()
	if err == nil {
		return ""
	}
	if strings.Contains(err.Error(), key) {
		t.Errorf("error %q tells the key", err)
	}
	e, ok := errors.AsType[*llm.Error](err)
	if !ok {
		t.Fatalf("error %v is a %T, want *llm.Error", err, err)
	}
	return e.Kind
}

// inMemory is a transport to a server over pipes, for tests whose time is virtual.
func inMemory(t *testing.T, h http.Handler) *http.Transport {
	t.Helper()
	connections := make(chan net.Conn)
	done := make(chan struct{})
	server := &http.Server{Handler: h}
	go func() { _ = server.Serve(pipes{connections, done}) }()
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		near, far := net.Pipe()
		select {
		case connections <- far:
			return near, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		close(done)
		_ = server.Close()
	})
	return transport
}

type pipes struct {
	connections chan net.Conn
	done        chan struct{}
}

func (p pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.connections:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (pipes) Close() error   { return nil }
func (pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }
