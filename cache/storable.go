package cache

import (
	"maps"
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/readthru/readthru/internal/httpfield"
	"github.com/readthru/readthru/store"
)

// Marks that make up store.Response.Class. They keep apart what Vary does not.
const (
	// classMarkdown marks markdown that was sent to a request naming text/markdown, without Vary: Accept. Only requests
	// that name it, too, are answered with it: origins that negotiate often omit Vary.
	classMarkdown = "markdown"
	// classUnasked marks another page than markdown that was sent to a request not naming markdown, without Vary: Accept.
	// A request that names markdown is answered with it only when the origin cannot be asked.
	classUnasked = "unasked"
	// classCookies marks a response whose Set-Cookie, or another field that grants its client something, was removed.
	classCookies = "cookies"
	// classByName marks a response that a shared cache stored for a request with credentials, because its origin allows
	// that by name. It never becomes a page (AD4).
	classByName = "by name"
	// classFormer marks what an older program stored for a request with credentials, whatever its origin allowed. It
	// answers nobody.
	classFormer = "credentials"
	// classRange begins the mark of a part whose Content-Range contradicts its length, with the Range that it answered.
	classRange = "range "
)

// unmarked reports whether the answer to q is markdown that q asked for by name, without a Vary that says so
// (classMarkdown).
func (p *policy) unmarked(q *request, h http.Header, vary []string) bool {
	return p.isMarkdown(h) && namesMarkdown(q.Header) &&
		!slices.Contains(vary, "accept")
}

// unasked reports whether the answer to q is a page in another form than markdown, which q did not name, without a Vary
// that says so (classUnasked).
func (p *policy) unasked(q *request, h http.Header, vary []string) bool {
	return p.markdown != nil && p.isPage(h) && !p.isMarkdown(h) && !namesMarkdown(q.Header) &&
		!slices.Contains(vary, "accept")
}

// setsCookie reports whether the stored response arrived with Set-Cookie, or another field that grants something: it is
// fresh for no longer than it says itself.
func setsCookie(r *store.Response) bool {
	return len(r.Header["Set-Cookie"]) > 0 || strings.Contains(r.Class, classCookies)
}

// drops reports whether a response with the fields h is stored without the one named, because what it grants is for the
// first client only. Plain text keeps its cookies, as in RFC 9111 §7.3.
func (p *policy) drops(name string, h http.Header) bool {
	return p.shared && httpfield.Grants(name) && (name != "Set-Cookie" || mediaType(h) != "text/plain")
}

// forbids reports whether r forbids a cache of this kind to store it (RFC 9111 §3), or no request can match it.
func (p *policy) forbids(r *store.Response, cc *control) bool {
	// §5.2.2.3
	return variesOnAll(r.Header) || cc.noStore && (!cc.mustUnderstand || !understood(r.Status)) || cc.mustUnderstand &&
		!understood(r.Status) ||
		cc.private && p.shared
}

// admits reports whether the directives and the credentials of q allow storing an answer with r's fields.
func (p *policy) admits(q *request, r *store.Response, cc *control) bool {
	switch {
	case q.cc.noStore:
		return false
	case !p.shared:
		return true // it has its own partition
	case q.secret:
		return false // the URL contains a credential
	case q.authorization() != "" && !cc.public && !cc.mustRevalidate && cc.sMaxAge == absent:
		return false // §3.5
	case q.credentials && p.isPage(r.Header):
		return false // a page read with one agent's credentials must not answer another agent
	}
	return allowsOthers(q, r, cc)
}

// allowsOthers reports whether the origin allows by name that the answer r to q answers requests without q's
// credentials: by public or s-maxage, or by a Vary that tells which requests get it. It is stricter than RFC 9111 §3.5,
// which knows Authorization only: any other field may be what lets a reader see what others may not. Authorization
// itself is the business of admits and of partition.
func allowsOthers(q *request, r *store.Response, cc *control) bool {
	if cc.public || cc.sMaxAge != absent {
		return true
	}
	for name := range q.Header {
		if name != "Authorization" && !httpfield.Impersonal(name) && !slices.Contains(r.Vary, strings.ToLower(name)) {
			return false
		}
	}
	return true
}

