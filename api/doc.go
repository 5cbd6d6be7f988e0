// Package api is what an operator or a program can ask of readthru: fetch a page, list pages, visits and versions,
// inspect the cache, search, fill knowledge bases, read figures.
//
// The table in operations.go lists the operations, and files name what stands in requests and answers by families:
// pages, memory, cache, people and machine. Package server does them. A [Client] asks for them, of a daemon over HTTP
// or of a server in its own process, so a command works alike with and without a daemon. A failure is an [*Error] with
// a [Code] for programs; on the wire it is application/problem+json (RFC 9457).
//
// # Who owns what
//
//   - operations with their paths, parameters and roles, and the client's calls: the table in operations.go
//   - error codes: problem.go
package api
