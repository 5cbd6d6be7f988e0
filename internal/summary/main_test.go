package summary_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/readthru/readthru/internal/llm"
	"github.com/readthru/readthru/internal/summary"
	"github.com/readthru/readthru/page"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// double is a model behind the three kinds of endpoint.
type double struct {
	*httptest.Server
	mu sync.Mutex
	// text is the answer, or with another status than 200 the whole content
	say     func(user string) (status int, text string)
	prompts []string // of users
	systems []string
	limits  []float64 // of tokens in the answer
}

func newDouble(t *testing.T, say func(user string) (int, string)) *double {
	t.Helper()
	d := &double{say: say}
	d.Server = httptest.NewServer(d)
	t.Cleanup(d.Close)
	return d
}

func (d *double) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body struct {
		System    string
		MaxTokens float64 `json:"max_tokens"`
		Options   struct {
			Predict float64 `json:"num_predict"`
		}
		Messages []struct{ Role, Content string }
	}
	_ = json.NewDecoder(r.Body).Decode(&body)
	system, user := body.System, ""
	for _, m := range body.Messages {
		if m.Role == "system" {
			system = m.Content
		} else {
			user = m.Content
		}
	}
	d.mu.Lock()
	d.prompts, d.systems, d.limits = append(d.prompts, user), append(d.systems, system),
		append(d.limits, body.MaxTokens+body.Options.Predict)
	d.mu.Unlock()
	status, text := d.say(user)
	if status != http.StatusOK {
		w.WriteHeader(status)
		io.WriteString(w, text)
		return
	}
	var answer any
	text, over := strings.CutSuffix(text, cut)
	finish := map[bool]string{false: "stop", true: "length"}[over]
	switch r.URL.Path {
	case "/v1/chat/completions":
		answer = map[string]any{
			"choices": []any{map[string]any{"message": map[string]string{
				"role":    "assistant",
				"content": text,
			}, "finish_reason": finish}},
			"usage": map[string]int{"prompt_tokens": 120, "completion_tokens": 30, "total_tokens": 150},
		}
	case "/v1/messages":
		answer = map[string]any{
			"type": "message", "content": []any{map[string]string{"type": "text", "text": text}},
			"stop_reason": "end_turn", "usage": map[string]int{"input_tokens": 120, "output_tokens": 30},
		}
	case "/api/chat":
		answer = map[string]any{
			"message": map[string]string{"role": "assistant", "content": text}, "done": true,
			"done_reason": "stop", "prompt_eval_count": 120, "eval_count": 30,
		}
	}
	_ = json.NewEncoder(w).Encode(answer)
}

func (d *double) asked() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.prompts
}

// cut at the end of an answer says that it reached its limit.
const cut = "\x00cut"

// model returns a client of a double. A remote one has an address elsewhere, which leads to the double all the same.
func model(t *testing.T, d *double, provider string, remote bool, change ...func(*llm.Options)) *llm.Client {
	t.Helper()
	transport := &http.Transport{DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, strings.TrimPrefix(d.URL, "http://"))
	}}
	t.Cleanup(transport.CloseIdleConnections)
	base := d.URL
	if remote {
		base = "http://model.test"
	}
	if provider != llm.Ollama {
		base += "/v1"
	}
	o := llm.Options{Provider: provider, BaseURL: base, Model: "m", Transport: transport, Attempts: 1}
	for _, f := range change {
		f(&o)
	}
	c, err := llm.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// shelf keeps summaries as a store does, of whatever content.
type shelf struct{ kept []summary.Summary }

func (s *shelf) options(o summary.Options) summary.Options {
	o.Kept = func(*page.Page) []summary.Summary { return s.kept }
	o.Keep = func(_ *page.Page, sum summary.Summary) error {
		s.kept = append([]summary.Summary{sum}, s.kept...)
		return nil
	}
	o.Content = func(p *page.Page) (string, bool) { return p.Content, true }
	if o.MayLeave == nil {
		o.MayLeave = func(context.Context, *url.URL) error { return nil }
	}
	return o
}

var errIntranet = errors.New("the host is not public")

// stored returns a page as it comes out of a fetch that stored it.
func stored(content string) *page.Page {
	return &page.Page{
		Record: page.Record{
			URL: "https://site.test/guide", FinalURL: "https://site.test/guide", Type: page.Web,
			Title: "The harbour guide", ContentFormat: "markdown", ContentHash: "hash of it", Stored: true,
		},
		Answer: page.Answer{Content: content},
	}
}

const guide = `# The harbour guide

The harbour of Port Ellen is run by volunteers. Boats up to twelve metres may stay for three nights. A berth costs 18 pounds a night in summer.

Book at [the office](https://site.test/office) before noon. The office answers on channel 12.

## Tides

The tide falls by up to four metres. At low water the inner basin is dry, and boats lie on the mud.
`

const about = "Port Ellen's harbour, run by volunteers, takes boats up to twelve metres for three nights at 18 pounds a night."