// entry returns the stored response for the answer to q, without its content. It shares no memory with resp. Whether
// the answer may be stored is the question of storable.
func (p *policy) entry(q *request, resp *http.Response, sent, received time.Time) *store.Response {
	h := resp.Header.Clone()
	httpfield.RemoveConnection(h)
	if len(h["Date"]) == 0 {
		h.Set("Date", received.UTC().Format(http.TimeFormat)) // RFC 9110 §6.6.1
	}
	cc := p.control(h)
	if p.shared {
		for _, name := range cc.privateFields {
			h.Del(name)
		}
	}
	names, _ := varyNames(h)
	r := &store.Response{
		URL: q.key, Vary: names, Selecting: selecting(names, q.Header, p.key),
		Status: resp.StatusCode, Header: h, RequestTime: sent, ResponseTime: received,
		Length: resp.ContentLength, Total: -1, Tags: tagsOf(h),
	}
	var class []string
	if p.unmarked(q, h, names) {
		class = append(class, classMarkdown)
	}
	if p.unasked(q, h, names) {
		class = append(class, classUnasked)
	}
	granted := len(h)
	maps.DeleteFunc(h, func(name string, _ []string) bool { return p.drops(name, h) })
	if len(h) < granted {
		class = append(class, classCookies)
	}
	if p.shared && q.credentials {
		class = append(class, classByName)
	}
	if resp.StatusCode == http.StatusPartialContent {
		if part, ok := parseContentRange(h.Get("Content-Range")); ok && (r.Length < 0 || r.Length == part.length()) {
			r.Offset, r.Total = part.first, part.total
		} else {
			class = append(class, classRange+q.Header.Get("Range"))
		}
	}
	r.Class = strings.Join(class, ",")
	r.Partition = p.partition(q, r, &cc)
	r.Retain = p.retain(q, r, &cc)
	return r
}

// storable reports whether the answer r to q may be stored and is worth storing (RFC 9111 §3). It ignores sizes.
func (p *policy) storable(q *request, r *store.Response) bool {
	cc := p.control(r.Header)
	if p.forbids(r, &cc) || !p.admits(q, r, &cc) || mediaType(r.Header) == "text/event-stream" ||
		!storableStatus(r.Status) {
		return false
	}
	life, from := p.lifetime(q, r, &cc)
	switch q.Method {
	case http.MethodGet:
	case http.MethodPost: // RFC 9110 §9.3.3
		if from != explicit || r.Status != http.StatusOK || !locatesItself(q, r.Header.Get("Content-Location")) {
			return false
		}
	default:
		return false
	}
	if r.Status == http.StatusPartialContent && !storablePart(q, r) {
		return false
	}
	if from == unstated && !heuristicStatus(r.Status) && !cc.public && (!cc.private || p.shared) {
		return false
	}
	return life > 0 || validatorsOf(r.Header)
}

// storableStatus reports whether a response with this status may be stored at all. RFC 6585 forbids it for the statuses
// that it defines: they concern one client or one moment.
func storableStatus(status int) bool {
	switch status {
	case http.StatusNotModified, http.StatusRequestedRangeNotSatisfiable, http.StatusPreconditionRequired,
		http.StatusTooManyRequests, http.StatusRequestHeaderFieldsTooLarge, http.StatusNetworkAuthenticationRequired:
		return false
	}
	return status >= 200
}

// validatorsOf reports whether a response can be validated (RFC 9110 §8.8), so that it is worth storing.
func validatorsOf(h http.Header) bool {
	return h.Get("ETag") != "" || h.Get("Last-Modified") != ""
}

// understood reports whether a status is one whose caching rules we know, for must-understand (RFC 9111 §5.2.2.3).
func understood(status int) bool {
	return http.StatusText(status) != "" && status != http.StatusNotModified
}

// retain returns, as a response is stored, when it may be removed: some time after it became stale, because it may be
// served while the origin cannot be reached, and later if it can be validated.
func (p *policy) retain(q *request, r *store.Response, cc *control) time.Time {
	life, _ := p.lifetime(q, r, cc)
	keep := max(p.staleLimit, 24*time.Hour)
	if validatorsOf(r.Header) {
		keep = max(keep, 30*24*time.Hour)
	}
	// At most a year: a lifetime of decades must not overflow, and a page not requested for a year may be removed.
	return r.ResponseTime.Add(min(life, 365*24*time.Hour) + keep)
}

// tagsOf returns the tags, to be stored with it, by which a response can be purged, of Cache-Tag and Surrogate-Key,
// sorted and without duplicates.
func tagsOf(h http.Header) []string {
	var tags []string
	for tag := range httpfield.Elements(h["Cache-Tag"]) {
		tags = append(tags, tag)
	}
	for _, line := range h["Surrogate-Key"] {
		tags = append(tags, strings.Fields(line)...)
	}
	slices.Sort(tags)
	return slices.Compact(tags)
}

// isPage reports whether the media type of a response to be stored is that of a page.
func (p *policy) isPage(h http.Header) bool { return p.page != nil && p.page(h.Get("Content-Type")) }

// isMarkdown reports whether the media type of a response to be stored is that of markdown.
func (p *policy) isMarkdown(h http.Header) bool {
	return p.markdown != nil && p.markdown(h.Get("Content-Type"))
}

// mediaType returns, to judge what is storable, the media type of a response in lower case without parameters, empty if
// it has none.
func mediaType(h http.Header) string {
	value := h.Get("Content-Type")
	t, _, err := mime.ParseMediaType(value)
	if err != nil {
		t, _, _ = strings.Cut(value, ";")
		t = strings.ToLower(strings.TrimSpace(t))
	}
	return t
}
