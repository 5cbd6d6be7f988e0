// Package summary makes summaries of pages, of five kinds (rules B20 to B24).
//
// A [Maker] asks a model if one is configured and may see the page. Otherwise it selects the sentences, commands and
// signatures that say most, on this machine alone. [Options].Keep stores summaries, one for each content of a page,
// kind and maker, so that a summary is made once and is available later without a fetch (rule B6).
//
// A page is untrusted text. A model gets it between marks that the page cannot contain, as material and not as
// instructions; the answer is cleaned, bounded, and loses every link that the page does not have. A model never sees a
// page that is not stored (private, or read with credentials), nor one that [Options].MayLeave refuses.
package summary

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"log/slog"
	"net/url"
	"slices"
	"time"

	"github.com/readthru/readthru/internal/llm"
	"github.com/readthru/readthru/page"
)

// ErrNothing means that a page has nothing to summarise.
var ErrNothing = errors.New("the page has nothing to summarise")

// Warnings that a summary adds to its page.
const (
	WarnExtractive = "extractive-summary" // no model wrote it: it is sentences and lines of the page
	WarnPart       = "summary-of-part"    // the page is longer than a summary takes: it is of the beginning alone
	WarnWeak       = "weak-summary"       // no sentence of the page stands out: it is the first ones, or the title
)

// Warns reports whether a warning of a page is about its summary.
func Warns(token string) bool {
	return token == WarnExtractive || token == WarnPart || token == WarnWeak
}

// extractor is the By of a summary made without a model. Its number counts the changes of extraction: what an earlier
// one made is made anew.
const extractor = "extract 3"

// Options configures a Maker. The zero value makes extractive summaries and keeps nothing.
type Options struct {
	Model *llm.Client // if nil, no model is asked

	// MayLeave returns why a third party must not learn of a page, or nil if it may. It is not called for a model on
	// this machine. If MayLeave is nil, no page may leave.
	MayLeave func(ctx context.Context, u *url.URL) error

	// Clean removes from a model's markdown what no reader sees. If nil, invisible characters, comments and what loads
	// something go.
	Clean func(md string) string

	// Content returns the whole markdown of a stored page as ContentHash names it. If nil, or where it reports false, the
	// page's own Content is what there is.
	Content func(p *page.Page) (markdown string, ok bool)

	// Defines lists what a file of code defines, by its name and content; empty if that cannot be told. If nil, lines that
	// look like signatures are listed.
	Defines func(ctx context.Context, name string, code []byte) string

	Kept func(p *page.Page) []Summary              // those kept of the page's present content, newest first; nil: none
	Keep func(p *page.Page, s Summary) (err error) // keeps one of the page's present content; nil: nothing is kept

	Log *slog.Logger // if nil, nothing is logged
}

// Request asks for a summary.
type Request struct {
	Kind  Kind   // if empty, Auto
	Hint  string // the reader's own words: they choose the kind if Kind is Auto (rule B22)
	Local bool   // nothing of the page may leave this machine
}

// Summary is a summary of a page.
type Summary struct {
	Kind  Kind
	Text  string    // markdown, never empty, at most 8,000 characters
	By    string    // its maker, and the edition of the rules
	Model string    // empty for an extractive summary
	Part  bool      // it covers only the beginning of the page
	Weak  bool      // it is extractive, and no sentence of the page stands out
	Time  time.Time // when it was made

	Usage llm.Usage
	Took  time.Duration

	attempt page.Attempt
}

// Maker makes summaries. It is safe for concurrent use.
type Maker struct{ o Options }

// New returns a Maker.
func New(o Options) *Maker {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Kept == nil {
		o.Kept = func(*page.Page) []Summary { return nil }
	}
	return &Maker{o}
}

