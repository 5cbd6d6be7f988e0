package llm_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/readthru/readthru/internal/llm"
)

var providers = []string{llm.OpenAI, llm.Anthropic, llm.Ollama}

func TestEveryProviderAnswers(t *testing.T) {
	for _, provider := range providers {
		t.Run(provider, func(t *testing.T) {
			d := newDouble(t)
			c := client(t, provider, base(provider, d))
			a, err := c.Chat(t.Context(), llm.Prompt{System: "Be short.", User: "Capital of France?", MaxTokens: 50, JSON: true})
			if err != nil {
				t.Fatal(err)
			}
			if a.Text != "Paris" || a.Usage != (llm.Usage{Prompt: 12, Completion: 3}) {
				t.Errorf("answer = %q, %+v, want Paris for 12 and 3 tokens", a.Text, a.Usage)
			}
		})
	}
}

func TestRequestsAreAsTheProvidersDefineThem(t *testing.T) {
	user := map[string]any{"role": "user", "content": "Hello"}
	system := map[string]any{"role": "system", "content": "Be short."}
	for provider, want := range map[string]request{
		llm.OpenAI: {"/v1/chat/completions", http.Header{"Authorization": {"Bearer " + key}}, map[string]any{
			"model": "m", "messages": []any{system, user}, "stream": false, "temperature": 0.0, "max_tokens": 50.0,
			"response_format": map[string]any{"type": "json_object"},
		}},
		llm.Anthropic: {"/v1/messages", http.Header{"X-Api-Key": {key}, "Anthropic-Version": {"2023-06-01"}}, map[string]any{
			"model": "m", "system": "Be short.", "messages": []any{user}, "max_tokens": 50.0,
		}},
		llm.Ollama: {"/api/chat", http.Header{}, map[string]any{
			"model": "m", "messages": []any{system, user}, "stream": false, "format": "json",
			"options": map[string]any{"temperature": 0.0, "num_ctx": 4096.0, "num_predict": 50.0},
		}},
	} {
		t.Run(provider, func(t *testing.T) {
			d := newDouble(t)
			_, err := client(t, provider, base(provider, d)+"/").Chat(t.Context(),
				llm.Prompt{System: "Be short.", User: "Hello", MaxTokens: 50, JSON: true})
			if err != nil {
				t.Fatal(err)
			}
			got := d.requests()[0]
			if got.path != want.path {
				t.Errorf("path = %s, want %s", got.path, want.path)
			}
			if diff := cmp.Diff(want.body, got.body); diff != "" {
				t.Errorf("body (-want +got):\n%s", diff)
			}
			for name := range want.header {
				if got.header.Get(name) != want.header.Get(name) {
					t.Errorf("%s = %q, want %q", name, got.header.Get(name), want.header.Get(name))
				}
			}
		})
	}
}

func TestVectorsComeInTheOrderOfTheirTexts(t *testing.T) {
	for _, provider := range []string{llm.OpenAI, llm.Ollama} {
		t.Run(provider, func(t *testing.T) {
			d := newDouble(t)
			v, err := client(t, provider, base(provider, d)).Embed(t.Context(), []string{"a", "bb", "ccc"}, "", "test")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([][]float32{vectorOf("a"), vectorOf("bb"), vectorOf("ccc")}, v.Vectors); diff != "" {
				t.Errorf("vectors (-want +got):\n%s", diff)
			}
			if v.Usage.Prompt != 9 {
				t.Errorf("prompt tokens = %d, want 9", v.Usage.Prompt)
			}
		})
	}
	_, err := client(t, llm.Anthropic, "http://127.0.0.1:1").Embed(t.Context(), []string{"a"}, "", "test")
	if kind(t, err) != llm.BadRequest {
		t.Errorf("Anthropic's embeddings: %v, want a bad request", err)
	}
}

