package firecrawl

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"

	"readthru/fetch"
	"readthru/httpfield"
)

// scrapeOptions says which formats of a page are wanted and how to get it.
type scrapeOptions struct {
	// markdown (default), html, rawHtml, links, summary, screenshot
	Formats         []format          `json:"formats"`
	OnlyMainContent *bool             `json:"onlyMainContent"` // default true
	IncludeTags     []string          `json:"includeTags"`     // CSS selectors
	ExcludeTags     []string          `json:"excludeTags"`     // CSS selectors
	Headers         map[string]string `json:"headers"`
	Timeout         *int64            `json:"timeout"` // milliseconds
	WaitFor         int64             `json:"waitFor"` // milliseconds; if above 0, a browser renders the page
	MaxAge          *int64            `json:"maxAge"`  // milliseconds
	StoreInCache    *bool             `json:"storeInCache"`
	Lockdown        bool              `json:"lockdown"` // answer from the cache only
	SkipTLS         bool              `json:"skipTlsVerification"`

	Origin       ignored `json:"origin"`
	Integration  ignored `json:"integration"`
	Audit        ignored `json:"auditMetadata"`
	Proxy        ignored `json:"proxy"`
	BlockAds     ignored `json:"blockAds"`
	FastMode     ignored `json:"fastMode"`
	Parsers      ignored `json:"parsers"`
	ParsePDF     ignored `json:"parsePDF"`
	RemoveImages ignored `json:"removeBase64Images"`

	Actions        wanted `json:"actions"`
	Agent          wanted `json:"agent"`
	ChangeTracking wanted `json:"changeTrackingOptions"`
	Extract        wanted `json:"extract"`
	Geolocation    wanted `json:"geolocation"`
	JSONOptions    wanted `json:"jsonOptions"`
	Location       wanted `json:"location"`
	MinAge         wanted `json:"minAge"`
	Mobile         wanted `json:"mobile"`
	CleanContent   wanted `json:"onlyCleanContent"`
	Profile        wanted `json:"profile"`
	RedactPII      wanted `json:"redactPII"`
	SafeMode       wanted `json:"safeMode"`
	Threats        wanted `json:"threatProtection"`
	NoRetention    wanted `json:"zeroDataRetention"`
}

// format is a format of a page.
type format string

// formats are the supported formats by the names that requests use.
var formats = map[string]format{
	"markdown": "markdown", "html": "html", "rawHtml": "rawHtml", "links": "links",
	"summary": "summary", "screenshot": "screenshot", "screenshot@fullPage": "screenshot",
}

// UnmarshalJSON reads a name, or an object whose type is a name.
func (f *format) UnmarshalJSON(b []byte) error {
	var name string
	if json.Unmarshal(b, &name) != nil {
		var keys map[string]json.RawMessage
		if json.Unmarshal(b, &keys) != nil || json.Unmarshal(keys["type"], &name) != nil {
			return bad("formats: a format must be a name or an object with a type")
		}
		for k := range keys {
			if k != "type" && (formats[name] != "screenshot" || k != "fullPage" && k != "quality" && k != "viewport") &&
				formats[name] != "" {
				return bad("Unrecognized key in body: %q of the format %s", k, name)
			}
		}
	}
	if *f = formats[name]; *f == "" {
		return bad("formats: %q is not supported here: use markdown, html, rawHtml, links, summary or screenshot",
			name)
	}
	return nil
}

// The bounds of options.
const (
	maxWait     = 60_000 // milliseconds of waitFor, as with Firecrawl
	maxHeaders  = 50
	maxHeaderSz = 8 << 10 // bytes of all headers together
)

