package mcp

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/internal/clip"
	"github.com/readthru/readthru/knowledge"
)

// maxHits is the most hits of one search; a cursor gets more.
const maxHits = 50

// firstChars is how many characters of the first hit's passage are shown: most questions are answered there or nowhere.
const firstChars = 480

// searchTool is the tool search_knowledge_base. The budget of a result cuts its list, not the limit alone: a cursor
// continues.
func searchTool() tool {
	return tool{
		name: "search_knowledge_base", title: "Search",
		about: "Searches the knowledge bases, all pages read, and notes. Best passages first.",
		params: []param{
			{
				name: "query", kind: text, about: `Words, "phrases" and prefixes*`, required: true,
				aliases: "q text question search search_query",
			},
			baseParam,
			{name: "subject", kind: text, about: "Only passages and notes about it", aliases: "topic about entity"},
			{
				name: "limit", kind: integer, def: 5, min: 1, max: maxHits,
				aliases: "max_results top_k k n count num_results",
			},
			cursorParam,
		},
		shape: "results array, next_cursor string",
		run:   runSearch,
	}
}

// hit is a hit of the tool search_knowledge_base, as a value for programs.
type hit struct {
	Doc       string  `json:"doc"`
	URL       string  `json:"url"`
	Link      string  `json:"link,omitempty"`
	Title     string  `json:"title"`
	Heading   string  `json:"heading,omitempty"`
	Passage   string  `json:"passage"`
	Snippet   string  `json:"snippet"`
	Score     float64 `json:"score"`
	FetchedAt string  `json:"fetched_at,omitempty"`

	Statement string `json:"statement,omitempty"`

	Kind  string   `json:"kind"`
	Notes []string `json:"notes,omitempty"`
	Pages []string `json:"pages,omitempty"`
}

// runSearch does the tool search_knowledge_base. Its cursor counts hits, so that each page of results searches anew and
// asks for one hit more than it shows, which tells whether there are others.
func runSearch(ctx context.Context, c *call) (*result, error) {
	from, err := c.offset()
	if err != nil {
		return nil, err
	}
	limit := c.args.number("limit")
	res, err := c.client.Search(ctx, api.SearchQuery{
		Text: c.args.text("query"), KB: c.args.text("kb_name"), Subject: c.args.text("subject"),
		Limit: min(from+limit+1, 500), Chars: firstChars,
	})
	if err != nil {
		return nil, err
	}
	// The reason is a sentence of its own in the answer, but begins in lower case.
	if res.Degraded {
		c.note("W%s", clip.Line(strings.TrimPrefix(res.Reason, "w"), 200))
	}
	for _, note := range res.Notes() {
		c.note("%s%s", strings.ToUpper(note[:1]), note[1:])
	}
	l := c.server.newList()
	next, before := "", "" // when the last hit was read
	for i := min(from, len(res.Hits)); i < len(res.Hits); i++ {
		read := fmt.Sprintf(", read %.10s", day(res.Hits[i].FetchedAt))
		text, item := showHit(i, &res.Hits[i], strings.TrimPrefix(read, before))
		before = read
		if len(l.items) == limit || !l.add(text, item) {
			next = strconv.Itoa(i)
			break
		}
	}
	return l.result("results", next, "Nothing found."), nil
}

// showHit shows the hit number i of a search: the title, the link that leads to the passage, the heading, the snippet,
// and what a model or notes say of it; read ends its last line. All of it was written by others and stands on lines of
// ours, so that each part is cut and put on one line.
func showHit(i int, h *knowledge.Hit, read string) (string, hit) {
	v := hit{
		Doc: h.Doc, URL: clip.Line(h.URL, 2000), Link: clip.Line(h.Link, 2000), Title: clip.Line(h.Title, 300),
		Heading: clip.Line(h.Heading, 300), Passage: h.Passage,
		Snippet: h.Snippet, Score: float64(int(h.Score*100)) / 100, Kind: h.Kind,
		Statement: clip.Line(h.Statement, 500),
		Notes:     h.Notes, Pages: h.Pages,
	}
	if !h.FetchedAt.IsZero() {
		v.FetchedAt = h.FetchedAt.UTC().Format("2006-01-02T15:04:05Z")
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d. %s\n   %s\n", i+1, orURL(v.Title, v.URL), cmp.Or(v.Link, v.URL))
	if below := belowTitle(v.Heading, v.Title); below != "" {
		b.WriteString("   " + below + "\n")
	}
	b.WriteString(indent(v.Snippet, "   > "))
	if v.Statement != "" {
		b.WriteString("   A model says of it: " + v.Statement + "\n")
	}
	if len(h.Pages) > 0 {
		fmt.Fprintf(&b, "   a note about %s\n", strings.Join(h.Pages, " "))
	}
	if len(h.Notes) > 0 {
		fmt.Fprintf(&b, "   notes about it: %s\n", strings.Join(h.Notes, " "))
	}
	fmt.Fprintf(&b, "   passage %s%s\n", v.Passage, read)
	return b.String(), v
}

// belowTitle returns the heading of a search hit without the title of its page, which it often begins with and which
// stands above it. It is empty if it is the title.
func belowTitle(heading, title string) string {
	if first, rest, ok := strings.Cut(heading, " › "); ok && first == title {
		return "› " + rest
	}
	if heading == title {
		return ""
	}
	return heading
}

// orURL returns the title of a hit's page, or its URL if it has none.
func orURL(title, url string) string {
	if title == "" {
		return url
	}
	return title
}
