package form

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/proxy/strict"
)

// Reader has the options in Jina Reader's request fields that have no X-Readthru field, of a request in prefix form.
type Reader struct {
	WaitFor string
	timeout time.Duration
	json    bool // answer with a JSON object that contains the page
}

// ReadReader translates the fields of Jina Reader into X-Readthru fields, so that programs written for that service
// work with the prefix form when only their base URL changes. An X-Readthru field takes precedence. Unknown fields are
// ignored; a form that readthru does not offer is refused.
func ReadReader(h http.Header) (w Reader, bad *strict.Refusal) {
	set := func(name, value string) {
		if value != "" && h.Get(name) == "" {
			h.Set(name, value)
		}
	}
	switch form := strings.ToLower(cmp.Or(h.Get("X-Respond-With"), h.Get("X-Return-Format"))); form {
	case "", "markdown", "content", "html", "text":
		set("X-Readthru-Mode", map[string]string{"html": "html", "text": "text"}[form])
	default:
		return w, wrong("X-Respond-With", "markdown, html or text", form)
	}
	set("X-Readthru-Selector", h.Get("X-Target-Selector"))
	set("X-Readthru-Drop", h.Get("X-Remove-Selector"))
	set("X-Readthru-Max-Tokens", h.Get("X-Max-Tokens"))
	set("X-Readthru-Links", map[string]string{"none": "none", "text": "text"}[h.Get("X-Retain-Links")])
	set("X-Readthru-Images", map[string]string{"none": "none", "alt": "alt"}[h.Get("X-Retain-Images")])
	set("X-Readthru-Render", map[string]string{
		"browser": fetch.RenderAlways,
		"curl":    fetch.RenderNever,
	}[h.Get("X-Engine")])
	if w.WaitFor = h.Get("X-Wait-For-Selector"); w.WaitFor != "" {
		set("X-Readthru-Render", fetch.RenderAlways)
	}
	if isTrue(h.Get("X-No-Cache")) {
		h.Add("Cache-Control", "no-cache")
	} else if age, err := strconv.ParseUint(h.Get("X-Cache-Tolerance"), 10, 31); err == nil {
		h.Add("Cache-Control", "max-age="+strconv.FormatUint(age, 10))
	}
	if h.Get("Dnt") == "1" {
		h.Add("Cache-Control", "no-store")
	}
	if text := h.Get("X-Timeout"); text != "" {
		seconds, err := strconv.Atoi(text)
		if err != nil || seconds < 1 || seconds > 180 {
			return w, wrong("X-Timeout", "a number of seconds from 1 to 180", text)
		}
		w.timeout = time.Duration(seconds) * time.Second
	}
	// JSON must be the first type: some libraries send "application/json, text/plain, */*" with every request.
	media, _, _ := strings.Cut(h.Get("Accept"), ";")
	w.json = strings.EqualFold(strings.TrimSpace(media), "application/json")
	return w, nil
}

// isTrue reports whether a field of Jina Reader switches something on.
func isTrue(value string) bool {
	return value != "" && value != "0" && !strings.EqualFold(value, "false")
}

// Within returns ctx with the client's timeout, if it set one.
func (w Reader) Within(ctx context.Context) (context.Context, context.CancelFunc) {
	if w.timeout == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, w.timeout)
}

// readerAnswer is a page in Jina Reader's JSON format, with the codes that Jina's own service answers.
type readerAnswer struct {
	Code   int        `json:"code"`
	Status int        `json:"status"`
	Data   readerPage `json:"data"`
}

// readerPage is the member data of a readerAnswer.
type readerPage struct {
	Title       string      `json:"title"`
	Description string      `json:"description"`
	URL         string      `json:"url"`
	Content     string      `json:"content"`
	Warning     string      `json:"warning,omitempty"`
	Usage       readerUsage `json:"usage"`
}

// readerUsage is the member usage of a readerPage.
type readerUsage struct {
	Tokens int `json:"tokens"`
}

// Wrap replaces the body of a page by a readerAnswer if the client of Jina Reader asked for JSON. Other answers stay
// unchanged.
func (w Reader) Wrap(a *fetch.Answer) error {
	if !w.json || a.Page == nil || a.Status != http.StatusOK || a.Body == nil {
		return nil
	}
	p := a.Page
	_, content := page.SplitFrontMatter(a.Body) // the object has members for the front matter
	body, err := json.Marshal(readerAnswer{http.StatusOK, 20000, readerPage{
		Title: p.Title, Description: p.Description, URL: cmp.Or(p.FinalURL, p.URL), Content: string(content),
		Warning: strings.Join(p.Warnings, "; "), Usage: readerUsage{p.Tokens},
	}})
	if err != nil {
		return fmt.Errorf("write %s as JSON: %w", p.URL, err)
	}
	a.Body = body
	a.Header.Set("Content-Type", "application/json")
	a.Header.Del("Etag") // it belongs to the markdown
	return nil
}
