// Package store keeps what the program remembers in one directory: stored responses, bodies, renditions, pages with
// their versions and visits, counters, the change log and the disclosure ledger. Package kv below it is the only one
// that knows the engine underneath (Badger).
//
// [Open] returns a [Store], whose methods are safe for concurrent use. The package makes three promises:
//
//   - Callers do not wait for the disk. A write goes to a bounded queue and is visible to the next read at once; one
//     goroutine compresses and commits. When the queue or the disk is full, a write fails with [ErrFull] and the caller
//     continues without it. Only [Store.Flush], [Store.Disclose] and the acknowledging of jobs wait until their writes
//     are synced, and listings wait until earlier writes can be listed.
//   - No damaged record is returned. Every record has a hash over its key and value, which each read checks. A record
//     that does not verify counts in [Health] and is treated as missing.
//   - A damaged store does not stop the program. It is moved aside, an empty store takes its place, and [Health]
//     reports that.
//
// To read the source, begin with store/body (content by its hash). Then there is a file for each kind of record. All
// keys are in store/keys; how a record reaches the disk and is read from it is in store/kv.
//
// # Who owns what
//
//   - which keys there are: package keys
//   - what an answer depends on in the store: [Record] (feed.go)
//   - what was learnt about a host, and until when it holds: hosts.go
//   - which third parties are switched off, and what each was sent: [Store.Disclose] (disclosures.go)
//   - which rules were made by hand, and which site recipes are kept: rules.go
//   - what a session may be called, and whose it is: [CheckSession], [OwnSession] (sessions.go)
//   - what a user has used, by days: [Store.AddUse] (users.go)
//   - what was counted in each minute, hour and day: series.go
//   - what a purge covers: [Purge.Covers] (purges.go)
//   - what remains on disk of what was deleted, and its removal: [Store.Compact] (compact.go)
//   - what is removed or masked when newer rules find a secret in its URL: [Store.RemoveSecrets] (secrets.go)
//   - which stored pages are cleaned when they are read: Store.readVersion (pages.go), Store.fetchedPage (fetched.go)
//
// Texts are cleaned of what no reader sees before they are stored, and each is stored with the edition of the cleaner
// it has passed. A text of an older edition, or of none, is cleaned whenever it is read. What was derived from it
// (index, subjects, summaries, excerpts) is made again, the index and the subjects once and in the background. Nothing
// is written back, because a cleaner that removes too much must not destroy what was stored: its next edition restores
// what it removed.
package store
