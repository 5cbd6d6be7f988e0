package firecrawl

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"

	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/internal/httpfield"
	"github.com/readthru/readthru/internal/summary"
)

// scrapeOptions says which formats of a page are wanted and how to get it.
type scrapeOptions struct {
	// markdown (default), html, rawHtml, links, summary, screenshot, json, changeTracking
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
	JSON            *dataOptions      `json:"jsonOptions"`           // of the format json, in version 1
	Changes         *changeOptions    `json:"changeTrackingOptions"` // of the format changeTracking, in version 1

	Origin       ignored `json:"origin"`
	Integration  ignored `json:"integration"`
	Audit        ignored `json:"auditMetadata"`
	Proxy        ignored `json:"proxy"`
	BlockAds     ignored `json:"blockAds"`
	FastMode     ignored `json:"fastMode"`
	Parsers      ignored `json:"parsers"`
	ParsePDF     ignored `json:"parsePDF"`
	RemoveImages ignored `json:"removeBase64Images"`
	Location     ignored `json:"location"` // with a warning: some clients always send it

	Actions      wanted `json:"actions"`
	Agent        wanted `json:"agent"`
	Extract      wanted `json:"extract"`
	Geolocation  wanted `json:"geolocation"`
	MinAge       wanted `json:"minAge"`
	Mobile       wanted `json:"mobile"`
	CleanContent wanted `json:"onlyCleanContent"`
	Profile      wanted `json:"profile"`
	RedactPII    wanted `json:"redactPII"`
	SafeMode     wanted `json:"safeMode"`
	Threats      wanted `json:"threatProtection"`
	NoRetention  wanted `json:"zeroDataRetention"`
}

// format is a format of a page, with its own options in version 2.
type format struct {
	name    string
	data    dataOptions
	changes changeOptions
}

// dataOptions says what the format json reads out of a page, with a model.
type dataOptions struct {
	Schema json.RawMessage `json:"schema"`
	Prompt string          `json:"prompt"`
	System string          `json:"systemPrompt"`
	Guard  wanted          `json:"checkPromptInjection"`
}

// changeOptions says how the format changeTracking compares a page with its last version.
type changeOptions struct {
	Modes  []string `json:"modes"` // git-diff
	Tag    wanted   `json:"tag"`
	Schema wanted   `json:"schema"`
	Prompt wanted   `json:"prompt"`
}

// formats are the supported formats by the names that requests use.
var formats = map[string]string{
	"markdown": "markdown", "html": "html", "rawHtml": "rawHtml", "links": "links",
	"summary": "summary", "screenshot": "screenshot", "screenshot@fullPage": "screenshot",
	"json": "json", "changeTracking": "changeTracking",
}

// JSONSchema describes its JSON form.
func (f format) JSONSchema() map[string]any {
	texts := map[string]any{"type": "array", "items": map[string]any{"type": "string"}}
	return named(slices.Sorted(maps.Keys(formats)), map[string]any{
		"schema": map[string]any{"type": "object"}, "prompt": map[string]any{"type": "string"}, "modes": texts,
	})
}

// UnmarshalJSON reads a name, or an object whose type is a name.
func (f *format) UnmarshalJSON(b []byte) error {
	var name string
	var keys map[string]json.RawMessage
	if json.Unmarshal(b, &name) != nil {
		if json.Unmarshal(b, &keys) != nil || json.Unmarshal(keys["type"], &name) != nil {
			return bad("formats: a format must be a name or an object with a type")
		}
	}
	if f.name = formats[name]; f.name == "" {
		return bad("formats: %q is not supported here: use markdown, html, rawHtml, links, summary, screenshot, json or "+
			"changeTracking", name)
	}
	delete(keys, "type")
	if len(keys) == 0 {
		return nil
	}
	var options any = &struct{}{}
	switch f.name {
	case "json":
		options = &f.data
	case "changeTracking":
		options = &f.changes
	case "screenshot":
		options = &struct {
			FullPage ignored `json:"fullPage"`
			Quality  ignored `json:"quality"`
			Viewport ignored `json:"viewport"`
		}{}
	}
	rest, err := json.Marshal(keys)
	if err != nil {
		return err
	}
	dec := json.NewDecoder(bytes.NewReader(rest))
	dec.DisallowUnknownFields()
	if err := dec.Decode(options); err != nil {
		if key, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
			return bad("Unrecognized key in body: %s of the format %s", key, name)
		}
		return bad("formats: %s: %s", name, strings.TrimPrefix(err.Error(), "json: "))
	}
	return refuse(reflect.ValueOf(options).Elem())
}

// dataRequest returns what the format json asks for; nil if it is not wanted.
func (o *scrapeOptions) dataRequest() *dataOptions {
	for i := range o.Formats {
		if f := &o.Formats[i]; f.name == "json" {
			if o.JSON != nil {
				return o.JSON
			}
			return &f.data
		}
	}
	return nil
}

