package page

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/readthru/readthru/internal/unknown"
)

// Source names the step that gave a page its markdown. It is the value of the response field X-Readthru-Source.
type Source string

// The sources, in the order of the founding cascade (rules A9, AD3).
const (
	Negotiated  Source = "negotiated"   // the origin answered markdown
	Alternate   Source = "alternate"    // a markdown twin that the origin names or has
	Local       Source = "local"        // converted here from the origin's bytes
	Browser     Source = "browser"      // converted here from what a browser rendered
	MarkdownNew Source = "markdown_new" // converted by markdown.new
	LLM         Source = "llm"          // converted by a model
)

// Attempt tells what one step of the cascade did for a page.
type Attempt struct {
	Step    string `json:"step"`             // the step's name as in fetch.cascade
	Outcome string `json:"outcome"`          // answered, skipped, rejected or failed
	Reason  string `json:"reason,omitempty"` // why, in a few words; never a secret
	MS      int64  `json:"ms"`               // how long it took, in milliseconds
}

// Outcomes of an [Attempt].
const (
	Answered = "answered" // this step's content is what was served
	Skipped  = "skipped"  // it did not apply, or was not needed
	Rejected = "rejected" // it gave content that was not good enough
	Failed   = "failed"   // it gave an error
)

// Error says why there is no page. Its JSON form is the member error of the page object.
// Kinds are what programs decide by, the message is for people.
type Error struct {
	Kind    string `json:"kind"`             // blocked, timeout, http, connect, tls, too_large or unsupported
	Message string `json:"message"`          // one plain sentence (rule A10)
	Reason  string `json:"reason,omitempty"` // what it says without the URL, for where that is named; empty: all of it
	Status  int    `json:"status,omitempty"` // the origin's, of kind http

	Payment []Payment `json:"payment,omitempty"` // how the origin offers to be paid for the page, of status 402
}

// WarnWall is the warning of a page in whose place a bot wall stands. It is never kept.
const WarnWall = "bot-wall"

// WallHelp says what helps those whom a bot wall keeps out, beside a copy that is stored.
const WallHelp = "a person can open the page in a browser, its owner can let signed requests through (fetch.sign), " +
	"and an archive may have a copy"

// A Wall is a bot wall that stands in the place of a page.
type Wall struct {
	By   string    `json:"by,omitempty"`  // whose it is: Cloudflare, DataDome, …; empty: its marks do not say
	Copy time.Time `json:"copy,omitzero"` // when the copy of the page that is stored was read; zero: there is none
}

// Why returns, of a page's error, the reason, or the whole message where that names no URL.
func (e *Error) Why() string { return cmp.Or(e.Reason, e.Message) }

// Gone reports whether the origin says that there is no such page any more. It is false for nil.
func (e *Error) Gone() bool { return e != nil && Gone(e.Status) }

// Gone reports whether an origin's status says that there is no such page.
func Gone(status int) bool { return status == http.StatusNotFound || status == http.StatusGone }

// Info holds measurements of the last fetch. Times are milliseconds, sizes count Unicode code points.
// They tell an operator where the time of a fetch went, and what the markdown saved.
type Info struct {
	FetchMS             int64  `json:"fetch_ms"`
	ConvertMS           int64  `json:"convert_ms"`
	RenderMS            int64  `json:"render_ms,omitempty"`
	RenderEnd           string `json:"render_end,omitempty"` // what ended the wait: selector, quiet or timeout
	LLMMS               int64  `json:"llm_ms,omitempty"`
	LLMModel            string `json:"llm_model,omitempty"`
	LLMPromptTokens     int    `json:"llm_prompt_tokens,omitempty"`
	LLMCompletionTokens int    `json:"llm_completion_tokens,omitempty"`
	LLMTotalTokens      int    `json:"llm_total_tokens,omitempty"`
	HTMLChars           int    `json:"html_chars,omitempty"`
	MarkdownChars       int    `json:"markdown_chars,omitempty"`
	HTMLTokens          int    `json:"html_tokens,omitempty"`
}

// Meta is what a page says about itself, by the names of rule E7 (description, og:title, author, lang …).
type Meta map[string]string

