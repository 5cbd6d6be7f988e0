package cache

import (
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/readthru/readthru/internal/httpfield"
	"github.com/readthru/readthru/store"
)

// maxSentTags bounds the entity tags of stored responses that one If-None-Match carries: servers bound the length of a
// field.
const maxSentTags = 20

// A validation is a request that asks the origin about stored responses (RFC 9111 §4.3.1).
type validation struct {
	candidates []*store.Response // whose entity tags or date it carries, the selected one first
	completing *store.Response   // a stored part whose rest it asks for
	ownTags    bool              // it also carries entity tags that only the client knows
}

// conditions sets in h, the fields of a request to be sent, the validators of the stored responses: those of the
// selected response, and the entity tags of the other variants, any of which the origin may name if its form suits the
// request. It keeps the client's own entity tags.
func (p *policy) conditions(q *request, s *selection, h http.Header) validation {
	if s.part != nil && s.part.Offset == 0 && s.complete == nil && len(h["Range"]) == 0 && !conditional(h) {
		return askRest(s.part, h)
	}
	var v validation
	var tags []string
	if s.complete != nil && validatorsOf(s.complete.Header) {
		v.candidates = append(v.candidates, s.complete)
	}
	for _, r := range s.variants {
		other := r != s.complete && r.Status == http.StatusOK && r.Header.Get("ETag") != ""
		if other && len(v.candidates) < maxSentTags &&
			(!strings.Contains(r.Class, classMarkdown) || namesMarkdown(q.Header)) && !unnamed(q, r) &&
			suits(r, q.Header, p.key) {
			v.candidates = append(v.candidates, r)
		}
	}
	for _, r := range v.candidates {
		if tag := r.Header.Get("ETag"); tag != "" && !slices.Contains(tags, tag) {
			tags = append(tags, tag)
		}
	}
	for tag := range httpfield.EntityTags(h["If-None-Match"]) {
		if tag != "*" && !slices.Contains(tags, tag) {
			tags, v.ownTags = append(tags, tag), true
		}
	}
	if len(v.candidates) == 0 {
		return v
	}
	h.Del("If-Modified-Since")
	if s.complete != nil {
		if modified := s.complete.Header.Get("Last-Modified"); modified != "" {
			h.Set("If-Modified-Since", modified)
		}
	}
	if len(tags) > 0 {
		h.Set("If-None-Match", strings.Join(tags, ", "))
	}
	return v
}

// askRest changes a request for the whole into one for the bytes after the stored part r. If-Range makes the origin
// send the whole if the representation has changed; without a strong validator completes checks the response (RFC 9111
// §3.4).
func askRest(r *store.Response, h http.Header) validation {
	h.Set("Range", "bytes="+strconv.FormatInt(r.Length, 10)+"-")
	if tag := r.Header.Get("ETag"); strongMatch(tag, tag) {
		h.Set("If-Range", tag)
	}
	return validation{completing: r}
}

// completes reports whether the response to a request for the rest of r is exactly this rest: same representation by
// strong validator, from r's end to the end of the whole (RFC 9111 §3.4).
func completes(r *store.Response, resp *http.Response) bool {
	c, ok := parseContentRange(resp.Header.Get("Content-Range"))
	return ok && resp.StatusCode == http.StatusPartialContent && r.Offset == 0 &&
		strongMatch(resp.Header.Get("ETag"), r.Header.Get("ETag")) &&
		c.first == r.Length && c.total == r.Total && c.last == r.Total-1 &&
		(resp.ContentLength < 0 || resp.ContentLength == c.length())
}

// A naming says which representation a 304 names.
type naming int

const (
	namesNone   naming = iota // none that we or the client have: repeat the request without conditions
	namesStored               // a stored response
	namesOwn                  // the client's own copy: the 304 is for the client
)

