package agents_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// A call is a tool that the model calls. "A*B" is the tool that is offered with a name that begins with A and ends
// with B.
type call struct {
	tool string
	args map[string]any
}

// A model is a server that speaks like those of Anthropic (Messages), OpenAI (Responses) and Google (Gemini). It makes
// the calls of its script one after the other, says "Done." and keeps what it was told. What an agent asks beside its
// conversation, without tools, it answers with a summary.
type model struct {
	URL    string
	script []call

	mu      sync.Mutex
	offered []string  // names of tools
	results []string  // what the tools answered, in order of the calls
	told    time.Time // when the last of them came
	first   string    // the first request with tools, as it came
	aside   []aside   // requests without tools, as they came
}

// An aside is a request without tools, and the number of the call during which it came.
type aside struct {
	during int
	body   string
}

const (
	summary = "A summary by the small model."
	done    = "Done."
)

func newModel(tb testing.TB, script ...call) *model {
	tb.Helper()
	m := &model{script: script}
	server := httptest.NewServer(m)
	tb.Cleanup(server.Close)
	m.URL = server.URL
	return m
}

// A turn is what the three forms of a request have in common.
type turn struct {
	stream  bool
	tools   []string
	results []string
}

// ServeHTTP answers one request of an agent.
func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	var form interface {
		turn() turn
		answer(model string, next *call, text string) []event
	}
	stream := false
	switch path := r.URL.Path; {
	case r.Method != http.MethodPost:
		w.WriteHeader(http.StatusNotFound)
		return
	case strings.HasSuffix(path, "/messages"):
		form = new(messages)
	case strings.HasSuffix(path, "/responses"):
		form = new(responses)
	case strings.HasSuffix(path, ":streamGenerateContent"):
		form, stream = new(gemini), true
	case strings.HasSuffix(path, ":generateContent"):
		form = new(gemini)
	case strings.HasSuffix(path, "count_tokens"), strings.HasSuffix(path, ":countTokens"):
		_, _ = io.WriteString(w, `{"input_tokens": 10, "totalTokens": 10}`)
		return
	default:
		w.WriteHeader(http.StatusNotFound)
		return
	}
	if err := json.Unmarshal(body, form); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	t := form.turn()
	next, text := m.next(t, string(body))
	events := form.answer("scripted", next, text)
	if !t.stream && !stream {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(events[len(events)-1].whole)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range events {
		if e.data == nil {
			continue
		}
		text, _ := json.Marshal(e.data)
		if e.name != "" {
			_, _ = fmt.Fprintf(w, "event: %s\n", e.name)
		}
		_, _ = fmt.Fprintf(w, "data: %s\n\n", text)
		_ = http.NewResponseController(w).Flush()
	}
}

// next keeps what a request tells and returns the call that follows, or a text.
func (m *model) next(t turn, body string) (*call, string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(t.tools) == 0 {
		m.aside = append(m.aside, aside{len(m.results), body})
		return nil, summary
	}
	if m.first == "" {
		m.first = body
	}
	m.offered = t.tools
	if len(t.results) > len(m.results) {
		m.results = append(m.results, t.results[len(m.results):]...) // an agent may shorten earlier ones
		m.told = time.Now()
	}
	if len(t.results) >= len(m.script) {
		return nil, done
	}
	c := m.script[len(t.results)]
	if begin, end, ok := strings.Cut(c.tool, "*"); ok {
		if i := slices.IndexFunc(t.tools, func(name string) bool {
			return strings.HasPrefix(name, begin) && strings.HasSuffix(name, end)
		}); i >= 0 {
			c.tool = t.tools[i]
		}
	}
	return &c, ""
}

// result returns what the tool of the nth call answered.
func (m *model) result(tb testing.TB, n int) string {
	tb.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	if n >= len(m.results) {
		tb.Fatalf("the model was told %d results, want that of %s; tools: %s", len(m.results), m.script[n].tool, m.offered)
	}
	return m.results[n]
}

// begins returns the first request.
func (m *model) begins() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.first
}

// besides returns what the model was asked without tools.
func (m *model) besides() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []string
	for _, a := range m.aside {
		all = append(all, a.body)
	}
	return strings.Join(all, "\n")
}

// beside returns the messages that the model was asked without tools during the nth call.
func (m *model) beside(n int) (text string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, a := range m.aside {
		var asked messages
		if a.during != n || json.Unmarshal([]byte(a.body), &asked) != nil {
			continue
		}
		for _, message := range asked.Messages {
			text += texts(message.Content)
		}
	}
	return text
}

// An event is a part of an answer that is streamed. whole, of the last one, is the same answer in one piece.
type event struct {
	name  string
	data  any
	whole any
}

type object = map[string]any

// texts returns the text of a content: a string, or a list of parts with text.
func texts(content json.RawMessage) string {
	var s string
	if json.Unmarshal(content, &s) == nil {
		return s
	}
	var parts []struct{ Text string }
	if json.Unmarshal(content, &parts) != nil {
		return string(content)
	}
	for _, p := range parts {
		s += p.Text
	}
	return s
}

// messages is a request to Anthropic's Messages.
type messages struct {
	Stream   bool
	Tools    []struct{ Name string }
	Messages []struct {
		Role    string
		Content json.RawMessage
	}
}