// Record is what the store keeps of a page. Times are UTC; a zero time or an empty field is unknown and left out of
// JSON.
type Record struct {
	Doc           string `json:"doc"` // first 16 hex digits of the Key (rule B26)
	URL           string `json:"url"` // as asked for
	FinalURL      string `json:"final_url,omitempty"`
	CanonicalURL  string `json:"canonical_url,omitempty"`
	NormalizedURL string `json:"normalized_url"`
	Type          Type   `json:"url_type"`
	Display       string `json:"display"`

	Title         string      `json:"title,omitempty"`
	Description   string      `json:"description,omitempty"`
	Meta          Meta        `json:"meta,omitempty"`
	ContentFormat string      `json:"content_format,omitempty"` // markdown, text, html or prompt
	Excerpt       string      `json:"excerpt,omitempty"`        // at most ExcerptLength characters
	GitHub        *GitHubInfo `json:"github_info,omitempty"`    // what a URL of GitHub names

	Source      Source `json:"markdown_source,omitempty"`
	Tokens      int    `json:"markdown_tokens,omitempty"`
	ContentHash string `json:"content_hash,omitempty"` // hex SHA-256 of the markdown without front matter
	SizeBytes   int    `json:"size_bytes,omitempty"`   // of the content in markdown, UTF-8 bytes (rule A14)
	Bytes       int64  `json:"bytes,omitempty"`        // of the origin's response content (rule E3)
	StatusCode  int    `json:"status_code,omitempty"`
	ContentType string `json:"content_type,omitempty"` // the origin's

	CreatedAt time.Time `json:"created_at,omitzero"`
	UpdatedAt time.Time `json:"updated_at,omitzero"` // when the content last changed
	FetchedAt time.Time `json:"fetched_at,omitzero"`

	// ReadAt is when the content was read, or its origin last called it gone, by the clock of the store that did it
	// first. It orders readings and deletions; FetchedAt is what the origin says, whose clock counts seconds.
	ReadAt time.Time `json:"-"`

	Preferences Preferences `json:"preferences,omitempty"` // what the origin says about the use of the content

	Stored   bool     `json:"stored"`
	Warnings []string `json:"warnings,omitempty"`
	Info     Info     `json:"info"`
	Error    *Error   `json:"error,omitempty"`

	Unknown unknown.Fields `json:"-"` // what a newer program says of the page in a fleet
}

// LastRead returns when the page was read last: ReadAt, or what comes nearest in the record of an older program.
func (r *Record) LastRead() time.Time {
	for _, t := range []time.Time{r.ReadAt, r.FetchedAt} {
		if !t.IsZero() {
			return t
		}
	}
	return r.UpdatedAt
}

// Findable reports whether searches may find a page: not one that its origin calls gone (rule X6), whose address has a
// secret, of which only a part or a wall against robots was read, or whose origin wants it in no index, where that is
// respected. The store keeps only pages that may be kept (AD4, AD6); this is the second look.
func (r *Record) Findable() bool {
	if r.Error.Gone() || r.HasSecret() {
		return false
	}
	return !slices.ContainsFunc(r.Warnings, func(w string) bool {
		return w == "truncated" || w == WarnWall || w == WarnNotIndexed
	})
}

// HasSecret reports whether an address of the page that the record is of has a secret, or cannot be read.
func (r *Record) HasSecret() bool {
	return slices.ContainsFunc([]string{r.NormalizedURL, r.URL, r.FinalURL}, func(raw string) bool {
		u, err := url.Parse(raw)
		return err != nil || HasSecret(u)
	})
}

// Visits counts the visits of a page. The store counts them beside the record, which a visit does not change.
type Visits struct {
	FirstVisitedAt time.Time `json:"first_visited_at,omitzero"`
	LastVisitedAt  time.Time `json:"last_visited_at,omitzero"`
	VisitCount     int64     `json:"visit_count,omitempty"`
}

// Answer is what belongs to one visit of a page. It is never stored.
type Answer struct {
	Content string `json:"content,omitempty"`
	Section string `json:"section,omitempty"` // Content is this section alone
	// Content was cut: ask for what follows with start at this code point
	Next  int `json:"next,omitempty"`
	Total int `json:"total_chars,omitempty"` // of the whole content, if a part was asked for to the character
	// of an ingested text: what its author says about it, as strings, numbers and booleans
	Metadata    Metadata `json:"metadata,omitempty"`
	Bases       []string `json:"kbs,omitempty"`          // of a stored page: the knowledge bases that hold it
	Readme      string   `json:"readme,omitempty"`       // of a repository, markdown
	SymbolMap   string   `json:"symbol_map,omitempty"`   // of a repository, as compact text
	Summary     string   `json:"summary,omitempty"`      // on request, markdown
	SummaryType string   `json:"summary_type,omitempty"` // brief, usage, api, architecture or evaluation

	VisitID   string    `json:"visit_id,omitempty"`
	FromCache bool      `json:"from_cache"`
	Removed   *Removed  `json:"removed,omitempty"` // on request: what was removed because no reader sees it
	Attempts  []Attempt `json:"attempts,omitempty"`
	Wall      *Wall     `json:"wall,omitempty"` // of a page with the warning bot-wall

	Console    []string `json:"console,omitempty"`    // on request: what the page logged as errors in a browser
	Screenshot []byte   `json:"screenshot,omitempty"` // on request: PNG of the whole page
}

// Give makes the tokens of a page those that its reader gets. If they are fewer, those of the HTML become fewer in the
// same proportion: what a reader of a part was spared is that of the part.
func (p *Page) Give(tokens int) {
	if tokens < p.Tokens {
		p.Info.HTMLTokens = int(int64(p.Info.HTMLTokens) * int64(tokens) / int64(p.Tokens))
	}
	p.Tokens = tokens
}

// Saved returns how many tokens the visits of a stored page were spared in comparison with its HTML, as if each had got
// all of it.
func (p *Page) Saved() int64 {
	return p.VisitCount * int64(max(0, p.Info.HTMLTokens-p.Tokens))
}

// Page is the page object of the API. A new field belongs to one of the types embedded here.
type Page struct {
	Record
	Visits
	Answer
}
