package cache

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/dunglas/httpsfv"

	"github.com/readthru/readthru/store"
)

// An Outcome describes how the cache handled a request, in the terms of the response field Cache-Status (RFC 9211 §2).
// The response carries it, see [OutcomeOf]; the field is written when the response leaves the program. The zero value
// is for a response that did not pass a cache.
type Outcome struct {
	Hit       bool
	TTL       time.Duration // of a hit: its remaining freshness lifetime, negative if stale
	Forward   string        // why the request was forwarded, if not a hit: the parameter fwd
	Status    int           // the origin's status; 0 if it did not answer: the parameter fwd-status
	Stored    bool
	Collapsed bool
	Detail    string
	Lifetime  time.Duration // of a hit: how long it is fresh in all, if a rule or this cache says that and not its origin
	Ruled     bool          // a rule says it
	Took      time.Duration // of a hit: what the origin took to answer when the response was stored
	Received  time.Time     // of a hit: when the stored response was received, or validated last
	Age       time.Duration // of a hit (RFC 9111 §4.2.3)
	Failed    int           // of a hit: the status with which the origin failed, in whose place this is; 0 if none
	Reuse     *Reuse        // of a fresh hit that an equal request would get again; else nil
}

// Details of an outcome.
const (
	DetailOnlyIfCached = "only-if-cached" // no stored response answers, and the request must not be forwarded
	DetailOffline      = "offline"        // the same, because the cache is offline; or a stored response answers therefore
	DetailRendition    = "rendition"      // the answer was made from a stored response before

	// These say why a stale stored response answers.
	detailMaxStale     = "max-stale"              // the request accepts one
	detailRevalidate   = "stale-while-revalidate" // its origin allows that for a while, and is asked meanwhile
	detailError        = "stale-if-error"         // its origin answered with an error
	detailDisconnected = "disconnected"           // its origin did not answer, or not to the end
)

// Unasked reports whether the response is the cache's own 504: it has none that may answer, and must not ask the
// origin.
func (o Outcome) Unasked() bool {
	return !o.Hit && o.Status == 0 && (o.Detail == DetailOnlyIfCached || o.Detail == DetailOffline)
}

// OutcomeOf returns the outcome that resp carries. It is the zero value if resp did not pass a cache or if resp.Body
// was replaced.
func OutcomeOf(resp *http.Response) Outcome {
	if body, ok := resp.Body.(interface{ Outcome() Outcome }); ok {
		return body.Outcome()
	}
	return Outcome{}
}

// OutcomeOfError returns the outcome that an error of [Cache.RoundTrip] carries: why the request was forwarded to an
// origin that did not answer. It is the zero value for other errors.
func OutcomeOfError(err error) Outcome {
	if u, ok := errors.AsType[*unanswered](err); ok {
		return u.outcome
	}
	return Outcome{}
}

// unanswered is the error for a request that the origin did not answer, with the outcome that it carries for
// [OutcomeOfError].
type unanswered struct {
	error
	outcome Outcome
}

// Unwrap returns the error of a request that was not answered, without its outcome.
func (u *unanswered) Unwrap() error { return u.error }

// A body is the body of a response, with the cache's outcome that it carries for [OutcomeOf].
type body struct {
	io.ReadCloser
	outcome Outcome
}

// Outcome implements what [OutcomeOf] looks for.
func (b *body) Outcome() Outcome { return b.outcome }

// A storedBody is the body of a response whose content is in the store. It has a length and a hash, and implements
// io.WriterTo.
type storedBody struct {
	*store.Body
	outcome Outcome
}

// Outcome implements what [OutcomeOf] looks for.
func (b *storedBody) Outcome() Outcome { return b.outcome }

// carry makes resp carry the outcome, in its body.
func (o Outcome) carry(resp *http.Response) {
	if stored, ok := resp.Body.(*store.Body); ok {
		resp.Body = &storedBody{stored, o}
		return
	}
	resp.Body = &body{resp.Body, o}
}

// Precede makes the outcome that resp carries say so if the origin was asked for another response, with the outcome o,
// in whose place resp stands: a hit is one for which nothing was forwarded (RFC 9211 §2.1).
func (o Outcome) Precede(resp *http.Response) {
	if o.Forward == "" || !OutcomeOf(resp).Hit {
		return
	}
	asked := Outcome{Forward: o.Forward, Status: o.Status}
	switch b := resp.Body.(type) {
	case *storedBody:
		b.outcome = asked
	case *body:
		b.outcome = asked
	}
}

// String returns the outcome as a member of Cache-Status, "readthru; hit; ttl=60", or "" for the zero value.
func (o Outcome) String() string {
	if o == (Outcome{}) {
		return ""
	}
	b := make([]byte, 0, 64)
	b = append(b, "readthru"...)
	if o.Hit {
		b = append(b, "; hit; ttl="...)
		b = strconv.AppendInt(b, floorSeconds(o.TTL), 10)
	} else {
		b = append(b, "; fwd="...)
		b = append(b, o.Forward...)
	}
	if o.Status != 0 {
		b = append(b, "; fwd-status="...)
		b = strconv.AppendInt(b, int64(o.Status), 10)
	}
	if o.Stored {
		b = append(b, "; stored"...)
	}
	if o.Collapsed {
		b = append(b, "; collapsed"...)
	}
	if o.Detail != "" {
		b = append(b, "; detail="...)
		b = append(b, o.Detail...)
	}
	return string(b)
}

