// Package cache is an HTTP cache after RFC 9111, shared by default.
//
// A [Cache] is an [http.RoundTripper]. It answers from its store where §4 allows reuse, validates stale responses with
// the validators they carry, and forwards otherwise. It keeps what origins said and never looks inside content:
// markdown made from a stored response is a rendition, which package fetch derives and keeps in the store beside it.
//
// Decisions are pure functions of request, stored responses and time, one idea a file: freshness, storable, reuse,
// vary, conditional, ranges, validate, invalidate. RoundTrip acts on their verdict; a flight is one exchange with the
// origin, shared by all who ask for the same at the same time.
//
// Beyond the RFC's defaults, each switchable in [Options]: a private mode (Options.Private), answering stale when the
// origin cannot be reached (§4.2.4), and a lifetime for pages that state none (Options.PageLifetime). Stricter than the
// RFC: a page asked with credentials is not stored in shared mode, and a body whose content coding is cut never is.
//
// # Who owns what
//
//   - which responses may be stored, and who may get what was requested with credentials: storable.go, request.go
//   - how long a response is fresh, with cache.page_ttl and the lifetimes of rules: freshness.go
//   - which stored response answers a request, also when the origin is not contacted: policy.answer (reuse.go)
//   - what the cache did for a request, and the field Cache-Status: [Outcome] (outcome.go)
//   - why it did so, in a sentence: [Outcome.Why] (outcome.go)
//   - the explanation that "cache get --explain" prints: explain.go
//   - whether If-None-Match matches: [MatchesETag] (conditional.go)
//   - which part of a representation Range and If-Range name: [PartOf] (ranges.go)
//   - which parts of a representation are joined into one stored response: policy.combine (combine.go)
//   - which stored responses other nodes of a fleet may have: policy.forEverybody (peers.go)
package cache
