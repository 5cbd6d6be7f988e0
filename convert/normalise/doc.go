// Package normalise brings the elements of a page into the few forms that the renderer knows: images, code blocks,
// callouts, tables, quotations, lists and threads of comments, whatever a site's generator writes for them.
//
// Its door is [Body], which rewrites a page's body in place and has package hidden remove what no reader sees on the
// way. [Frameset], [UnwrapShadowRoots] and [LinkEmbeds] are the steps that also pages without such a body need.
//
// # Who owns what
//
//   - which frames, films and recordings become a link to what they show: embeds.go
//   - what a forum quotes, and whom: normaliseQuote (quotes.go)
//   - which comment replies to which: threads.go
//   - where two texts on a line are two words without a space between them: seams.go
package normalise
