// Package fetch fetches pages in the requested form.
//
// A [Fetcher] sends one request per page to the origin, which prefers markdown to HTML, and passes the response to an
// ordered list of steps (see [Step]): the first good result is the answer. A response that is not a page (an asset,
// download, stream or redirect) is returned unchanged and unread. The HTTP cache stands between the Fetcher and the
// origin as an [http.RoundTripper]. Markdown made from a response is a rendition. The store keeps it under the hash of
// the source bytes, so that a hit converts nothing and reads no body.
//
// Below the cache stands a [transport.Transport], which applies one policy to requests of clients and another to own
// fetches. A call of [Fetcher.Page] with credentials in the request returns the page and leaves no page, rendition or
// visit behind; no third party learns of it.
//
// # Who owns what
//
//   - what is known of a URL by its text, the options, the rules and the site recipes: type address (address.go), found
//     once for each URL that an attempt comes to
//   - what is sent to the origin of a page, and to the cache: Fetcher.accept, [Fetcher.RequestFor] (origin.go)
//   - which URLs may be sent to a third party: package gate
//   - which entity tags are ours, which no origin sees: [httpfield.RemoveOurTags]
//   - what robots.txt allows: package robots; where a page has its markdown beside it: package twins
//   - what markdown.new and a model are asked, and what of their answers is believed: packages markdownnew, prompt
//   - how a page is converted again from the stored response of its origin: [Fetcher.Convert] (stored.go)
//   - how many pages are parsed at the same time: package turns; for how long each is: Fetcher.document (local.go)
//   - whether a page has several names: Fetcher.name (record.go)
//   - which frames of a page are read, and put in their places: Fetcher.joinFrames (frames.go)
//   - whether the text of a third party belongs to the page: gate.SharesWords
//   - which pages are joined into one, and for whom: attempt.joins, attempt.mayJoin (joined.go)
//   - that a changed recipe has pages converted again: attempt.recipeFor (attempt.go)
//   - which text is for an agent, and is cleaned on its way: [Readable] (clean.go)
package fetch
