package ui_test

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/readthru/readthru/internal/journal"
	"github.com/readthru/readthru/store"
)

func TestRequestsOnDiskAreShownAndForgotten(t *testing.T) {
	w := newWorld(t)
	lines := `{"id":"0000000a00000001","method":"GET","url":"https://before.test/","status":200}` + "\nnot JSON\n"
	name := filepath.Join(w.kept, "00000001-20261101-0000000a.jsonl")
	if err := os.WriteFile(name, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	w.told.Add(&journal.Entry{Method: "GET", URL: "https://now.test/", Status: 200, Outcome: "hit"})
	body := w.do(t, http.MethodGet, "/requests", nil).body
	for _, want := range []string{"https://before.test/", "https://now.test/", "cannot be shown. 00000001-2026"} {
		if !strings.Contains(body, want) {
			t.Errorf("the list does not say %q", want)
		}
	}
	if got := w.do(t, http.MethodGet, "/requests/0000000a00000001", nil); got.status != http.StatusOK {
		t.Errorf("a request on disk: status %d", got.status)
	}
	if got := w.send(t, "/requests/clear", url.Values{}, nil); got.status != http.StatusForbidden {
		t.Errorf("forget them without a token: status %d", got.status)
	}
	form := url.Values{"token": {w.tokenOf(t, "/requests")}}
	if got := w.send(t, "/requests/clear", form, nil); got.status != http.StatusSeeOther {
		t.Errorf("forget them: status %d", got.status)
	}
	if body := w.do(t, http.MethodGet, "/requests", nil).body; strings.Contains(body, "before.test") ||
		strings.Contains(body, "now.test") {
		t.Error("what is forgotten is listed")
	}
	if _, err := os.Stat(name); err == nil {
		t.Error("what is forgotten is on disk")
	}
}

func TestRequestsThatOnlyReadHaveAButtonToBeSentAgain(t *testing.T) {
	w := newWorld(t)
	for method, want := range map[string]bool{"GET": true, "HEAD": true, "POST": false, "CONNECT": false} {
		id := w.told.Add(&journal.Entry{Method: method, URL: "https://a.test/" + method, Status: 200, Outcome: "miss"})
		body := w.do(t, http.MethodGet, "/requests/"+id, nil).body
		if got := strings.Contains(body, "Send again"); got != want {
			t.Errorf("%s: the button is there: %t", method, got)
		}
		if strings.Contains(body, "q=door:") {
			t.Errorf("%s: a request whose door an older program did not write leads to it", method)
		}
	}
}

func TestARequestLeadsToItsPageSiteAndSession(t *testing.T) {
	w := newWorld(t)
	doc := w.put(t, "https://a.test/x?y=1", "A title", "Some text.\n")
	id := w.told.Add(&journal.Entry{
		Door: journal.DoorMCP, Method: "GET", URL: "https://a.test/x?y=1", Status: 200, Outcome: "hit",
		Doc: doc, Session: "s 1", Agent: "Cursor/2 <b>", Rule: "a.test",
	})
	body := w.do(t, http.MethodGet, "/requests/"+id, nil).body
	for _, want := range []string{
		`href="/pages/` + doc + `"`, `href="/sites/a.test"`, `href="/session?name=s%201"`, `href="/requests?q=door:mcp"`,
		"readthru fetch &#39;https://a.test/x?y=1&#39;", "Some text.",
	} {
		if !strings.Contains(body, want) {
			t.Errorf("the page of a request has no %s", want)
		}
	}
	if err := w.server.Client("test").DeletePage(t.Context(), doc); err != nil {
		t.Fatal(err)
	}
	body = w.do(t, http.MethodGet, "/requests/"+id, nil).body
	if strings.Contains(body, "/pages/"+doc) || strings.Contains(body, "Some text.") ||
		!strings.Contains(body, "not kept") {
		t.Error("a request leads to a page that was deleted")
	}
	list := w.do(t, http.MethodGet, "/requests", nil).body
	for _, want := range []string{
		`<td class="door">mcp</td>`, `<bdi class="host">a.test</bdi>`, `title="Cursor/2 &lt;b&gt;"`,
		`aria-current="true"><bdi>all<`,
	} {
		if !strings.Contains(list, want) {
			t.Errorf("the list has no %s", want)
		}
	}
}

func TestURLsInListsAreCutInTheMiddle(t *testing.T) {
	w := newWorld(t)
	for target, want := range map[string]string{
		"https://a.test/": `<bdi class="host">a.test</bdi><bdi class="path"></bdi><bdi class="end">/</bdi>`,
		"http://a.test:81/one/two/three/four": `<bdi class="host">http://a.test:81</bdi>` +
			`<bdi class="path">/one/two/</bdi><bdi class="end">three/four</bdi>`,
		"a.test:443":         `<bdi class="host">a.test:443</bdi><bdi class="path"></bdi><bdi class="end"></bdi>`,
		"https://a.test?q=1": `<bdi class="host">a.test</bdi><bdi class="path"></bdi><bdi class="end">?q=1</bdi>`,
	} {
		w.told.Add(&journal.Entry{Method: "GET", URL: target, Status: 200, Outcome: "hit"})
		if body := w.do(t, http.MethodGet, "/requests", nil).body; !strings.Contains(body, want) {
			t.Errorf("%s is not shown as %s", target, want)
		}
	}
}

func TestAFilterThatFindsNothingLeadsToOneThatDoes(t *testing.T) {
	w := newWorld(t)
	w.told.Add(&journal.Entry{Method: "GET", URL: "https://a.test/", Agent: "curl/8", Outcome: "hit"})
	body := w.do(t, http.MethodGet, "/requests?q=client:curl", nil).body
	if !strings.Contains(body, `href="/requests?q=agent%3Acurl"`) {
		t.Errorf("no link to another filter: %s", body)
	}
}

func TestACommandNamesTheAuthorityOfThisDaemon(t *testing.T) {
	w := newWorld(t)
	id := w.told.Add(&journal.Entry{Door: journal.DoorProxy, Method: "GET", URL: "https://a.test/", Outcome: "hit"})
	if body := w.do(t, http.MethodGet, "/requests/"+id, nil).body; !strings.Contains(body,
		"--cacert &#39;/elsewhere/ca/ca.pem&#39; &#39;https://a.test/&#39;") {
		t.Errorf("no file of the authority: %s", body)
	}
}

func TestRequestsLikeOneAreNotListedAnyMore(t *testing.T) {
	w := newWorld(t)
	token := w.tokenOf(t, "/sites")
	if _, err := w.store.PutRule(store.Rule{RuleFields: store.RuleFields{
		Host: "*.ruled.test", Action: "intercept", TTL: time.Hour,
	}}, time.Now()); err != nil {
		t.Fatal(err)
	}
	for target, want := range map[string]store.RuleFields{
		"https://a.test/favicon.ico?v=1":  {Host: "a.test", Path: "/favicon.ico", Log: "off"},
		"https://a.test/a%20b/***/c":      {Host: "a.test", Path: "/a b/*/c", Log: "off"},
		"https://www.ruled.test/ping":     {Host: "www.ruled.test", Path: "/ping", TTL: time.Hour, Log: "off"},
		"tunnelled.test:443":              {Host: "tunnelled.test", Log: "off"},
		"https://b.test/<script>hit()</s": {Host: "b.test", Path: "/<script>hit()</s", Log: "off"},
	} {
		e := &journal.Entry{Time: time.Now(), Method: "GET", URL: target, Status: 200, Outcome: "hit"}
		if !strings.Contains(target, "://") {
			e.Method = http.MethodConnect
		}
		path := "/requests/" + w.told.Add(e)
		if body := w.do(t, http.MethodGet, path, nil).body; !strings.Contains(body, "Do not list such requests") ||
			strings.Contains(body, "<script>hit") {
			t.Errorf("%s: the page has no button, or a script of the address", target)
		}
		for range 2 { // the second time changes nothing
			got := w.send(t, path+"/hide", url.Values{"token": {token}}, nil)
			if got.header.Get("Location") != path+"?done=unlisted" {
				t.Fatalf("%s: status %d: %s", target, got.status, got.body)
			}
		}
		if rules := w.fieldsOfRules(); !reflect.DeepEqual(rules[0], want) {
			t.Errorf("%s: the rule is %+v, want %+v", target, rules[0], want)
		}
		body := w.do(t, http.MethodGet, path+"?done=unlisted", nil).body
		if strings.Contains(body, "Do not list such") || !strings.Contains(body, "but not listed.") ||
			!strings.Contains(body, ">a rule</a>") {
			t.Errorf("%s: the page does not say that such requests are not listed", target)
		}
	}
	if n := len(w.store.Rules()); n != 6 {
		t.Errorf("%d rules, want 6", n)
	}
}
