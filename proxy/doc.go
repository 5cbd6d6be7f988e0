// Package proxy is the forward proxy: it tunnels or intercepts connections and decides which requests get markdown.
//
// One handler answers every request, whether it came in origin form, in absolute form, or inside an intercepted CONNECT
// ([Proxy.Serve]). It refuses malformed requests and loops, answers requests for the proxy itself (readthru.local),
// authenticates the user, applies the rules, and chooses the form of the answer ([form.Decide]). Pages in markdown come
// from [fetch.Fetcher.Page]; all other responses stream through the cache byte for byte. Upgrades bypass the cache.
//
// goproxy dispatches CONNECT and relays WebSockets. Its certificates, its dialers and its own handling of requests are
// not used.
//
// # Who owns what
//
//   - which requests get markdown: package form
//   - which requests a listener refuses, and in which order: exchange.go
//   - how the bytes of a request are framed: package strict
//   - which hosts are intercepted, tunnelled or blocked: policy.judgeHost (policy.go), with package preset and
//     rejection.go
//   - which clients must speak TLS: fromThisMachine (listen_tls.go)
//   - which requests get an earlier answer again: fast.go
//   - how long an idle connection keeps the buffers of net/http: park.go
//   - whose session a request belongs to: ownSession (session.go)
//   - what the journal records of a request: exchange.tell (journal.go)
//   - the PAC file: [AutoConfig] (local.go)
package proxy