func (r *messages) turn() turn {
	t := turn{stream: r.Stream}
	for _, tool := range r.Tools {
		t.tools = append(t.tools, tool.Name)
	}
	for _, m := range r.Messages {
		var blocks []struct {
			Type    string
			Content json.RawMessage
		}
		_ = json.Unmarshal(m.Content, &blocks) // a string has none
		for _, b := range blocks {
			if b.Type == "tool_result" {
				t.results = append(t.results, texts(b.Content))
			}
		}
	}
	return t
}

func (r *messages) answer(model string, next *call, text string) []event {
	block, delta, reason := object{"type": "text", "text": ""}, object{"type": "text_delta", "text": text}, "end_turn"
	whole := object{"type": "text", "text": text}
	if next != nil {
		args, _ := json.Marshal(next.args)
		id := fmt.Sprintf("toolu_%d", len(r.Messages))
		block = object{"type": "tool_use", "id": id, "name": next.tool, "input": object{}}
		whole = object{"type": "tool_use", "id": id, "name": next.tool, "input": next.args}
		delta, reason = object{"type": "input_json_delta", "partial_json": string(args)}, "tool_use"
	}
	message := func(content []any, reason any) object {
		return object{
			"id": fmt.Sprintf("msg_%d", len(r.Messages)), "type": "message", "role": "assistant", "model": model,
			"content": content, "stop_reason": reason, "stop_sequence": nil,
			"usage": object{"input_tokens": 10, "output_tokens": 10},
		}
	}
	list := []event{}
	add := func(kind string, more object) {
		more["type"] = kind
		list = append(list, event{name: kind, data: more})
	}
	add("message_start", object{"message": message([]any{}, nil)})
	add("content_block_start", object{"index": 0, "content_block": block})
	add("content_block_delta", object{"index": 0, "delta": delta})
	add("content_block_stop", object{"index": 0})
	add("message_delta", object{
		"delta": object{"stop_reason": reason, "stop_sequence": nil}, "usage": object{"output_tokens": 10},
	})
	add("message_stop", object{})
	list[len(list)-1].whole = message([]any{whole}, reason)
	return list
}

// responses is a request to OpenAI's Responses.
type responses struct {
	Stream bool
	Tools  []struct {
		Type, Name string
		Tools      []struct{ Name string } // of a namespace
	}
	Input []struct {
		Type   string
		Output json.RawMessage
	}
}

func (r *responses) turn() turn {
	t := turn{stream: r.Stream}
	for _, tool := range r.Tools {
		t.tools = append(t.tools, tool.Name)
		for _, inner := range tool.Tools {
			t.tools = append(t.tools, tool.Name+" "+inner.Name)
		}
	}
	for _, item := range r.Input {
		if item.Type == "function_call_output" || item.Type == "custom_tool_call_output" {
			t.results = append(t.results, texts(item.Output))
		}
	}
	return t
}

func (r *responses) answer(model string, next *call, text string) []event {
	id := fmt.Sprintf("resp_%d", len(r.Input))
	item := object{
		"type": "message", "id": "msg_" + id, "role": "assistant", "status": "completed",
		"content": []any{object{"type": "output_text", "text": text, "annotations": []any{}}},
	}
	if next != nil {
		args, _ := json.Marshal(next.args)
		item = object{
			"type": "function_call", "id": "fc_" + id, "call_id": "call_" + id, "name": next.tool, "arguments": string(args),
		}
		if space, name, ok := strings.Cut(next.tool, " "); ok {
			item["namespace"], item["name"] = space, name
		}
	}
	whole := object{
		"id": id, "object": "response", "created_at": 1, "model": model, "status": "completed", "output": []any{item},
		"usage": object{
			"input_tokens": 10, "output_tokens": 10, "total_tokens": 20,
			"input_tokens_details": object{"cached_tokens": 0}, "output_tokens_details": object{"reasoning_tokens": 0},
		},
	}
	add := func(kind string, more object) event {
		more["type"] = kind
		return event{name: kind, data: more}
	}
	list := []event{
		add("response.created", object{"response": object{"id": id, "status": "in_progress"}}),
		add("response.output_item.added", object{"output_index": 0, "item": item}),
		add("response.output_item.done", object{"output_index": 0, "item": item}),
		add("response.completed", object{"response": whole}),
	}
	list[len(list)-1].whole = whole
	return list
}

// gemini is a request to Google's Gemini.
type gemini struct {
	Tools []struct {
		FunctionDeclarations []struct{ Name string }
	}
	Contents []struct {
		Parts []struct {
			FunctionResponse *struct{ Response object }
		}
	}
}

func (r *gemini) turn() (t turn) {
	for _, tool := range r.Tools {
		for _, f := range tool.FunctionDeclarations {
			t.tools = append(t.tools, f.Name)
		}
	}
	for _, c := range r.Contents {
		for _, p := range c.Parts {
			if p.FunctionResponse == nil {
				continue
			}
			result, ok := p.FunctionResponse.Response["output"].(string)
			if !ok {
				text, _ := json.Marshal(p.FunctionResponse.Response)
				result = string(text)
			}
			t.results = append(t.results, result)
		}
	}
	return t
}

func (r *gemini) answer(model string, next *call, text string) []event {
	part := object{"text": text}
	if next != nil {
		part = object{"functionCall": object{"name": next.tool, "args": next.args}}
	}
	whole := object{
		"candidates": []any{object{
			"content": object{"role": "model", "parts": []any{part}}, "finishReason": "STOP", "index": 0,
		}},
		"usageMetadata": object{"promptTokenCount": 10, "candidatesTokenCount": 10, "totalTokenCount": 20},
		"modelVersion":  model,
	}
	return []event{{data: whole, whole: whole}}
}
