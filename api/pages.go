package api

import (
	"time"

	"github.com/readthru/readthru/internal/journal"
	"github.com/readthru/readthru/knowledge/outline"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// FetchRequest asks for a page. The zero value of each field but URL is its default.
type FetchRequest struct {
	URL string `json:"url"` // absolute, http or https
	// markdown (default), text, html (the origin's own in UTF-8, or the text of what is not HTML), prompt, summary (or the
	// page, if it has none), screenshot (a PNG, in place of content), json, which is markdown too, or none: no content
	Format       string `json:"format,omitempty"`
	OutputFormat string `json:"output_format,omitempty"` // another name of format
	Force        bool   `json:"force_refresh,omitempty"` // ask the origin even if the cache could answer
	Persist      *bool  `json:"persist,omitempty"`       // false: store no page, version or visit; default true
	// cut content after so many code points; 0 no limit, for prompt 4000
	MaxChars  int `json:"max_chars,omitempty"`
	MaxTokens int `json:"max_tokens,omitempty"` // cut content at about so many tokens; 0 no limit
	// skip so many code points of the content: next of a page that was cut
	Start int `json:"start,omitempty"`
	// start, max_chars and max_tokens hold to the character for content in any form, without front matter and a note
	// where it is cut; total_chars says how long the whole is
	Exact bool `json:"exact,omitempty"`
	// the most characters of the page's HTML that a model is given which converts it, if less than fetch.max_html_chars
	MaxHTMLChars int `json:"max_html_chars,omitempty"`

	WholePage bool   `json:"whole_page,omitempty"` // the whole page, not only its main content
	Selector  string `json:"selector,omitempty"`   // only what this CSS selector matches
	Drop      string `json:"drop,omitempty"`       // without what this CSS selector matches
	// only the section with this id or heading; default: that of url's fragment
	Section  string `json:"section,omitempty"`
	Links    string `json:"links,omitempty"`    // inline, compact, reference, text or none; default as configured
	Images   string `json:"images,omitempty"`   // keep, alt or none; default as configured
	Receipts bool   `json:"receipts,omitempty"` // list what was removed because no reader of the page sees it
	Render   string `json:"render,omitempty"`   // auto (default), always or never
	// wait in the browser until this CSS selector matches
	WaitFor string `json:"wait_for,omitempty"`
	Console bool   `json:"console,omitempty"` // render the page and list the errors that it logs
	Remote  *bool  `json:"remote,omitempty"`  // false: send nothing to third parties; default true
	// auto, brief, usage, api, architecture or evaluation; default: no summary
	Summary string `json:"summary,omitempty"`
	// purpose of reading, in words: it may choose the kind of an auto summary
	Hint string `json:"hint,omitempty"`
	// stored with the visit; the page becomes part of what this session, or the default one, has fetched
	Session string `json:"session,omitempty" header:"X-Readthru-Session"`
	Agent   string `json:"-" header:"User-Agent"` // stored with the visit
}

// PageRef names a page: a document id, the first 8 or more digits of one, or a URL.
type PageRef struct {
	Doc string `path:"doc"`
}

// StoredQuery names a page as a PageRef does, and may ask for a part of its content.
type StoredQuery struct {
	Doc       string `path:"doc"`
	Section   string `query:"section" doc:"only the section under this heading, or with this fragment or passage"`
	Start     int    `query:"start" doc:"skip so many characters; next of a part"`
	MaxTokens int    `query:"max_tokens" doc:"at most about so many tokens, in whole lines; next says where to go on"`
}

// PageQuery selects pages. Its zero value selects the fifty visited last.
type PageQuery struct {
	Host    string    `query:"host" doc:"only this host"`
	Text    string    `query:"q" doc:"only with this text in title or URL"`
	Kind    string    `query:"kind" doc:"only this url_type"`
	Source  string    `query:"source" doc:"only this markdown_source"`
	Warning string    `query:"warning" doc:"only with a warning that begins so; any: with a warning"`
	Since   time.Time `query:"since" doc:"fetched since a day, a time, or an age (36h, 7d)"`
	Sort    string    `query:"sort" doc:"recent (default), visits, url, tokens or saved, which is in tokens"`
	Limit   int       `query:"limit" range:"1,500"` // 0 is 50
	Cursor  string    `query:"cursor"`              // Next of the list before
	Look    int       `query:"look" range:"1" doc:"look at this many recent pages at most, for a list that may be short"`
}

// PageSorts are the orders of a list of pages.
var PageSorts = []string{"recent", "visits", "url", "tokens", "saved"}

// PageList is a part of the list of pages. Next is empty at the end.
type PageList struct {
	Pages []*page.Page `json:"pages"`
	Next  string       `json:"next,omitempty"`
}

// DiffQuery names two versions of a page, each by the first digits of its content hash or by how many versions back it
// is.
type DiffQuery struct {
	Doc string `path:"doc"`
	A   string `query:"a" doc:"older version: first digits of its content_hash, or how many versions back; default 1"`
	B   string `query:"b" doc:"newer version; default 0, the newest"`
}

// VersionList holds the versions of a page, newest first.
type VersionList struct {
	Doc      string          `json:"doc"`
	URL      string          `json:"url"`
	Versions []store.Version `json:"versions"`
}

// Diff tells how a page changed from version A to version B.
type Diff struct {
	Doc     string        `json:"doc"`
	URL     string        `json:"url"`
	A       store.Version `json:"a"`
	B       store.Version `json:"b"`
	Changed bool          `json:"changed"`
	// how many versions of the page are kept
	Versions int    `json:"versions"`
	Unified  string `json:"diff"` // unified diff of the markdown, empty when nothing changed
}

// Changes holds the sections of a page that changed, without the rest.
type Changes struct {
	Doc   string `json:"doc"`
	URL   string `json:"url"`
	Title string `json:"title,omitempty"`
	// the version compared with; absent if no version that old is kept, and all sections are listed as added then
	Since   *store.Version          `json:"since,omitempty"`
	Now     store.Version           `json:"now"`
	Changed bool                    `json:"changed"`
	Changes []outline.SectionChange `json:"changes"`
}

// ChangesQuery asks for the changes of a page.
type ChangesQuery struct {
	Doc   string `path:"doc"`
	Since string `query:"since" doc:"a time, a day, an age (36h, 7d) or digits of a content_hash"`
}

// Outline holds the headings of a page.
type Outline struct {
	Doc      string            `json:"doc"`
	URL      string            `json:"url"`
	Title    string            `json:"title,omitempty"`
	Headings []outline.Heading `json:"headings"`

	// Where the tokens are that the text costs a model, estimated: by section, and by kind of block, the dearest first.
	Tokens     int            `json:"tokens"`
	Kinds      []outline.Cost `json:"kinds"`
	LinkTokens int            `json:"link_tokens"` // of these, the addresses of links and images
}

// SectionText is one section of a page.
type SectionText struct {
	Doc     string          `json:"doc"`
	URL     string          `json:"url"`
	Heading outline.Heading `json:"heading"`
	Content string          `json:"content"`
}

// SectionQuery asks for a section of a page.
type SectionQuery struct {
	Doc  string `path:"doc"`
	Name string `query:"name" doc:"title, path or fragment of the heading, or the id of a passage in the section"`
}

// QuoteCheck says whether a sentence is in a page, and in which of its versions.
type QuoteCheck struct {
	Doc     string    `json:"doc"`
	URL     string    `json:"url"`
	Current bool      `json:"current"`           // it is in the newest version
	Version string    `json:"version,omitempty"` // content_hash of the newest version that has it
	Time    time.Time `json:"time,omitzero"`     // when that version was read
	outline.Quote
}

// QuoteQuery asks whether a sentence is in a page.
type QuoteQuery struct {
	Doc   string `path:"doc"`
	Quote string `query:"q" doc:"the sentence"`
}

// Original is what the origin answered for a page, as it is stored: text in UTF-8, without content coding.
type Original struct {
	Doc         string    `json:"doc"`
	URL         string    `json:"url"`
	ContentType string    `json:"content_type,omitempty"`
	Received    time.Time `json:"received"`
	Content     string    `json:"content"`
}

// ImageQuery asks for an image of a page.
type ImageQuery struct {
	Doc string `path:"doc"`
	URL string `query:"url" doc:"the image's address, as the page has it"`
}

// DetectRequest asks for the pages that a text names. Its FetchRequest, whose URL is empty, applies to each of them.
type DetectRequest struct {
	Text  string `json:"text"`
	Limit int    `json:"limit,omitempty"` // fetch only the first pages; 0 is 3 (rule B8), at most 50
	FetchRequest
}

// Detection holds the URLs in a text, in the order of their first appearance (rule B1).
type Detection struct {
	URLs []page.Detected `json:"urls"`
}

// FetchedText holds the pages that a text names. A page that could not be fetched has its Error set.
type FetchedText struct {
	URLs  []page.Detected `json:"urls"`  // all of the text
	Pages []*page.Page    `json:"pages"` // of the first of them, in the same order
	Left  int             `json:"left"`  // number of URLs beyond the limit, which were not fetched
}

// TextRequest is the content of a request about a text.
type TextRequest struct {
	Text string `json:"text"`
}

// Context lists the pages that a session has fetched, which are kept apart from the cache (rules B37, B42).
type Context struct {
	Session string       `json:"session"`
	Pages   []*page.Page `json:"pages"` // without content, the oldest fetch first; last_visited_at is its time
	Bytes   int64        `json:"bytes"` // of their content
	// pages dropped, oldest first, since the session began: it holds at most 500 pages and 16 MiB
	Dropped int64 `json:"dropped"`
}

// ContextQuery selects pages to write into one text. Its zero value selects all that the default session has fetched.
type ContextQuery struct {
	// Session is the name of the session; empty is [DefaultSession].
	Session string `query:"session" header:"X-Readthru-Session"`
	// URLs are the pages, in this order; empty is all, in the order in which they were fetched.
	URLs []string `query:"url" doc:"URL of a page, repeatable; default: all of the session"`
	// Exclude are URLs of pages to leave out.
	Exclude []string `query:"exclude" doc:"URL of a page to leave out, repeatable"`
	// MaxChars is the longest text of each page, in code points; 0 is 4000.
	MaxChars int `query:"max_chars" doc:"longest text of each page, in characters; default 4000"`
}

// ContextText holds pages as one text for a model to read (rule B43).
type ContextText struct {
	Session string   `json:"session"`
	Text    string   `json:"text"`
	URLs    []string `json:"urls"`     // of the pages in the text
	LeftOut []string `json:"left_out"` // URLs of pages that are neither excluded nor stored
}

// DefaultSession is the session of a fetch that names none (rule B37).
const DefaultSession = journal.DefaultSession

// ContextRef asks for pages of a session.
type ContextRef struct {
	Session string `query:"session" header:"X-Readthru-Session"`
	URL     string `query:"url" doc:"only this page, with its content"`
}

// ForgetQuery asks to remove pages from a session.
type ForgetQuery struct {
	Session string  `query:"session" header:"X-Readthru-Session"`
	URL     *string `query:"url" doc:"only this page; default: all"`
}

// RobotsQuery asks about robots.txt.
type RobotsQuery struct {
	URL string `query:"url" doc:"absolute"`
}

// Robots says whether the robots.txt of a site allows fetching a URL (RFC 9309). Callers that fetch for an autonomous
// agent obey it; requests through the proxy, and fetches that a person asked for, do not.
type Robots struct {
	Allowed bool   `json:"allowed"`
	Reason  string `json:"reason,omitempty"` // why not, one plain sentence
	URL     string `json:"url,omitempty"`    // of robots.txt; empty if no site was asked
	Status  int    `json:"status,omitempty"` // of the response; 0 if there was none
	Text    string `json:"text,omitempty"`   // its first 8 KiB

	Error *page.Error `json:"error,omitempty"` // why there was no response
}

// CheckQuery asks what agents get of a page.
type CheckQuery struct {
	URL string `query:"url" doc:"of a page, absolute"`
}

// Deleted answers that something was deleted.
type Deleted struct {
	Deleted bool `json:"deleted"`
}

// RpcError is the error of a response.
type RpcError struct { //nolint:revive // its name in the OpenAPI document
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

// Error returns the message.
func (e *RpcError) Error() string { return e.Message }

// rpcRequest is a request, for the description of the path.
type rpcRequest struct {
	Version string `json:"jsonrpc"`
	Method  string `json:"method"`
	Params  any    `json:"params"`
	ID      any    `json:"id"`
}

// RpcResponse is a response: exactly one of Result and Err is set.
type RpcResponse struct { //nolint:revive // its name in the OpenAPI document
	Version string    `json:"jsonrpc"`
	Result  any       `json:"result,omitempty"`
	Err     *RpcError `json:"error,omitempty"`
	ID      any       `json:"id"` // as it came
}
