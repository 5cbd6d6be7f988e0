// Package api has the operations of readthru for operators and agents: fetch a page, list pages, visits and versions,
// inspect the cache, search, fill knowledge bases, read figures.
//
// The table in operations.go lists the operations. A [Server] does them and answers them over HTTP. A [Client] asks for
// them, of a daemon over HTTP or of a Server in its own process, so a command works alike with and without a daemon. A
// failure is an [*Error] with a [Code] for programs; on the wire it is application/problem+json (RFC 9457).
//
// Over HTTP every path is guarded (guard.go): the Host field must name this server (DNS rebinding), an Origin field
// must be ours, cross-site requests of browsers are refused, POST takes only JSON or bytes, and who asks must be the
// user that the server runs as, by a token, a sign-in or the socket at the other end.
//
// # Who owns what
//
//   - operations with their paths, parameters, roles and OpenAPI, and the client's calls: the table in operations.go
//   - error codes: problem.go
//   - who may use the admin port: guard.check (guard.go), whose a socket is: peer_linux.go
//   - which forms are accepted: isOwnForm (guard.go)
//   - whether a role is enough for an operation: may (asker.go)
//   - what of others a user may see: seesUser, ownsSession (asker.go)
//   - what is in progress: Server.work (stats.go)
//   - how the counters become series: sampler (series.go)
package api
