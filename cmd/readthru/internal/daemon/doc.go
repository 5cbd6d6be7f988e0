// Package daemon is how commands meet the daemon of a data directory: how they find it, start it, keep it running while
// they use it, and stop it.
//
// # Who owns what
//
//   - which daemon a command uses, and when it starts or replaces one: OpenOrShare (share.go)
//   - where commands find a daemon and the token of its admin port: Find (daemon.go)
package daemon
