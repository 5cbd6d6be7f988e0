package ui_test

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/readthru/readthru/internal/journal"
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
		if got := strings.Contains(w.do(t, http.MethodGet, "/requests/"+id, nil).body, "Send again"); got != want {
			t.Errorf("%s: the button is there: %t", method, got)
		}
	}
}
