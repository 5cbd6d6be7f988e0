package ui_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/readthru/readthru/internal/journal"
)

func TestADearPageSaysWhereItsTokensAre(t *testing.T) {
	w := newWorld(t)
	md := "# Page\n\nA short text.\n\n## Rows & more\n\n| a | b |\n|---|---|\n" +
		strings.Repeat("| one | two words |\n", 300) + "\n## Last\n\nSee [this](https://a.test/long/address).\n"
	dear := w.do(t, http.MethodGet, "/pages/"+w.put(t, "dear", "Dear", md), nil).body
	for _, want := range []string{
		"Where the tokens are", "<td>tables</td>", "<td>paragraphs</td>", "addresses of links", "Dearest: ",
		`#h-rows--more"><bdi>Rows &amp; more</bdi></a>`, "readthru fetch --max-tokens 1000", "--section", "--drop",
	} {
		if !strings.Contains(dear, want) {
			t.Errorf("a dear page does not say %s", want)
		}
	}
	path := "/pages/" + w.put(t, "cheap", "Cheap", "# Page\n\nA short text.\n\n## Rest\n\nMore.\n")
	if strings.Contains(w.do(t, http.MethodGet, path, nil).body, "Where the tokens are") {
		t.Error("a cheap page is explained")
	}
	if list := w.do(t, http.MethodGet, path+"?view=outline", nil).body; !strings.Contains(list, "tokens</span>") {
		t.Error("the outline does not say what sections cost")
	}
	for tokens, want := range map[int]bool{1000: true, 999: false} {
		e := &journal.Entry{Time: time.Now(), Method: "GET", URL: "https://a.test/", Outcome: "hit", Tokens: tokens}
		id := w.told.Add(e)
		if got := w.do(t, http.MethodGet, "/requests/"+id, nil).body; strings.Contains(got, "--max-tokens 1000") != want {
			t.Errorf("a request of %d tokens says how to get fewer: %v, want %v", tokens, !want, want)
		}
	}
}
