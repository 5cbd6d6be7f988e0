package sitecheck

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/readthru/readthru/convert"
	"github.com/readthru/readthru/fetch/media"
	"github.com/readthru/readthru/fetch/robots"
	"github.com/readthru/readthru/fetch/twins"
	"github.com/readthru/readthru/internal/clip"
	"github.com/readthru/readthru/internal/httpfield"
	"github.com/readthru/readthru/internal/payment"
	"github.com/readthru/readthru/internal/preference"
	"github.com/readthru/readthru/page"
)

const maxField = 120 // characters of a field that are shown

// isPage reports whether the origin answers agents with the page. If not, what it answers is a finding, and there is
// nothing more to look at.
// A page behind payment or a bot wall is not converted: what would be judged is the wall.
func (c *check) isPage(html *answer) bool {
	r := c.report
	offers := payment.Of(html.status, html.header, html.content)
	mark := convert.Wall(html.status, html.header, html.content)
	switch {
	case len(offers) > 0:
		r.add("page", Advice, "asks for payment: "+offers[0].String(), "agents that do not pay read nothing")
	case mark != "":
		r.add("page", Wrong, strings.TrimSuffix("a bot wall of "+convert.WallOwner(mark), " of ")+" answers agents",
			"let signed agents pass (Web Bot Auth), or those whose names you know")
	case html.status == http.StatusPaymentRequired:
		r.add("page", Advice, "asks for payment, in no form that is known", "agents that do not pay read nothing")
	case html.status != http.StatusOK:
		r.add("page", Wrong, fmt.Sprintf("answers with status %d", html.status), "")
	default:
		return true
	}
	return false
}

// convert judges the page in HTML: whether it has text, and what it costs as markdown of ours. A page of another type
// has neither.
func (c *check) convert(ctx context.Context, html *answer) error {
	r := c.report
	if page.KindOf(html.header.Get("Content-Type")) != page.HTML {
		r.add("page", Good, "is "+mediaType(html), "")
		return nil
	}
	doc, err := convert.Parse(ctx, html.content, html.header.Get("Content-Type"), html.url)
	if err != nil {
		return err
	}
	result, err := doc.Convert(ctx, convert.Options{})
	if err != nil {
		return err
	}
	c.signs, c.robots = doc.Signs(), result.Meta["robots"]
	r.HTMLTokens, r.MarkdownTokens = result.HTMLTokens, result.Tokens
	switch {
	case c.signs.JSShell:
		r.add("page", Advice, "is empty until its scripts run",
			"agents without a browser see nothing: send the text as HTML")
	case c.signs.Thin:
		r.add("page", Advice, "has hardly any text", "")
	default:
		r.add("page", Good, "has its text in HTML", "")
	}
	return nil
}

