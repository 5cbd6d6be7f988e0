// Package api is what an operator or an agent may ask of readthru: fetch a page, list pages, visits and versions, look
// into the cache, read figures, take the authority's certificate.
//
// The operations are methods of [Server], which holds the parts in its own process, and of [Client], which asks a
// running daemon over HTTP. Both have the same methods with the same meaning, so a command works alike with and without
// a daemon. Every failure that has a status of its own is an [*Error]; on the wire it is application/problem+json (RFC
// 9457).
//
// Over HTTP every path is guarded: the Host field must name us (DNS rebinding), an Origin field must be ours,
// cross-site requests of browsers are refused, POST takes JSON alone, and a token is asked for where one is set.
package api

import (
	"time"

	"readthru/knowledge"
	"readthru/page"
	"readthru/store"
)

// FetchRequest asks for a page. The zero value of each field but URL is its default.
type FetchRequest struct {
	URL string `json:"url"` // absolute, http or https
	// markdown (default), text, html (the origin's own, in UTF-8; of what is no HTML its text), prompt, screenshot (a PNG,
	// in place of content), or json, which is markdown too
	Format    string `json:"format,omitempty"`
	Force     bool   `json:"force_refresh,omitempty"` // ask the origin even if the cache could answer
	Persist   *bool  `json:"persist,omitempty"`       // false: leave no page, version or visit; default true
	MaxChars  int    `json:"max_chars,omitempty"`     // cut content after so many code points; 0 no limit, for prompt 4000
	MaxTokens int    `json:"max_tokens,omitempty"`    // cut content at about so many tokens; 0 no limit
	// leave out so many code points of the content: next of a page that was cut
	Start     int    `json:"start,omitempty"`
	WholePage bool   `json:"whole_page,omitempty"` // all of the page, not its main content alone
	Selector  string `json:"selector,omitempty"`   // only what this CSS selector matches
	Drop      string `json:"drop,omitempty"`       // without what this CSS selector matches
	// only the section with this id or heading; default: that of url's fragment
	Section  string `json:"section,omitempty"`
	Links    string `json:"links,omitempty"`    // inline, reference, text or none; default as configured
	Images   string `json:"images,omitempty"`   // keep, alt or none; default as configured
	Receipts bool   `json:"receipts,omitempty"` // tell what was removed because no reader of the page sees it
	Render   string `json:"render,omitempty"`   // auto (default), always or never
	// a page that is rendered is waited for until this CSS selector matches
	WaitFor string `json:"wait_for,omitempty"`
	Console bool   `json:"console,omitempty"` // render the page and tell what it logs as errors
	Remote  *bool  `json:"remote,omitempty"`  // false: send nothing to third parties; default true
	// auto, brief, usage, api, architecture or evaluation; default: none is made
	Summary string `json:"summary,omitempty"`
	// the reader's own words: they may choose the summary where that is auto
	Hint string `json:"hint,omitempty"`
	// kept with the visit; the page goes into its set, or the default session's
	Session string `json:"session,omitempty"`
	Agent   string `json:"-"` // kept with the visit; over HTTP the User-Agent field
}

// PageQuery selects pages. Its zero value is the fifty visited last.
type PageQuery struct {
	Host   string // that host alone
	Text   string // in title or URL
	Sort   string // recent (default), visits, url or tokens
	Limit  int    // 0 is 50, at most 500
	Cursor string // Next of the list before
}

// PageList is a part of the pages known. Next is empty at the end.
type PageList struct {
	Pages []*page.Page `json:"pages"`
	Next  string       `json:"next,omitempty"`
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
	Unified string        `json:"diff"` // unified diff of the markdown, empty when nothing changed
}

// VisitQuery selects visits, newest first.
type VisitQuery struct {
	URL     string // of one page
	Session string
	Limit   int // 0 is 50, at most 500
	Cursor  string
}

// VisitList is a part of the visits. Next is empty at the end.
type VisitList struct {
	Visits []store.Visit `json:"visits"`
	Next   string        `json:"next,omitempty"`
}

// CacheEntry is one stored response.
type CacheEntry struct {
	URL          string              `json:"url"`
	Status       int                 `json:"status"`
	Header       map[string][]string `json:"header"` // Set-Cookie left out
	Vary         []string            `json:"vary,omitempty"`
	RequestTime  time.Time           `json:"request_time"`
	ResponseTime time.Time           `json:"response_time"`
	Length       int64               `json:"length"` // of the stored content, in bytes
}

// CacheEntries are the stored responses of a URL, newest first.
type CacheEntries struct {
	URL     string       `json:"url"`
	Entries []CacheEntry `json:"entries"`
	// one of them answers a fetch now, without a question to the origin
	Fresh       bool          `json:"fresh"`
	Explanation []ExplainLine `json:"explanation,omitempty"` // of all entries, in their order
}