// changeTracking returns how changes are wanted; nil if they are not.
func (o *scrapeOptions) changeTracking() *changeOptions {
	for i := range o.Formats {
		if f := &o.Formats[i]; f.name == "changeTracking" {
			if o.Changes != nil {
				return o.Changes
			}
			return &f.changes
		}
	}
	return nil
}

// checkFormats returns an error for options of formats that are wrong or not supported.
func (o *scrapeOptions) checkFormats() error {
	if o.JSON != nil && o.dataRequest() == nil {
		return bad("jsonOptions needs the format json")
	}
	if o.Changes != nil && o.changeTracking() == nil {
		return bad("changeTrackingOptions needs the format changeTracking")
	}
	if d := o.dataRequest(); d != nil {
		if len(d.Schema) == 0 && d.Prompt == "" {
			return bad("formats: json needs a schema or a prompt")
		}
		if err := d.request(false).Check(); err != nil {
			return bad("formats: json: %s", err)
		}
	}
	if c := o.changeTracking(); c != nil {
		for _, mode := range c.Modes {
			if mode != "git-diff" {
				return bad("changeTracking: mode %q is not supported here: use git-diff", mode)
			}
		}
	}
	return nil
}

// request returns what to ask a model for.
func (d *dataOptions) request(local bool) *summary.DataRequest {
	return &summary.DataRequest{Schema: d.Schema, Prompt: d.Prompt, System: d.System, Local: local}
}

// The bounds of options.
const (
	maxWait     = 60_000    // milliseconds of waitFor, as with Firecrawl
	maxTimeout  = 3_600_000 // milliseconds
	maxHeaders  = 50
	maxHeaderSz = 8 << 10 // bytes of all headers together
)

// errTimeout is the error of a timeout that is out of bounds.
var errTimeout = bad("timeout must be from 1 to %d milliseconds", maxTimeout)

// timeoutOK reports whether a timeout is absent or within bounds.
func timeoutOK(ms *int64) bool { return ms == nil || *ms >= 1 && *ms <= maxTimeout }

// check returns an error for options that are wrong or not supported.
func (o *scrapeOptions) check() error {
	switch {
	case !timeoutOK(o.Timeout):
		return errTimeout
	case o.WaitFor < 0 || o.WaitFor > maxWait:
		return bad("waitFor must be from 0 to %d milliseconds", maxWait)
	case o.MaxAge != nil && *o.MaxAge < 0:
		return bad("maxAge must not be negative")
	}
	if err := o.view().Check(); err != nil {
		return bad("includeTags, excludeTags: %s", err)
	}
	if err := o.checkFormats(); err != nil {
		return err
	}
	return checkHeaders(o.Headers)
}

// ours are fields that this program sends by itself.
var ours = strings.Fields("Accept Accept-Encoding Cache-Control Content-Length Expect Host If-Match " +
	"If-Modified-Since If-None-Match If-Range If-Unmodified-Since Pragma Range Via")

// checkHeaders returns an error for fields that a client must not have us send: malformed, of the connection, or our
// own.
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
func (o *scrapeOptions) wants(name string) bool {
	return slices.ContainsFunc(o.Formats, func(f format) bool { return f.name == name }) ||
		len(o.Formats) == 0 && name == "markdown"
}

// fresh reports whether the origin must be asked: by default in version 1, and always to see what changed.
func (o *scrapeOptions) fresh(v version) bool {
	return o.MaxAge == nil && (v == 1 || o.wants("changeTracking")) || o.MaxAge != nil && *o.MaxAge == 0
}

// view returns which part of a page the options ask for.
func (o *scrapeOptions) view() fetch.View {
	return fetch.View{
		WholePage: o.OnlyMainContent != nil && !*o.OnlyMainContent, Selector: strings.Join(o.IncludeTags, ", "),
		Drop: strings.Join(o.ExcludeTags, ", "),
	}
}

// request returns the request of package fetch that the options of a scrape stand for.
func (o *scrapeOptions) request(v version, u *url.URL, agent string) fetch.Request {
	r := fetch.Request{
		URL: u, Own: true, Force: o.fresh(v) && !o.Lockdown, CacheOnly: o.Lockdown, NoStore: o.StoreInCache != nil &&
			!*o.StoreInCache, Agent: agent, View: o.view(),
		Timeout: o.limit(), Links: o.wants("links"), Source: o.wants("rawHtml"), Trimmed: o.wants("html"),
		Screenshot: o.wants("screenshot"),
	}
	if o.WaitFor > 0 {
		r.Render, r.Wait = fetch.RenderAlways, time.Duration(o.WaitFor)*time.Millisecond
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
	return time.Duration(*o.Timeout) * time.Millisecond
}