// negotiation judges how the page answers to forms of Accept (RFC 9110 §12.5.1), and whether it says so in Vary
// (§12.5.5), without which a cache gives one client's form to another.
func (c *check) negotiation(ctx context.Context, html *answer) error {
	r := c.report
	answers := map[string]*answer{acceptHTML: html}
	for _, accept := range []string{acceptMarkdown, preferMarkdown, preferHTML, refuseMarkdown} {
		a, err := c.optional(ctx, html.url, accept)
		if err != nil {
			return err
		}
		answers[accept] = a
	}
	md := answers[acceptMarkdown]
	if html.markdown() {
		r.add("negotiation", Good, "the page is markdown for everybody", "")
		c.found = true
		return nil
	}
	// 406 is a fair answer to who accepts markdown alone, and to nobody else.
	for _, accept := range []string{preferMarkdown, acceptMarkdown} {
		status := answers[accept].status
		if status == http.StatusOK || status == http.StatusNotAcceptable && accept == acceptMarkdown {
			continue
		}
		detail := fmt.Sprintf("Accept: %s is answered with status %d", accept, status)
		if status == 0 {
			detail = fmt.Sprintf("Accept: %s is not answered", accept)
		}
		r.add("negotiation", Wrong, detail, "answer it with the page: many agents name markdown")
		return nil
	}
	if !md.markdown() {
		detail := "Accept: text/markdown is answered with " + mediaType(md)
		if md.status == http.StatusNotAcceptable {
			detail = "Accept: text/markdown is answered with status 406"
		}
		r.add("negotiation", Advice, detail,
			"answer it with text/markdown: agents then read what you write, not what they guess")
		return nil
	}
	if why := useless(md); why != "" {
		r.add("negotiation", Wrong, "what Accept: text/markdown gets "+why, "agents ask for the HTML once more, or read that")
		return nil
	}
	c.found = true
	r.MarkdownTokens = convert.Tokens(md.content)
	r.add("negotiation", Good, fmt.Sprintf("Accept: text/markdown gets %d tokens of markdown", r.MarkdownTokens), "")
	// A cache between the origin and two agents gives one of them the other's form unless both say Vary.
	var silent []string
	for _, form := range []struct {
		name string
		*answer
	}{{"the markdown", md}, {"the HTML", html}} {
		if !httpfield.Has(form.header, "Vary", "Accept") && !httpfield.Has(form.header, "Vary", "*") {
			silent = append(silent, form.name)
		}
	}
	if len(silent) > 0 {
		r.add("Vary", Wrong, "Vary: Accept is missing in "+strings.Join(silent, " and in "),
			"say Vary: Accept in both forms, or caches give one to who asked for the other")
	} else {
		r.add("Vary", Good, "both forms say Vary: Accept", "")
	}
	// A q value of 0 refuses a form, and a lower one yields to a higher one.
	var wrong []string
	for _, form := range []struct {
		accept   string
		markdown bool
	}{{preferMarkdown, true}, {preferHTML, false}, {refuseMarkdown, false}} {
		if answers[form.accept].markdown() != form.markdown {
			wrong = append(wrong, form.accept+" gets "+mediaType(answers[form.accept]))
		}
	}
	if len(wrong) > 0 {
		r.add("weights", Wrong, strings.Join(wrong, ", "), "compare the q values of Accept (RFC 9110 §12.4.2)")
	} else {
		r.add("weights", Good, "the q values of Accept decide", "")
	}
	return nil
}

// twins judges the markdown of the page that has an address of its own: one that the page names, or the usual ones. The
// first that is markdown is enough.
func (c *check) twins(ctx context.Context, html *answer) error {
	if html.markdown() {
		return nil
	}
	r := c.report
	list := twins.Find(html.url, html.header, c.signs.MarkdownTwin, false)
	for _, u := range list {
		a, err := c.optional(ctx, u, "*/*")
		if err != nil {
			return err
		}
		if why := unfit(a); why != "" {
			help := ""
			if a.status == http.StatusOK && convert.IsMislabelledMarkdown(a.content, true) {
				help = "label it as text/markdown: not everybody looks at what it is"
			}
			r.add("twin", Wrong, page.Mask(u)+", which the page names as its markdown, "+why, help)
			continue
		}
		r.add("twin", Good, "the page names "+page.Mask(u), "")
		return nil
	}
	if len(list) > 0 {
		return nil
	}
	// The page names none: look where other sites have it.
	for _, u := range twins.Find(html.url, nil, "", true) {
		a, err := c.optional(ctx, u, "*/*")
		if err != nil {
			return err
		}
		if unfit(a) == "" {
			r.add("twin", Advice, page.Mask(u)+" is markdown, and the page does not name it",
				`name it: <link rel="alternate" type="text/markdown" href="…">, or a Link field`)
			return nil
		}
	}
	if !c.found {
		r.add("twin", Advice, "the page names no markdown, and there is none beside it", "")
	}
	return nil
}

// unfit judges an answer: it returns why that is no markdown with an address of its own, in words for a finding; "" if
// it is. Plain text that looks like markdown is taken, since servers that know no type for markdown send it so; its
// first 16 KiB decide.
func unfit(a *answer) string {
	switch {
	case a.status == 0:
		return "cannot be reached"
	case a.status != http.StatusOK:
		return fmt.Sprintf("answers with status %d", a.status)
	case page.IsMarkdown(a.header.Get("Content-Type")):
		return useless(a)
	case mediaType(a) == "text/plain" && convert.LooksLikeMarkdown(a.content[:min(len(a.content), 16<<10)]):
		return useless(a)
	}
	return "is " + mediaType(a)
}