// AddTo adds the outcome to Cache-Status, after the members of caches nearer to the origin. The zero value adds
// nothing.
func (o Outcome) AddTo(h http.Header) {
	if text := o.String(); text != "" {
		h["Cache-Status"] = append(slices.Clip(h["Cache-Status"]), text)
	}
}

// ParseOutcome parses the outcome that another run of this program wrote into Cache-Status: the last member, because
// earlier ones are of caches nearer to the origin. It returns the zero value if that member is not readthru's or is
// malformed.
func ParseOutcome(h http.Header) Outcome {
	list, err := httpsfv.UnmarshalList(h["Cache-Status"])
	if err != nil || len(list) == 0 {
		return Outcome{}
	}
	item, ok := list[len(list)-1].(httpsfv.Item)
	if !ok || item.Value != httpsfv.Token("readthru") {
		return Outcome{}
	}
	var o Outcome
	o.Hit = parameter[bool](item, "hit")
	o.TTL = time.Duration(parameter[int64](item, "ttl")) * time.Second
	o.Forward = string(parameter[httpsfv.Token](item, "fwd"))
	o.Status = int(parameter[int64](item, "fwd-status"))
	o.Stored = parameter[bool](item, "stored")
	o.Collapsed = parameter[bool](item, "collapsed")
	o.Detail = string(parameter[httpsfv.Token](item, "detail"))
	return o
}

// parameter returns, when an outcome is read, a parameter of an item of Cache-Status, or the zero value if there is
// none of this type.
func parameter[T any](item httpsfv.Item, name string) T {
	v, _ := item.Params.Get(name)
	t, _ := v.(T)
	return t
}

// Summary returns the outcome in one word: hit, stale, revalidated, miss or bypass, or "" for the zero value.
func (o Outcome) Summary() string {
	switch {
	case o.Hit && o.TTL < 0:
		return "stale"
	case o.Hit:
		return "hit"
	case o.Status == http.StatusNotModified:
		return "revalidated"
	}
	switch o.Forward {
	case "uri-miss", "vary-miss", "miss", "stale", "partial":
		return "miss"
	case "bypass", "method", "request":
		return "bypass"
	}
	return ""
}

// Why returns the reason of the outcome in a sentence, and the section of RFC 9111 that decided. For the zero value
// both are "".
func (o Outcome) Why() (reason, section string) {
	switch {
	case o.Unasked():
		return "Nothing stored answers this request, and the origin must not be asked.", "§5.2.1.7"
	case o.Hit && o.TTL < 0:
		return fmt.Sprintf("A stored response was answered that is %s old and stale for %s", short(o.Age), short(-o.TTL)) +
			o.whyStale() + ".", "§4.2.4"
	case o.Hit:
		return "A stored response is fresh." + o.whyFresh(), "§4.2"
	case o.Status == http.StatusNotModified:
		return "The stored response was stale, and the origin says that it has not changed.", "§4.3"
	}
	switch o.Forward {
	case "uri-miss", "miss":
		return "The cache had nothing for this URL, so the origin was asked.", "§4"
	case "vary-miss":
		return "What was stored for this URL answers requests with other fields, so the origin was asked.", "§4.1"
	case "stale":
		return "The stored response was stale, and the origin has a newer one.", "§4.3.3"
	case "partial":
		return "Only another part of the response was stored, so the origin was asked.", "§3.3"
	case "request":
		return "The request asks for what the origin has now.", "§5.2.1"
	case "method":
		return "Requests with this method are not answered from the cache.", "§4"
	case "bypass":
		return "The cache is not used for this request.", "§3"
	}
	return "", ""
}

// whyStale says of a stale hit why it was answered all the same; "" if nothing says it, as in what another program
// wrote.
func (o Outcome) whyStale() string {
	switch o.Detail {
	case DetailOffline:
		return ", because the origin must not be asked"
	case detailMaxStale:
		return ", because the request accepts a stale one (max-stale)"
	case detailRevalidate:
		return ", because its origin allows that while it is asked for a newer one (stale-while-revalidate)"
	case detailError:
		return fmt.Sprintf(", because the origin answered %d (stale-if-error)", o.Failed)
	case detailDisconnected:
		return ", because the origin did not answer, or not to the end"
	}
	return ""
}

// whyFresh says of a fresh hit who but its origin decides how long it is fresh, and how a reader gets a newer one; ""
// if the origin says it.
func (o Outcome) whyFresh() string {
	switch {
	case o.Lifetime == 0:
		return ""
	case o.Ruled:
		return " A rule keeps it for " + short(o.Lifetime) + ", whatever its origin says." + forNewer
	}
	return " Its origin does not say for how long: pages are kept for " + short(o.Lifetime) + " then (cache.page_ttl)." +
		forNewer
}

// forNewer says how a reader gets what the origin has now.
const forNewer = " For a new one: readthru fetch --force, or Cache-Control: no-cache in the request."

// floorSeconds returns, for an outcome, d in whole seconds, rounded towards negative infinity: a response that has just
// become stale has a ttl of -1, not of 0.
func floorSeconds(d time.Duration) int64 {
	s := int64(d / time.Second)
	if d < 0 && d%time.Second != 0 {
		s--
	}
	return s
}
