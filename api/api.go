package api

import (
	"time"

	"github.com/readthru/readthru/internal/fleet"
	"github.com/readthru/readthru/internal/journal"
	"github.com/readthru/readthru/knowledge"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// FetchRequest asks for a page. The zero value of each field but URL is its default.
type FetchRequest struct {
	URL string `json:"url"` // absolute, http or https
	// markdown (default), text, html (the origin's own in UTF-8, or the text of what is not HTML), prompt, screenshot (a
	// PNG, in place of content), or json, which is markdown too
	Format       string `json:"format,omitempty"`
	OutputFormat string `json:"output_format,omitempty"` // another name of format
	Force        bool   `json:"force_refresh,omitempty"` // ask the origin even if the cache could answer
	Persist      *bool  `json:"persist,omitempty"`       // false: store no page, version or visit; default true
	// cut content after so many code points; 0 no limit, for prompt 4000
	MaxChars  int `json:"max_chars,omitempty"`
	MaxTokens int `json:"max_tokens,omitempty"` // cut content at about so many tokens; 0 no limit
	// skip so many code points of the content: next of a page that was cut
	Start int `json:"start,omitempty"`
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

// PageQuery selects pages. Its zero value selects the fifty visited last.
type PageQuery struct {
	Host    string    `query:"host" doc:"only this host"`
	Text    string    `query:"q" doc:"only with this text in title or URL"`
	Kind    string    `query:"kind" doc:"only this url_type"`
	Source  string    `query:"source" doc:"only this markdown_source"`
	Warning string    `query:"warning" doc:"only with a warning that begins so; any: with a warning"`
	Since   time.Time `query:"since" doc:"fetched since a day, a time, or an age (36h, 7d)"`
	Sort    string    `query:"sort" doc:"recent (default), visits, url or tokens"`
	Limit   int       `query:"limit" range:"1,500"` // 0 is 50
	Cursor  string    `query:"cursor"`              // Next of the list before
	Look    int       `query:"look" range:"1" doc:"look at this many recent pages at most, for a list that may be short"`
}

// PageList is a part of the list of pages. Next is empty at the end.
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
	URL     string `query:"url" doc:"only this page"`
	Session string `query:"session" doc:"only this session"`
	User    string `query:"user" doc:"only of this user of the proxy"`
	Nodes   bool   `query:"nodes" doc:"those of all nodes of the fleet, but for those of the last seconds"`
	Limit   int    `query:"limit" range:"1,500"` // 0 is 50
	Cursor  string `query:"cursor"`              // Next of the list before
}

// VisitList is a part of the list of visits. Next is empty at the end.
type VisitList struct {
	Visits []fleet.Visit `json:"visits"` // their nodes are named if those of all nodes were asked for
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
	// one of them answers a fetch now, without asking the origin
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
	URL    string `query:"url" doc:"of one URL"`
	Host   string `query:"host" doc:"of a host"`
	Prefix string `query:"prefix" doc:"of all URLs with this prefix, which has at least scheme and host"`
	Tag    string `query:"tag" doc:"with this tag of the origin (Cache-Tag, Surrogate-Key)"`
}

// Removed says how much was removed.
type Removed struct {
	Removed int `json:"removed"`           // stored responses and renditions; of a session, pages
	Fetched int `json:"fetched,omitempty"` // pages of sessions that were removed with stored responses
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

	// RejectedCA are hosts, at most a hundred, that are tunnelled for a client because it rejected our authority's
	// certificate there.
	RejectedCA []HostFact `json:"rejected_ca"`

	Work Work `json:"work"`

	Faults int64 `json:"faults"` // panics that were caught since the start

	Fleet *fleet.Status `json:"fleet,omitempty"` // nil: this is a node alone

	// Agents are those that have asked the proxy in the last hour, at most 64. OtherAgents sums up those beyond.
	Agents      []journal.AgentSeen `json:"agents"`
	OtherAgents *journal.AgentSeen  `json:"other_agents,omitempty"`
}

// Work is what is in progress now. Index.Queued of [Stats] is what waits to be indexed.
type Work struct {
	Requests int `json:"requests"` // through the proxy, without tunnels
	Origins  int `json:"origins"`  // requests to origins
	Renders  int `json:"renders"`  // pages in the browser
	Jobs     int `json:"jobs"`
}

// RequestStats counts requests by all doors since start, as the list of requests has them: those of all outcomes are
// the total, and so are those of all doors. Of the proxy's requests, some were inside intercepted connections, some
// were refused with 403, and for some the origin failed.
type RequestStats struct {
	Total       int64            `json:"total"`
	Outcomes    map[string]int64 `json:"outcomes"`
	Doors       map[string]int64 `json:"doors"`
	Hidden      int64            `json:"hidden"` // not in the total: a rule with log: off is for them
	Intercepted int64            `json:"intercepted"`
	Tunnelled   int64            `json:"tunnelled"`
	Blocked     int64            `json:"blocked"`
	Errors      int64            `json:"errors"`
}

// CacheStats counts the requests since start by what the cache did, and what is stored now. HitRatio, 0 to 1, is the
// part of these, without bypassed ones, that used a stored response (hits, revalidated, stale).
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

// PageStats counts what is stored of pages.
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

// RenderStats says how pages are fetched (rule C1): in a browser if one is needed, only by http, or unavailable when
// offline.
type RenderStats struct {
	State     string `json:"state"`               // browser, http or unavailable
	Reason    string `json:"reason,omitempty"`    // why there is no browser
	Browser   string `json:"browser,omitempty"`   // its path
	Sandboxed bool   `json:"sandboxed,omitempty"` // the browser has its sandbox, as far as is known
	Running   bool   `json:"running"`
	Pages     int64  `json:"pages"` // rendered since start
	Failed    int64  `json:"failed"`
	Deaths    int64  `json:"deaths"` // of the browser, since start
}

// MarkdownNewStats is the state of the third party markdown.new: off, closed (in use) or open (paused after failures).
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

// Liveness says which daemon answers.
type Liveness struct {
	Status   string `json:"status"` // ok
	Instance string `json:"instance"`
	Version  string `json:"version"`
	Proof    string `json:"proof,omitempty"` // that it knows the secret of daemon.json, if it was challenged
}

// Readiness is the state of each part. Ready is false when a part keeps the daemon from its main job.
type Readiness struct {
	Ready bool            `json:"ready"`
	Parts map[string]Part `json:"parts"`

	// Distrusted are the hosts of Stats.RejectedCA.
	Distrusted []string `json:"distrusted,omitempty"`
}

// Part is the state of one part of the program.
type Part struct {
	State  string `json:"state"`
	Reason string `json:"reason,omitempty"` // for people; empty when all is well
	Remedy string `json:"remedy,omitempty"` // what to do
}
