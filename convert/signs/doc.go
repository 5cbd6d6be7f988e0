// Package signs decides whether a response holds the page at all, or what stands in its place: a bot wall, a shell that
// scripts fill, a page of an error, a request to sign in or to pay.
//
// [Wall] looks at a response before it is read as a page. [Signs.Judge] looks at the tree of a page, and puts text that
// is in a noscript element or in JSON-LD alone where a reader would see it.
package signs