func TestUnusableAnswersAreErrors(t *testing.T) {
	for _, tt := range []struct {
		name, provider, content string
		want                    llm.Kind
	}{
		{
			"OpenAI: cut for its length", llm.OpenAI, `{"choices":[{"message":{"content":"Par"},"finish_reason":"length"}]}`,
			llm.Cut,
		},
		{
			"OpenAI: filtered", llm.OpenAI, `{"choices":[{"message":{"content":""},"finish_reason":"content_filter"}]}`,
			llm.Refused,
		},
		{
			"OpenAI: refused", llm.OpenAI,
			`{"choices":[{"message":{"content":null,"refusal":"I can't."},"finish_reason":"stop"}]}`, llm.Refused,
		},
		{"OpenAI: empty", llm.OpenAI, `{"choices":[{"message":{"content":" \n"},"finish_reason":"stop"}]}`, llm.Malformed},
		{"OpenAI: no choice", llm.OpenAI, `{"choices":[]}`, llm.Malformed},
		{"OpenAI: a page of HTML", llm.OpenAI, `<html>It works!</html>`, llm.Malformed},
		{"OpenAI: JSON of another form", llm.OpenAI, `[1,2,3]`, llm.Malformed},
		{
			"Anthropic: cut for its length", llm.Anthropic,
			`{"content":[{"type":"text","text":"Par"}],"stop_reason":"max_tokens"}`, llm.Cut,
		},
		{"Anthropic: refused", llm.Anthropic, `{"content":[],"stop_reason":"refusal"}`, llm.Refused},
		{"Anthropic: empty", llm.Anthropic, `{"content":[],"stop_reason":"end_turn"}`, llm.Malformed},
		{"Anthropic: nonsense", llm.Anthropic, `null x`, llm.Malformed},
		{
			"Ollama: cut for its length", llm.Ollama, `{"message":{"content":"Par"},"done":true,"done_reason":"length"}`,
			llm.Cut,
		},
		{
			"Ollama: a stream", llm.Ollama,
			"{\"message\":{\"content\":\"Par\"},\"done\":false}\n{\"message\":{\"content\":\"is\"},\"done\":true}",
			llm.Malformed,
		},
		{"Ollama: empty", llm.Ollama, `{"message":{"content":""},"done":true,"done_reason":"stop"}`, llm.Malformed},
		{"Ollama: an error with status 200", llm.Ollama, `{"error":"model runner has stopped"}`, llm.Trouble},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newDouble(t, answer(200, tt.content))
			_, err := client(t, tt.provider, base(tt.provider, d)).Chat(t.Context(), llm.Prompt{User: "?"})
			if got := kind(t, err); got != tt.want {
				t.Errorf("kind = %q (%v), want %q", got, err, tt.want)
			}
		})
	}
}

func TestReasoningIsNotPartOfTheAnswer(t *testing.T) {
	for said, want := range map[string]string{
		"<think>\n{hm}\n</think>\n\nParis": "Paris",
		"Write </think> to end.":           "Write </think> to end.",
		"<think> is a tag":                 "<think> is a tag",
	} {
		content, err := json.Marshal(map[string]any{
			"message": map[string]string{"content": said}, "done": true,
			"done_reason": "stop",
		})
		if err != nil {
			t.Fatal(err)
		}
		d := newDouble(t, answer(200, string(content)))
		a, err := client(t, llm.Ollama, d.URL).Chat(t.Context(), llm.Prompt{User: "?"})
		if err != nil || a.Text != want {
			t.Errorf("answer to %q = %v, %v, want %q", said, a, err, want)
		}
	}
}