// named finds the stored response that a 304 validates (RFC 9111 §4.3.4): the one whose entity tag it names; without
// one, the one with its Last-Modified; without either, the only one that was asked about. A strong tag names only what
// is stored with the same strong tag.
func (v *validation) named(q *request, h http.Header) (naming, *store.Response) {
	if tag := h.Get("ETag"); tag != "" {
		for _, r := range v.candidates {
			if stored := r.Header.Get("ETag"); strongMatch(tag, stored) || isWeak(tag) && weakMatch(tag, stored) {
				return namesStored, r
			}
		}
		if len(q.Header["If-None-Match"]) > 0 && MatchesETag(q.Header["If-None-Match"], tag) {
			return namesOwn, nil
		}
		if len(v.candidates) > 0 && v.candidates[0].Header.Get("ETag") == "" && len(v.candidates) == 1 && !v.ownTags {
			return namesStored, v.candidates[0] // requested by date, answered with a tag
		}
		return namesNone, nil
	}
	if v.ownTags {
		return namesNone, nil // it may mean the client's copy as well as ours
	}
	modified := h.Get("Last-Modified")
	if modified == "" && len(v.candidates) == 1 {
		return namesStored, v.candidates[0]
	}
	for _, r := range v.candidates {
		if modified != "" && r.Header.Get("Last-Modified") == modified {
			return namesStored, r
		}
	}
	return namesNone, nil
}

// freshen returns a copy of r updated with the fields of a 304 or of the answer to a HEAD (RFC 9111 §3.2, §4.3.4,
// §4.3.5). It keeps the fields that describe the stored content: length, coding and range.
func (p *policy) freshen(q *request, r *store.Response, h http.Header, sent, received time.Time) *store.Response {
	fresh := *r
	fresh.Header = r.Header.Clone()
	fresh.RequestTime, fresh.ResponseTime = sent, received
	update := h.Clone()
	httpfield.RemoveConnection(update)
	for _, name := range []string{"Content-Length", "Content-Encoding", "Content-Range"} {
		delete(update, name)
	}
	maps.DeleteFunc(update, func(name string, _ []string) bool { return p.drops(name, r.Header) })
	delete(fresh.Header, "Age")
	fresh.Header.Set("Date", received.UTC().Format(http.TimeFormat))
	maps.Copy(fresh.Header, update)
	if names, _ := varyNames(fresh.Header); !slices.Equal(names, r.Vary) {
		fresh.Vary, fresh.Selecting = names, selecting(names, q.Header, p.key)
		if !strings.Contains(r.Class, classMarkdown) && p.unmarked(q, fresh.Header, names) {
			fresh.Class = strings.Trim(classMarkdown+","+r.Class, ",")
		}
	}
	cc := p.control(fresh.Header)
	if p.shared {
		for _, name := range cc.privateFields {
			delete(fresh.Header, name)
		}
	}
	fresh.Partition = p.partition(q, &fresh, &cc)
	fresh.Retain = p.retain(q, &fresh, &cc)
	fresh.Tags = tagsOf(fresh.Header)
	return &fresh
}

// own returns those fields h of a 304 that are only for the requesting client, and do not go into the store: cookies
// and the like, and fields that it calls private.
func (p *policy) own(h http.Header) http.Header {
	cc := p.control(h)
	own := http.Header{}
	for name, lines := range h {
		if httpfield.Grants(name) || slices.Contains(cc.privateFields, name) {
			own[name] = lines
		}
	}
	return own
}

// sameAsHead reports whether nothing in the answer to a HEAD contradicts the stored response r (RFC 9111 §4.3.5).
func sameAsHead(r *store.Response, h http.Header) bool {
	for _, name := range []string{"ETag", "Last-Modified", "Content-Encoding"} {
		if v := h.Get(name); v != "" && v != r.Header.Get(name) {
			return false
		}
	}
	length := h.Get("Content-Length")
	return length == "" || length == strconv.FormatInt(r.Length, 10)
}
