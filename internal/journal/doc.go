// Package journal tells of the last requests: what was asked, by whom, what was answered, and why it was answered so.
//
// A [Journal] is a ring in memory. A request that is answered again from an earlier one shares that one's [Entry], so
// that it costs no more than its time. With [Options.Dir] what is told is kept in files, too, and outlives the process.
// What is secret is masked before it gets here.
//
// # Who owns what
//
//   - which requests are kept on disk, and for how long: archive.go
//   - what all requests since the start add up to: [Journal.Sums] (sums.go)
//   - which agents sent requests lately, and how many names are kept: [Journal.Agents] (agents.go)
//   - which requests can be sent again, and with which fields: replay.go
package journal