func TestUnusableVectorsAreErrors(t *testing.T) {
	for name, content := range map[string]string{
		"too few":            `{"data":[{"index":0,"embedding":[1,2]}]}`,
		"one twice":          `{"data":[{"index":0,"embedding":[1,2]},{"index":0,"embedding":[1,2]}]}`,
		"index out of range": `{"data":[{"index":0,"embedding":[1,2]},{"index":7,"embedding":[1,2]}]}`,
		"two lengths":        `{"data":[{"index":0,"embedding":[1,2]},{"index":1,"embedding":[1,2,3]}]}`,
		"empty":              `{"data":[{"index":0,"embedding":[]},{"index":1,"embedding":[]}]}`,
		"nothing but zeroes": `{"data":[{"index":0,"embedding":[0,0]},{"index":1,"embedding":[1,2]}]}`,
		"beyond a float32":   `{"data":[{"index":0,"embedding":[1e300,0]},{"index":1,"embedding":[1,2]}]}`,
		"words":              `{"data":[{"index":0,"embedding":"AACAPw=="},{"index":1,"embedding":"AACAPw=="}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			d := newDouble(t, answer(200, content))
			_, err := client(t, llm.OpenAI, base(llm.OpenAI, d)).Embed(t.Context(), []string{"a", "b"}, "", "test")
			if got := kind(t, err); got != llm.Malformed {
				t.Errorf("kind = %q (%v), want %q", got, err, llm.Malformed)
			}
		})
	}
}

func TestRefusedParametersAreLeftOutFromThenOn(t *testing.T) {
	d := newDouble(
		t,
		answer(400, `{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."}}`),
		answer(422, `{"error":"response_format: extra inputs are not permitted"}`),
	)
	c := client(t, llm.OpenAI, base(llm.OpenAI, d), func(o *llm.Options) { o.Attempts = 1 })
	for range 2 {
		if _, err := c.Chat(t.Context(), llm.Prompt{User: "?", MaxTokens: 7, JSON: true}); err != nil {
			t.Fatal(err)
		}
	}
	got := d.requests()
	if len(got) != 4 {
		t.Fatalf("%d requests, want 4", len(got))
	}
	for _, r := range got[2:] {
		if r.body["max_completion_tokens"] != 7.0 || r.body["max_tokens"] != nil || r.body["response_format"] != nil {
			t.Errorf("body = %v, want max_completion_tokens alone", r.body)
		}
	}
}

func TestRefusedParametersAreLeftOutByConcurrentCalls(t *testing.T) {
	var both sync.WaitGroup
	both.Add(2)
	refuse := func(w http.ResponseWriter, r *http.Request) {
		both.Done()
		both.Wait() // both requests are sent before either is refused
		answer(400, `{"error":{"message":"Unsupported value: temperature"}}`)(w, r)
	}
	d := newDouble(t, refuse, refuse)
	c := client(t, llm.OpenAI, base(llm.OpenAI, d))
	errs := make(chan error, 2)
	for range 2 {
		go func() {
			_, err := c.Chat(t.Context(), llm.Prompt{User: "?"})
			errs <- err
		}()
	}
	for range 2 {
		if err := <-errs; err != nil {
			t.Errorf("chat: %v", err)
		}
	}
}

func TestPromptThatOllamaWouldTruncateIsNotSent(t *testing.T) {
	d := newDouble(t)
	c := client(t, llm.Ollama, d.URL, func(o *llm.Options) { o.MaxContext = 8192 })
	if _, err := c.Chat(t.Context(), llm.Prompt{User: strings.Repeat("x", 10_000)}); err != nil {
		t.Fatal(err)
	}
	if got := d.requests()[0].body["options"].(map[string]any)["num_ctx"]; got != 8192.0 {
		t.Errorf("num_ctx = %v, want 8192", got)
	}
	_, err := c.Chat(t.Context(), llm.Prompt{User: strings.Repeat("x", 20_000)})
	if kind(t, err) != llm.BadRequest || len(d.requests()) != 1 {
		t.Errorf("a prompt beyond the context: %v after %d requests, want a refusal and 1", err, len(d.requests()))
	}
}

func TestPromptWithinRoomIsSent(t *testing.T) {
	d := newDouble(t)
	c := client(t, llm.Ollama, d.URL, func(o *llm.Options) { o.MaxContext = 8192 })
	room := c.Room(1000)
	if _, err := c.Chat(t.Context(), llm.Prompt{
		System: "x", User: strings.Repeat("x", room-1),
		MaxTokens: 1000,
	}); err != nil || room < 10_000 {
		t.Errorf("a prompt of %d bytes: %v, want it sent", room, err)
	}
	_, err := c.Chat(t.Context(), llm.Prompt{System: "xx", User: strings.Repeat("x", room), MaxTokens: 1000})
	if e, ok := errors.AsType[*llm.Error](err); !ok || !e.TooLong {
		t.Errorf("a prompt of %d bytes: %v, want it too long", room+2, err)
	}
	if got := client(t, llm.OpenAI, d.URL).Room(1000); got != 0 {
		t.Errorf("Room with OpenAI = %d, want 0: not known", got)
	}
}

func TestTooLongPromptIsReported(t *testing.T) {
	for _, tt := range []struct {
		provider, content string
		status            int
		want              bool
	}{
		{llm.OpenAI, `{"error":{"message":"This model's maximum context length is 8192 tokens. However, your messages resulted in 30000 tokens.","code":"context_length_exceeded"}}`, 400, true},
		{llm.OpenAI, `{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error"}}`, 400, true},
		{llm.Anthropic, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}`, 400, true},
		{
			llm.Anthropic, `{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}`,
			413, true,
		},
		{llm.OpenAI, `{"error":{"message":"The model 'm' does not exist"}}`, 404, false},
		{llm.Anthropic, `{"type":"error","error":{"type":"invalid_request_error","message":"messages: at least one message is required"}}`, 400, false},
	} {
		d := newDouble(t, answer(tt.status, tt.content))
		_, err := client(t, tt.provider, base(tt.provider, d)).Chat(t.Context(), llm.Prompt{User: "?"})
		e, ok := errors.AsType[*llm.Error](err)
		if !ok || e.TooLong != tt.want || e.Kind != llm.BadRequest || len(d.requests()) != 1 {
			t.Errorf("%v: want a bad request, too long %v, after one request", err, tt.want)
		}
	}
}

func TestEndpointOnThisMachineIsLocal(t *testing.T) {
	for address, want := range map[string]bool{
		"": true, "http://127.0.0.1:8080/v1": true, "http://[::1]:8080": true, "http://localhost:11434": true,
		"http://10.0.0.1:11434": false, "https://api.example.com/v1": false, "http://localhost.example.com": false,
	} {
		if got := client(t, llm.Ollama, address).Local(); got != want {
			t.Errorf("Local() of %q = %v, want %v", address, got, want)
		}
	}
	if client(t, llm.Anthropic, "").Local() {
		t.Error("Anthropic's own address is local")
	}
}

func TestRequestsAreDisclosedBeforeTheyAreSent(t *testing.T) {
	type entry struct {
		service, url, why string
		bytes             int64
	}
	var ledger []entry
	d := newDouble(t, answer(500, `{}`))
	c := client(t, llm.OpenAI, base(llm.OpenAI, d), func(o *llm.Options) {
		o.Disclose = func(service, url string, bytes int64, why string) error {
			if len(d.requests()) != len(ledger) {
				t.Errorf("the ledger is told after the request")
			}
			ledger = append(ledger, entry{service, url, why, bytes})
			if len(ledger) == 3 {
				return errors.New("disk full")
			}
			return nil
		}
	})
	if _, err := c.Chat(t.Context(), llm.Prompt{User: "?", About: "https://a.test/x", Why: "summary"}); err != nil {
		t.Fatal(err)
	}
	if len(ledger) != 2 { // the first request was answered 500
		t.Fatalf("ledger = %v, want an entry for each of 2 requests", ledger)
	}
	if e := ledger[1]; !strings.HasPrefix(e.service, "openai 127.0.0.1:") || e.url != "https://a.test/x" ||
		e.why != "summary" || e.bytes < 50 {
		t.Errorf("entry = %+v", e)
	}
	_, err := c.Chat(t.Context(), llm.Prompt{User: "?"})
	if kind(t, err) != llm.Undisclosed || len(d.requests()) != 2 {
		t.Errorf("with a ledger that cannot be written: %v and %d requests, want undisclosed and 2", err, len(d.requests()))
	}
}

func TestBadOptionsAreErrors(t *testing.T) {
	good := llm.Options{Provider: llm.OpenAI, Model: "m", Transport: http.DefaultTransport}
	if _, err := llm.New(good); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*llm.Options){
		"provider unknown":    func(o *llm.Options) { o.Provider = "clippy" },
		"no model":            func(o *llm.Options) { o.Model = "" },
		"no transport":        func(o *llm.Options) { o.Transport = nil },
		"no address":          func(o *llm.Options) { o.BaseURL = "localhost:11434" },
		"not http":            func(o *llm.Options) { o.BaseURL = "file:///etc/passwd" },
		"key in the URL":      func(o *llm.Options) { o.BaseURL = "https://user:" + key + "@api.test/v1" },
		"key in the query":    func(o *llm.Options) { o.BaseURL = "https://api.test/v1?key=" + key },
		"key with a new line": func(o *llm.Options) { o.APIKey = key + "\r\nX-Evil: 1" },
	} {
		t.Run(name, func(t *testing.T) {
			o := good
			change(&o)
			_, err := llm.New(o)
			if err == nil || strings.Contains(err.Error(), key) {
				t.Errorf("error = %v, want one without the key", err)
			}
		})
	}
}

func TestJSONIgnoresSurroundingText(t *testing.T) {
	type object struct{ A int }
	for _, tt := range []struct {
		text string
		ok   bool
	}{
		{`{"a":1}`, true},
		{"```json\n{\"a\":1}\n```", true},
		{"Here you are:\n{\"a\":1}\nAnything else?", true},
		{`{"a":1,"b":2}`, false},
		{`{"a":1} {"a":2}`, false},
		{`{"a":"one"}`, false},
		{`{"a":1`, false},
		{`no`, false},
		{`} {`, false},
	} {
		var v object
		err := (&llm.Answer{Text: tt.text}).JSON(&v)
		if ok := err == nil && v.A == 1; ok != tt.ok {
			t.Errorf("JSON(%q) = %v, %v, want it read: %v", tt.text, v, err, tt.ok)
		}
	}
}
