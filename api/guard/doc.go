// Package guard decides who may ask the server of package api over HTTP: by the names in a request, by a token, by a
// browser that signed in, or by the socket at the other end.
//
// # Who owns what
//
//   - who may use the admin port: Guard.Check (guard.go), whose a socket is: peer_linux.go
//   - which forms are accepted: IsOwnForm (guard.go)
//   - which browsers are signed in, and for how long: Browsers (browsers.go)
package guard