// Make returns a summary of a page: a stored one, else the answer of a model, else an extractive one. It is not an
// error if the model is unavailable or fails. The error is ErrNothing, that of an unknown kind, or that of ctx. Make
// does not change the page.
func (m *Maker) Make(ctx context.Context, p *page.Page, r Request) (*Summary, error) {
	kind, err := Parse(string(cmp.Or(r.Kind, Auto)))
	if err != nil {
		return nil, err
	}
	if kind == Auto {
		kind = Choose(p, r.Hint)
	}
	kept := m.kept(p, kind)
	if s := madeBy(kept, m.model()); s != nil && (!r.Local || m.o.Model.Local()) {
		return s, nil
	}
	content, whole := m.content(p)
	if assemble(p, content, maxInput).empty() {
		return nil, ErrNothing
	}
	begun := time.Now()
	s, err := m.ask(ctx, p, kind, content, r.Local)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err == nil {
		s.attempt = page.Attempt{Step: "summary", Outcome: page.Answered, MS: s.Took.Milliseconds()}
	} else {
		told := page.Attempt{Step: "summary", Outcome: page.Failed, Reason: err.Error(), MS: time.Since(begun).Milliseconds()}
		if _, held := errors.AsType[heldBackError](err); held {
			told.Outcome = page.Skipped
		} else {
			m.o.Log.Warn("model made no summary", "url", page.MaskString(p.URL), "kind", kind, "error", err)
		}
		if s = second(kept, r.Local); s != nil {
			s.attempt = told
			return s, nil
		}
		s = m.extractive(ctx, p, kind, content)
		s.attempt = told
	}
	if whole && p.Stored && m.o.Keep != nil {
		if err := m.o.Keep(p, *s); err != nil {
			m.o.Log.Debug("summary not kept", "url", page.MaskString(p.URL), "error", err)
		}
	}
	return s, nil
}

// Latest returns the newest stored summary of a page's current content, or nil.
func (m *Maker) Latest(p *page.Page) *Summary {
	if kept := m.kept(p, Auto); len(kept) > 0 {
		return &kept[0]
	}
	return nil
}

// Attach adds the summary to a page, with its cost and origin.
func (s *Summary) Attach(p *page.Page) {
	p.Summary, p.SummaryType = s.Text, string(s.Kind)
	var tokens []string
	if s.Model == "" {
		tokens = append(tokens, WarnExtractive)
	}
	if s.Part {
		tokens = append(tokens, WarnPart)
	}
	if s.Weak {
		tokens = append(tokens, WarnWeak)
	}
	for _, token := range tokens {
		if !slices.Contains(p.Warnings, token) {
			p.Warnings = append(slices.Clip(p.Warnings), token)
		}
	}
	if s.attempt.Step != "" {
		p.Attempts = append(slices.Clip(p.Attempts), s.attempt)
	}
	if s.Model != "" && s.attempt.Outcome == page.Answered {
		i := &p.Info
		i.LLMModel = s.Model
		i.LLMMS += s.Took.Milliseconds()
		i.LLMPromptTokens += s.Usage.Prompt
		i.LLMCompletionTokens += s.Usage.Completion
		i.LLMTotalTokens = i.LLMPromptTokens + i.LLMCompletionTokens
	}
}

// model returns the By of the configured model, or "" without a model.
func (m *Maker) model() string {
	if m.o.Model == nil {
		return ""
	}
	return m.o.Model.Provider() + " " + m.o.Model.Model() + " " + edition
}

// kept returns the stored summaries of a page's current content of a kind, or with Auto of all kinds.
func (m *Maker) kept(p *page.Page, kind Kind) []Summary {
	if !p.Stored || p.ContentHash == "" {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(m.o.Kept(p)), func(s Summary) bool { return kind != Auto && s.Kind != kind })
}

// madeBy returns the summary in list by a maker, or nil if there is none.
func madeBy(list []Summary, maker string) *Summary {
	if i := slices.IndexFunc(list, func(s Summary) bool { return maker != "" && s.By == maker }); i >= 0 {
		return &list[i]
	}
	return nil
}

// second returns the best stored summary to use if the configured model fails: that of another model, or an extractive
// one.
func second(list []Summary, local bool) *Summary {
	if i := slices.IndexFunc(list, func(s Summary) bool { return s.Model != "" && !local }); i >= 0 {
		return &list[i]
	}
	return madeBy(list, extractor)
}