// useless returns why markdown is not the page, as readers judge it; "" if it can be.
func useless(a *answer) string {
	if media.Disguised(a.content) {
		return "is HTML with the label of markdown"
	}
	if doubt := convert.DoubtMarkdown(a.content); doubt != convert.NoDoubt && doubt != convert.DoubtThin {
		return "is no use: " + string(doubt)
	}
	return ""
}

// lists judges whether there is an llms.txt (llmstxt.org), the list of what agents should read.
func (c *check) lists(ctx context.Context, html *answer) error {
	r := c.report
	var names []string
	for _, name := range []string{"/llms.txt", "/llms-full.txt"} {
		a, err := c.optional(ctx, below(html.url, name), "*/*")
		if err != nil {
			return err
		}
		if a.status != http.StatusOK {
			continue
		}
		// Many sites answer every path with a page: that is no list, and an agent would read it as one.
		inHTML := page.KindOf(a.header.Get("Content-Type")) == page.HTML
		if inHTML || bytes.HasPrefix(bytes.TrimSpace(a.content), []byte("<")) {
			r.add("llms.txt", Wrong, name+" is a page in HTML", "answer 404 if there is none")
			return nil
		}
		names = append(names, name)
	}
	if len(names) > 0 {
		r.add("llms.txt", Good, "there is "+strings.Join(names, ", "), "")
	} else {
		r.add("llms.txt", Advice, "there is none", "list in /llms.txt what agents should read (llmstxt.org)")
	}
	return nil
}

// preferences says what the origin states about the use of the page, in the field, in robots.txt and in the page, and
// whether robots.txt lets agents read it.
func (c *check) preferences(ctx context.Context, html *answer) error {
	r := c.report
	stated := preference.OfHeader(html.header, "")
	verdict, err := c.Allowed(ctx, html.url)
	if err != nil {
		return err
	}
	stated = append(stated, verdict.Preferences...)
	stated = append(stated, preference.OfMeta(c.robots)...)
	if !verdict.Allowed {
		r.add("robots.txt", Advice, verdict.Reason, "agents that obey it do not read the page by themselves")
	} else {
		r.add("robots.txt", Good, "lets agents read the page", "")
	}
	if verdict.Long {
		r.add("robots.txt", Wrong, fmt.Sprintf("is longer than %d KiB", robots.MaxSize>>10),
			"say less: crawlers read no more of it (RFC 9309 §2.5)")
	}
	for _, field := range append(preference.Malformed(html.header), preference.MalformedRobots(verdict.Text)...) {
		r.add("preferences", Wrong, clip.Line(field, maxField)+" is malformed, and says nothing",
			"write as in Content-Usage: train-ai=n, search=y or Content-Signal: ai-train=no, search=yes")
	}
	for _, use := range preference.Contradictions(stated) {
		r.add("preferences", Wrong, use.Words()+" is both allowed and denied: the denial counts",
			"say one of them, in the field and in robots.txt")
	}
	// A statement that stands in two places is told once.
	var says []string
	for _, p := range stated {
		if !slices.Contains(says, p.Says) {
			says = append(says, p.Says)
		}
	}
	if len(says) == 0 {
		r.add("preferences", Advice, "nothing is stated about use by models",
			"Content-Signal or Content-Usage says what you allow, as a field or in robots.txt")
	} else {
		r.add("preferences", Good, strings.Join(says, ", "), "")
	}
	return nil
}

// validation judges whether the page can be asked for again cheaply, by a conditional request with its validator (RFC
// 9110 §13). An entity tag has precedence, as in requests of caches.
func (c *check) validation(ctx context.Context, html *answer) error {
	r := c.report
	condition := http.Header{}
	if tag := html.header.Get("Etag"); tag != "" {
		condition.Set("If-None-Match", tag)
	} else if modified := html.header.Get("Last-Modified"); modified != "" {
		condition.Set("If-Modified-Since", modified)
	}
	if len(condition) == 0 {
		r.add("validation", Advice, "the page has neither ETag nor Last-Modified",
			"with one, agents ask for what changed alone")
		return nil
	}
	a, err := c.get(ctx, html.url, acceptHTML, condition)
	if err != nil {
		return err
	}
	if a.status == http.StatusNotModified {
		r.add("validation", Good, "an unchanged page is answered with 304", "")
	} else {
		r.add("validation", Advice, fmt.Sprintf("a conditional request is answered with status %d", a.status),
			"answer 304 while the validator is the same")
	}
	return nil
}
