package fetch_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/readthru/readthru/fetch"
)

const rss = `<?xml version="1.0"?><rss version="2.0"><channel><title>River news</title><link>https://site.test/</link>
<item><title>Water is wet</title><link>https://site.test/1</link><description>&lt;p&gt;It &lt;b&gt;is&lt;/b&gt;.&lt;/p&gt;</description></item></channel></rss>`

func TestAFeedIsConvertedOnceAndRememberedAsAPage(t *testing.T) { // AD1
	c := newChain(t, respond(200, rss, "Content-Type: application/rss+xml", "Cache-Control: max-age=600"))
	first := c.read(t, "https://site.test/feed")
	if !strings.Contains(string(first.Body), "## [Water is wet](https://site.test/1)") ||
		first.Page.Title != "River news" {
		t.Errorf("body %q, title %q", first.Body, first.Page.Title)
	}
	again := c.read(t, "https://site.test/feed")
	if len(c.origin.asked()) != 1 || !again.Page.FromCache || again.Page.Attempts[0].Reason != "rendition from the store" {
		t.Errorf("asked %q, attempts %+v", c.origin.asked(), again.Page.Attempts)
	}
	if c.stored(t, "https://site.test/feed") == nil {
		t.Error("the feed is no page")
	}
}

func TestTheSameBytesUnderAnotherTypeAreAnotherRendition(t *testing.T) {
	contentType := "application/rss+xml"
	c := newChain(t, respondWith(rss, &contentType))
	feed, err := c.own(t, "https://site.test/x")
	if err != nil || !strings.Contains(string(feed.Body), "## [Water") {
		t.Fatalf("%+v, %v", feed, err)
	}
	contentType = "text/css"
	code, err := c.own(t, "https://site.test/x")
	if err != nil || !strings.Contains(string(code.Body), "```css\n<?xml") {
		t.Errorf("%q, %v, want the source", code.Body, err)
	}
}

func TestDataThatSpeaksOfWallsIsNoWall(t *testing.T) {
	c := newChain(t, respond(200, `{"error":"Access Denied","title":"Just a moment"}`, "Content-Type: application/json"))
	ans, err := c.own(t, "https://site.test/api")
	if err != nil || slices.Contains(ans.Page.Warnings, "bot-wall") {
		t.Errorf("%+v, %v", ans, err)
	}
}

func TestOptionsReachADocumentToo(t *testing.T) {
	c := newChain(t, respond(200, "a,b\n1,2\n3,4\n", "Content-Type: text/csv"))
	ans, err := c.try(t, fetch.Request{URL: parse(t, "https://site.test/t.csv"), Own: true, Text: true})
	if err != nil || !strings.Contains(string(ans.Body), "1 \t 2") {
		t.Errorf("%q, %v", ans.Body, err)
	}
}

// respondWith answers with content of a type that may change.
func respondWith(content string, contentType *string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		respond(http.StatusOK, content, "Content-Type: "+*contentType, "Cache-Control: no-cache")(w, r)
	}
}
