// Package render returns what a browser sees at a URL. It manages one Chromium process, which it finds on the machine,
// starts for the first page and stops when it is idle.
//
// The browser has no network of its own: its proxy is a listener that refuses everything. Each of its requests is
// paused, made by Options.Client, and answered with the response. So the cache, the address guard and the limits of our
// own fetches apply to every byte of a page. Connections that cannot be paused (WebSockets, pop-up windows, service
// workers) fail. Each page has its own browser context, so that pages share no cookies and no storage.
//
// Time in a page is virtual: timers fire as soon as nothing is loading. A page that shows its text after a second does
// not cost a second. See settle.go.
//
// The files, in reading order: find.go (which browser), supervise.go (when it runs), process.go (one process), flags.go
// (its isolation), page.go (one page), intercept.go (the requests of a page), settle.go (when a page is done).
//
// # Who owns what
//
//   - when a page is done: settle (settle.go), linger (patience.go), begin (events.go)
//   - which list shows only the rows in view, and what its rows are: takeLists (rows.go)
//   - which frames are part of the document: serialise (settle.go)
package render