// check returns an error for options that are wrong or not supported.
func (o *scrapeOptions) check() error {
	if err := refuse(
		key{"actions", o.Actions}, key{"agent", o.Agent}, key{"changeTrackingOptions", o.ChangeTracking},
		key{"extract", o.Extract}, key{"geolocation", o.Geolocation},
		key{"jsonOptions", o.JSONOptions}, key{"location", o.Location}, key{"minAge", o.MinAge}, key{"mobile", o.Mobile},
		key{"onlyCleanContent", o.CleanContent},
		key{"profile", o.Profile}, key{"redactPII", o.RedactPII}, key{"safeMode", o.SafeMode},
		key{"threatProtection", o.Threats}, key{"zeroDataRetention", o.NoRetention},
	); err != nil {
		return err
	}
	switch {
	case o.Timeout != nil && *o.Timeout <= 0:
		return bad("timeout must be above 0 milliseconds")
	case o.WaitFor < 0 || o.WaitFor > maxWait:
		return bad("waitFor must be from 0 to %d milliseconds", maxWait)
	case o.MaxAge != nil && *o.MaxAge < 0:
		return bad("maxAge must not be negative")
	}
	if err := o.view().Check(); err != nil {
		return bad("includeTags, excludeTags: %s", err)
	}
	return checkHeaders(o.Headers)
}

// ours are fields that this program sends by itself.
var ours = strings.Fields("Accept Accept-Encoding Cache-Control Content-Length Expect Host If-Match " +
	"If-Modified-Since If-None-Match If-Range If-Unmodified-Since Pragma Range Via")

func checkHeaders(list map[string]string) error {
	size := 0
	for name, value := range list {
		size += len(name) + len(value)
		canonical := http.CanonicalHeaderKey(name)
		if !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(value) {
			return bad("headers: %q is not a valid field name, or its value is not valid", name)
		}
		if slices.Contains(ours, canonical) || httpfield.OfConnection(canonical) ||
			strings.HasPrefix(canonical, httpfield.OurPrefix) {
			return bad("headers: %s cannot be set here", canonical)
		}
	}
	if len(list) > maxHeaders || size > maxHeaderSz {
		return bad("headers: at most %d fields of %d bytes together", maxHeaders, maxHeaderSz)
	}
	return nil
}

// wants reports whether a format is wanted.
func (o *scrapeOptions) wants(f format) bool {
	return slices.Contains(o.Formats, f) || len(o.Formats) == 0 && f == "markdown"
}

// fresh reports whether the origin must be asked.
func (o *scrapeOptions) fresh(v version) bool {
	return o.MaxAge == nil && v == 1 || o.MaxAge != nil && *o.MaxAge == 0
}

func (o *scrapeOptions) view() fetch.View {
	return fetch.View{
		WholePage: o.OnlyMainContent != nil && !*o.OnlyMainContent, Selector: strings.Join(o.IncludeTags, ", "),
		Drop: strings.Join(o.ExcludeTags, ", "),
	}
}

// request returns the request for the fetcher.
func (o *scrapeOptions) request(v version, u *url.URL, agent string) fetch.Request {
	r := fetch.Request{
		URL: u, Own: true, Force: o.fresh(v) && !o.Lockdown, CacheOnly: o.Lockdown, NoStore: o.StoreInCache != nil &&
			!*o.StoreInCache, Agent: agent, View: o.view(),
		Links: o.wants("links"), Source: o.wants("rawHtml"), Trimmed: o.wants("html"), Screenshot: o.wants("screenshot"),
	}
	if o.WaitFor > 0 {
		r.Render = fetch.RenderAlways
	}
	if o.MaxAge != nil && *o.MaxAge > 0 {
		r.Header = http.Header{"Cache-Control": {"max-age=" + seconds(*o.MaxAge)}}
	}
	if len(o.Headers) > 0 {
		o.personal(&r)
	}
	return r
}

// personal adds the caller's headers to a request. Any of them may be a secret, so the page is not kept, no third party
// is told, and no other host gets the headers.
func (o *scrapeOptions) personal(r *fetch.Request) {
	r.Header = http.Header{"Cache-Control": {"no-store"}}
	for name, value := range o.Headers {
		r.Header.Set(name, value)
	}
	r.Force, r.NoStore, r.NoRemote, r.Render = true, true, true, fetch.RenderNever
	from := *r.URL
	r.Follow = func(next *url.URL) error {
		if next.Scheme != from.Scheme || next.Host != from.Host {
			return &failure{
				http.StatusForbidden, codeBlocked,
				"the page redirects to another host, which must not get the headers",
			}
		}
		return nil
	}
}

// limit returns how long getting the page may take; 0 means no limit of its own.
func (o *scrapeOptions) limit() time.Duration {
	if o.Timeout == nil {
		return 0
	}
	return time.Duration(min(*o.Timeout, int64(time.Hour/time.Millisecond))) * time.Millisecond
}
