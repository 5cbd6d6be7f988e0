package ui_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/readthru/readthru/internal/journal"
)

func TestNowShowsTheAgentsSeenLately(t *testing.T) {
	w := newWorld(t)
	tell := func(agent, session string) {
		w.told.Add(&journal.Entry{
			Time: time.Now(), Method: "GET", URL: "https://a.test/", Status: 200, Outcome: "hit", Agent: agent,
			Session: session, Visit: true, Tokens: 100, HTMLTokens: 1600,
		})
	}
	for i := range 40 {
		tell(`claude <b>"2"`, fmt.Sprint("run-", i))
	}
	tell("", "run-1")
	for i := range 11 {
		tell(fmt.Sprint("once/", i+10), "")
	}
	body := w.do(t, http.MethodGet, "/", nil).body
	for _, want := range []string{
		"claude &lt;b&gt;&#34;2&#34;", `href="/requests?q=agent%3a%22claude%20%3cb%3e%22"`, ">32&#43;<",
		">60\u202f000<", ">without a name<", ">once/17<", `%22once%2f17%22`, ">3 others<",
	} {
		if !strings.Contains(body, want) {
			t.Errorf("the room does not say %q", want)
		}
	}
	if strings.Contains(body, "%22once%2f18%22") {
		t.Error("all agents are listed, however many they are")
	}
	for i := range 70 {
		tell(fmt.Sprint("more/", i), "")
	}
	if body := w.do(t, http.MethodGet, "/", nil).body; !strings.Contains(body, ">54 others and more<") {
		t.Error("it does not say that there are more agents than are told apart")
	}
}

func TestTheBarSaysWhatWantsAttention(t *testing.T) {
	w := newWorld(t)
	body := w.do(t, http.MethodGet, "/", nil).body
	if want := "1 part wants attention: <b>render</b>, no browser is configured."; !strings.Contains(body, want) {
		t.Errorf("the room does not say %q", want)
	}
	for name, want := range map[string]string{
		"markdown_new": `<span class="tag ">off`, "store": `<span class="tag o-hit">ok`,
		"render": `<span class="tag o-stale">http`,
	} {
		if got := between(body, `<th scope="row">`+name, "</td>"); !strings.Contains(got, want) {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
}

// useNow sees that work in progress is told without a request that ends.
func useNow(t *testing.T, w *world, b *browser) {
	t.Helper()
	b.open("/")
	b.see(`//p[@id="link" and .="Live"]`)
	b.see(`//li[contains(., "requests open") and b="0"]`)
	w.open.Store(3)
	b.see(`//li[contains(., "requests open") and b="3"]`)
	b.see(`//li[contains(., "origins being asked") and b="1"]`)
	w.open.Store(0)
	b.see(`//li[contains(., "requests open") and b="0"]`)
	b.check("now")
}
