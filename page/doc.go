// Package page says what a page is, what identifies it and what kind of URL names it.
//
// A [Page] is what an agent reads at a URL: markdown, with what is known about it. Its [Key] is the hash of the
// normalised URL, so different spellings of an address are one page. The HTTP cache has a key of its own (the exact
// URL): the identity of a page never decides whether a stored response may be reused.
//
// The path of a URL: [Parse] reads what a user or an agent wrote, [Normalize] and [KeyOf] say which page it names, and
// [Classify] and [RepositoryOf] which kind of page, before any request is made ([New] makes a [Page] of these).
// [HasSecret] and [Unlisted] then say whether the page may be stored and who may be told of it, and [Mask] what a log
// may show. The steps of a fetch fill the [Record]; the store adds [Visits], and each answer its own [Answer].
//
// The package imports nothing of this program but package clip, and does no I/O.
//
// # Who owns what
//
//   - what a page is, by media type: [KindOf] (kind.go)
//   - which status of an origin says that a page is gone: [Gone] (page.go)
//   - which URLs are the same page, and its id: [Normalize], [KeyOf] (identity.go)
//   - which fragment is a route of an application: [Route] (identity.go)
//   - which fragment names a place on its page: [Place] (anchor.go)
//   - which parameters of a URL only track its visitor: [Tracks] (tracking.go)
//   - which parameters only carry a reader's session: [WithoutSession] (session.go)
//   - which further names a page may have on its host: [Siblings] (identity.go)
//   - which URLs a text names, and of what kind they are: [Detect] (detect.go), [Classify] (classify.go)
//   - which pages of which forges a URL names: forge.go, github.go
//   - what in a URL is a secret, and how it is masked: [HasSecret], [Mask] (secret.go, secret_value.go, secret_path.go)
//   - which URLs cannot be guessed, so that no third party may learn them: [Unlisted] (secret_path.go)
//   - how much is repeated of the message of a server that has our key: [Said] (secret.go)
//   - which library or repository a URL is about: [Library] (library.go); what a host is called: [SiteName] (site.go)
//   - which URL a reference names, and how its path is escaped: [Resolve], [KeepEscapes] (identity.go)
//   - which hosts are one site: [SameSite] (site.go)
//   - whether a host or a path matches a pattern: [MatchHost], [MatchPath] (pattern.go)
//   - which hosts are blocked, and which are this machine: [Blocked], [Loopback] (host.go)
//   - what of a page is stored, counted and answered: [Record], [Visits], [Answer] (page.go)
//   - whether searches find a page: [Record.Findable] (page.go)
//   - front matter and excerpts: frontmatter.go
package page