// content returns the markdown to summarise. whole reports whether it is all that ContentHash names: a summary of less
// must not be stored for it.
func (m *Maker) content(p *page.Page) (markdown string, whole bool) {
	if p.Stored && m.o.Content != nil {
		if markdown, ok := m.o.Content(p); ok {
			return markdown, true
		}
	}
	if p.ContentFormat == "html" { // a summary is not made of tags
		return p.Excerpt, false
	}
	sum := sha256.Sum256([]byte(p.Content))
	return p.Content, hex.EncodeToString(sum[:]) == p.ContentHash
}

// heldBackError says why the model must not be asked.
type heldBackError string

// Error says why the model was not asked for a summary.
func (h heldBackError) Error() string { return string(h) }

// refusal returns why the model must not be asked about a page, or nil if it may be asked. A model on this machine may
// see every stored page.
func (m *Maker) refusal(ctx context.Context, p *page.Page, local bool) error {
	switch {
	case m.o.Model == nil:
		return heldBackError("no model is configured")
	case !p.Stored:
		return heldBackError("the page is not stored, so no model is told of it")
	case m.o.Model.Local():
		return nil
	case local:
		return heldBackError("nothing of the page may leave")
	case slices.Contains(p.Warnings, "no-transform"):
		return heldBackError("the page must not be transformed")
	case m.o.MayLeave == nil:
		return heldBackError("nothing may leave")
	}
	for _, raw := range []string{p.URL, p.FinalURL} {
		if raw == "" {
			continue
		}
		u, err := url.Parse(raw)
		if err != nil {
			return heldBackError("the page's address cannot be read")
		}
		if err := m.o.MayLeave(ctx, u); err != nil {
			return heldBackError(err.Error())
		}
	}
	return nil
}

// tries bounds how often a prompt is shortened, or the model asked again with room for a longer answer.
const tries = 4

// ask asks the model for a summary, again with less of the page if its context is too small, and again with room for a
// longer answer if that was cut. The error says why the model gave none.
func (m *Maker) ask(ctx context.Context, p *page.Page, kind Kind, content string, local bool) (*Summary, error) {
	if err := m.refusal(ctx, p, local); err != nil {
		return nil, err
	}
	begun := time.Now()
	limit := maxInput
	for try, most := 1, answerTokens; ; try++ {
		in := assemble(p, content, limit)
		q := prompt(kind, in)
		if room := m.o.Model.Room(answerTokens); room > 0 && len(q.System)+len(q.User) > room && try < tries {
			limit = min(limit, in.chars) * room / (len(q.System) + len(q.User)) * 9 / 10
			continue
		}
		q.MaxTokens = most
		a, err := m.o.Model.Chat(ctx, q)
		if e, ok := errors.AsType[*llm.Error](err); ok && try < tries {
			switch {
			case e.TooLong:
				limit = min(limit, in.chars) / 2
				continue
			case e.Kind == llm.Cut && most == answerTokens: // the model may have used the tokens for reasoning
				most = answerMost
				continue
			}
		}
		if err != nil {
			return nil, err
		}
		text, err := clean(a.Text, in, m.o.Clean)
		if err != nil {
			return nil, err
		}
		return &Summary{
			Kind: kind, Text: text, By: m.model(), Model: m.o.Model.Model(), Part: in.cut, Time: time.Now(), Usage: a.Usage,
			Took: time.Since(begun),
		}, nil
	}
}

// extractive makes a summary without a model.
func (m *Maker) extractive(ctx context.Context, p *page.Page, kind Kind, content string) *Summary {
	in := assemble(p, content, maxInput)
	in.file = fileOf(ctx, in, m.o.Defines)
	text, weak := extract(kind, in)
	return &Summary{Kind: kind, Text: text, By: extractor, Part: in.cut, Weak: weak, Time: time.Now()}
}

// HasModel reports whether a model is configured.
func (m *Maker) HasModel() bool { return m.o.Model != nil }
