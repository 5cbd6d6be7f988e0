// Package fleet lets several nodes share what they read, through a PostgreSQL database.
//
// Each node keeps its own store and answers from it. A [Fleet] is what runs beside it: it tells the database of pages
// that the node has read or deleted (publishpages.go, from the store's change log), of visits (visits.go) and of what
// it learns about hosts (hosts.go), and takes over what others have (followpages.go). Before the node asks an origin,
// it asks what others have stored of the URI (ask.go), which are told of what it stores (tellresponses.go) and purges
// (purges.go). Before it has a browser, markdown.new or a model make something of a page, it asks what they made
// (renditions.go). What is limited for all nodes together is counted there (limits.go). Large content may be in an
// object store instead of the database (bodies.go, package bucket).
//
// Knowledge bases that are filled from the web are those of all nodes (bases.go). One node at a time fills a base
// (fillings.go), the one that has the lease for that (leases.go); the others take over what it has (rounds.go), and one
// of them goes on when it ends. A request to fill a base waits for the lease, two seconds at most.
//
// Nothing else of a request waits for the database. While that cannot be reached the node is a node alone, with a
// longer change log, and continues where it was.
//
// Of two readings of a page the one that was fetched later counts, whoever told of it first. A deletion counts for what
// was fetched before it, so that a node that comes late brings nothing back.
//
// # Who owns what
//
//   - which pages other nodes may have: shareable (fleet.go)
//   - which of two readings of a page counts: newer (publishpages.go), with its statement in the database
//   - for which URLs a node shares stored responses: shareableURL (fleet.go)
//   - which content is in an object store, and what happens when that loses it: bodies.go
//   - which node sends a request to an origin: lookFor (ask.go)
//   - which renditions are shared, and which node makes one: shareableRendition, lookForRendition (renditions.go)
//   - what all nodes together may send to markdown.new, and when a crawl may read from a host: [Fleet.Spend],
//     [Fleet.Turn] (limits.go)
//   - which knowledge bases nodes share: [Fleet.SharesBase], baseRow.base (bases.go), and which rounds
//     of their filling: readRound (rounds.go)
//   - which node fills a knowledge base, and what becomes of what two nodes have filled: fillOrFollow, claim
//     (fillings.go)
//   - how the users of two nodes are merged: Fleet.shareUsers (users.go)
package fleet
