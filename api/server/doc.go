// Package server does the operations of package api, answers them over HTTP, and describes them (OpenAPI).
//
// Over HTTP every path is guarded (package guard): the Host field must name this server (DNS rebinding), an Origin
// field must be ours, cross-site requests of browsers are refused, POST takes only JSON or bytes, and who asks must be
// the user that the server runs as, by a token, a sign-in or the socket at the other end.
//
// A request passes the guard (server.go) and comes to the route of its path and method, which reads its parameters and
// calls what does the operation (handlers.go): a method of one of the families (families.go), which are packages below
// this one, or of Server where the operation is about the server itself. JSON-RPC (rpc.go) calls the same methods.
//
// # Who owns what
//
//   - which method does an operation: handlers (handlers.go)
//   - whether a role is enough for an operation, and what of others a user may see: package asker
//   - what is in progress, and how the counters become series: package figures
package server
