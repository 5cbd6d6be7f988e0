package proxy_test

import (
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/readthru/readthru/internal/hostrule"
	"github.com/readthru/readthru/internal/journal"
	"github.com/readthru/readthru/proxy"
)

// TestAHostThatIsTunnelledIsLeftAloneWithoutTLSToo: a rule with action tunnel, and a pause, leave what is asked without
// TLS as they leave what is in the tunnel.
func TestAHostThatIsTunnelledIsLeftAloneWithoutTLSToo(t *testing.T) {
	const doc = "<!doctype html><title>T</title><main><h1>T</h1><p>A page that an origin lets everybody " +
		"keep.</p></main>"
	for name, c := range map[string]struct {
		change func(*proxy.Options)
		url    string
		alone  bool
	}{
		"no rule": {nil, "http://a.test/page", false},
		"a rule for the host": {func(o *proxy.Options) {
			o.Rules = hostrule.Rules{{Host: "a.test", Action: "tunnel"}}
		}, "http://a.test/page", true},
		"a rule for a path of an intercepted host": {func(o *proxy.Options) {
			o.Rules = hostrule.Rules{{Host: "a.test", Path: "/page", Action: "tunnel"}}
		}, "https://a.test/page", true},
		"a rule for another host": {func(o *proxy.Options) {
			o.Rules = hostrule.Rules{{Host: "b.test", Action: "tunnel"}}
		}, "http://a.test/page", false},
		"a pause": {func(o *proxy.Options) { o.Paused = true }, "http://a.test/page", true},
	} {
		t.Run(name, func(t *testing.T) {
			var asked atomic.Int32
			told := journal.New(journal.Options{})
			b := newBenchOf(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				asked.Add(1)
				w.Header().Set("Content-Type", "text/html; charset=utf-8")
				w.Header().Set("Cache-Control", "max-age=600")
				_, _ = io.WriteString(w, doc)
			}), func(o *proxy.Options) {
				o.Journal = told
				if c.change != nil {
					c.change(o)
				}
			})
			const times = 3
			for range times {
				resp, body := b.get(c.url, "Accept: */*")
				if resp.StatusCode != http.StatusOK || c.alone != (body == doc) ||
					c.alone && resp.Header.Get("Cache-Status") != "" {
					t.Errorf("%d %v %q", resp.StatusCode, resp.Header, body)
				}
			}
			want := int32(1)
			if c.alone {
				want = times
			}
			if asked.Load() != want {
				t.Errorf("the origin was asked %d times, want %d", asked.Load(), want)
			}
			b.stop()
			list, _, _ := told.List(journal.Filter{}, "", 10)
			if len(list) != times || c.alone != (list[0].Outcome == journal.Passed) ||
				c.alone && !strings.Contains(list[0].Why, "as it is") {
				t.Errorf("%d requests are told of, the last as %+v", len(list), list[0])
			}
		})
	}
}
