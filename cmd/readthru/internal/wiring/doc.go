// Package wiring makes a program of the parts: Open opens them from the store upwards, for a command or the daemon, and
// Serve runs the daemon.
//
// # Who owns what
//
//   - which rules there are, and which comes first: Core.rules (wire.go)
//   - whether everything is passed on, or no origin is contacted: Core (wire.go), Core.apply (wire.go)
//   - how much memory the parts may use: planMemory (memory.go)
//   - the token of the admin port: AdminToken (admintoken.go)
//   - how many pages are kept, as agents read it when a session begins: KeptPages (kept.go)
package wiring
