package page_test

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/readthru/readthru/page"
)

func TestMembersOfThePageObjectKeepTheirOrder(t *testing.T) {
	at := time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)
	whole := page.Page{
		Record: page.Record{
			Doc: "d", URL: "u", FinalURL: "f", CanonicalURL: "c", NormalizedURL: "n", Type: page.Web, Display: "d",
			Title: "t", Description: "d", Meta: page.Meta{"k": "v"}, ContentFormat: "markdown", Excerpt: "e",
			GitHub: &page.GitHubInfo{Owner: "o", Repo: "r"}, Source: page.Local, Tokens: 1, ContentHash: "h", SizeBytes: 2,
			Bytes: 3, StatusCode: 200, ContentType: "text/html", CreatedAt: at, UpdatedAt: at, FetchedAt: at, Stored: true,
			Warnings: []string{"w"}, Info: page.Info{FetchMS: 1}, Error: &page.Error{Kind: "http", Message: "m"},
		},
		Visits: page.Visits{FirstVisitedAt: at, LastVisitedAt: at, VisitCount: 4},
		Answer: page.Answer{
			Content: "a < b", Section: "s", Next: 5, Readme: "r", SymbolMap: "m", Summary: "s", SummaryType: "brief",
			VisitID: "v", FromCache: true, Removed: &page.Removed{}, Attempts: []page.Attempt{{Step: "local", Outcome: "answered"}},
			Console: []string{"c"}, Screenshot: []byte{1},
		},
	}
	for _, tt := range []struct {
		name string
		page page.Page
		want string
	}{
		{
			"of an empty page", page.Page{}, `{"doc":"","url":"","normalized_url":"","url_type":"","display":"",` +
				`"from_cache":false,"stored":false,"info":{"fetch_ms":0,"convert_ms":0}}`,
		},
		{
			"of a page with all fields", whole, `{"doc":"d","url":"u","final_url":"f","canonical_url":"c","normalized_url":"n",` +
				`"url_type":"web","display":"d","title":"t","description":"d","meta":{"k":"v"},"content":"a < b",` +
				`"content_format":"markdown","excerpt":"e","section":"s","next":5,"readme":"r","symbol_map":"m",` +
				`"github_info":{"owner":"o","repo":"r"},"summary":"s","summary_type":"brief","markdown_source":"local",` +
				`"markdown_tokens":1,"content_hash":"h","size_bytes":2,"bytes":3,"status_code":200,"content_type":"text/html",` +
				`"created_at":"2024-05-06T07:08:09Z","updated_at":"2024-05-06T07:08:09Z",` +
				`"first_visited_at":"2024-05-06T07:08:09Z","last_visited_at":"2024-05-06T07:08:09Z",` +
				`"fetched_at":"2024-05-06T07:08:09Z","visit_id":"v","visit_count":4,"from_cache":true,"stored":true,` +
				`"warnings":["w"],"removed":{"counts":null,"pieces":null},` +
				`"attempts":[{"step":"local","outcome":"answered","ms":0}],"info":{"fetch_ms":1,"convert_ms":0},` +
				`"error":{"kind":"http","message":"m"},"console":["c"],"screenshot":"AQ=="}`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var b bytes.Buffer
			enc := json.NewEncoder(&b)
			enc.SetEscapeHTML(false)
			if err := enc.Encode(&tt.page); err != nil {
				t.Fatal(err)
			}
			if got := b.String(); got != tt.want+"\n" {
				t.Errorf("JSON = %s, want %s", got, tt.want)
			}
		})
	}
}