// ExplainLine is one step of why a stored response is or is not reused.
type ExplainLine struct {
	Section string `json:"section,omitempty"` // of RFC 9111; none for a heading and for a conclusion
	Text    string `json:"text"`
}

// Selection names stored responses to remove: exactly one field is set.
type Selection struct {
	URL    string // one URL, exactly
	Host   string // everything of a host
	Prefix string // every URL that begins so; with at least scheme and host
	Tag    string // what the origin tagged so (Cache-Tag, Surrogate-Key)
}

// Removed says how much went.
type Removed struct {
	Removed int `json:"removed"`           // stored responses with what was kept in their place; of a session's set, pages
	Fetched int `json:"fetched,omitempty"` // pages that went from the sets of sessions together with stored responses
}

// DisclosureList is a part of the ledger of what was sent to third parties, newest first.
type DisclosureList struct {
	Disclosures []store.Disclosure `json:"disclosures"`
	Next        string             `json:"next,omitempty"`
}

// Stats are the figures since start and of the store.
type Stats struct {
	UptimeS     int64            `json:"uptime_s"`
	Version     string           `json:"version"`
	Requests    RequestStats     `json:"requests"`
	Cache       CacheStats       `json:"cache"`
	Pages       PageStats        `json:"pages"`
	Tokens      TokenStats       `json:"tokens"`
	Index       knowledge.Stats  `json:"index"`
	Render      RenderStats      `json:"render"`
	MarkdownNew MarkdownNewStats `json:"markdown_new"`
	Hosts       []HostStats      `json:"hosts"`
}

// RequestStats counts the proxy's requests since start.
type RequestStats struct {
	Total       int64 `json:"total"`
	Intercepted int64 `json:"intercepted"`
	Tunnelled   int64 `json:"tunnelled"`
	Blocked     int64 `json:"blocked"`
	Errors      int64 `json:"errors"`
}

// CacheStats counts the cache's answers since start, and what is stored now. HitRatio, 0 to 1, is the part of answers
// that could use a stored response (hits, revalidated, stale) among all but the bypassed.
type CacheStats struct {
	Hits        int64   `json:"hits"`
	Misses      int64   `json:"misses"`
	Revalidated int64   `json:"revalidated"`
	Stale       int64   `json:"stale"`
	Bypass      int64   `json:"bypass"`
	HitRatio    float64 `json:"hit_ratio"`
	Entries     int64   `json:"entries"`
	Bytes       int64   `json:"bytes"`
}

// PageStats counts what is remembered.
type PageStats struct {
	Total    int64                 `json:"total"`
	Visits   int64                 `json:"visits"`
	BySource map[page.Source]int64 `json:"by_source"`
	Versions int64                 `json:"versions"`
}

// TokenStats sums, over all visits, the tokens of the HTML and of the markdown delivered in its place.
type TokenStats struct {
	HTML     int64 `json:"html"`
	Markdown int64 `json:"markdown"`
	Saved    int64 `json:"saved"`
}

// RenderStats tells how pages are got (rule C1): in a browser where one is needed, by http alone, or unavailable when
// offline.
type RenderStats struct {
	State     string `json:"state"`               // browser, http or unavailable
	Reason    string `json:"reason,omitempty"`    // why there is no browser
	Browser   string `json:"browser,omitempty"`   // its path
	Sandboxed bool   `json:"sandboxed,omitempty"` // it has its sandbox, as far as is known
	Running   bool   `json:"running"`
	Pages     int64  `json:"pages"` // rendered since start
	Failed    int64  `json:"failed"`
	Deaths    int64  `json:"deaths"` // of the browser, since start
}

// MarkdownNewStats tells the state of the third party markdown.new: off, closed (in use) or open (resting after
// failures).
type MarkdownNewStats struct {
	Mode      string `json:"mode"`
	State     string `json:"state"`
	Sent      int64  `json:"sent"`
	Remaining int64  `json:"remaining"`
}

// HostStats counts visits and cache hits of a host.
type HostStats struct {
	Host   string `json:"host"`
	Visits int64  `json:"visits"`
	Hits   int64  `json:"hits"`
}

// Liveness says who answers.
type Liveness struct {
	Status   string `json:"status"` // ok
	Instance string `json:"instance"`
	Version  string `json:"version"`
}

// Readiness is the state of each part. Ready is false when a part keeps the daemon from its main job.
type Readiness struct {
	Ready bool            `json:"ready"`
	Parts map[string]Part `json:"parts"`

	// Distrusted are the hosts that are tunnelled for some client, because it rejected our authority's certificate there;
	// at most a hundred.
	Distrusted []string `json:"distrusted,omitempty"`
}

// Part is the state of one part of the program.
type Part struct {
	State  string `json:"state"`
	Reason string `json:"reason,omitempty"` // for people; empty when all is well
}
