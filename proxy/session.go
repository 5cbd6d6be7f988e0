package proxy

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/readthru/readthru/internal/journal"
	"github.com/readthru/readthru/internal/users"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/proxy/strict"
	"github.com/readthru/readthru/store"
)

// maxSessions is the number of sessions whose statistics are kept.
const maxSessions = 1024

// SessionStats counts the requests of a session. Hits, Pages and Errors are among the Requests; Pages counts the
// answers in markdown or text. Tunnels counts connections whose content was not inspected, WebSockets included. Tokens
// are those of the pages, HTMLTokens those of their HTML.
type SessionStats struct {
	Requests, Pages, Hits, Errors, Tunnels int64
	Tokens, HTMLTokens                     int64

	// Rejected are hosts, at most maxRejected, separated by spaces, where a client of the session's own listener rejected
	// our certificate.
	Rejected string
}

// maxRejected bounds SessionStats.Rejected, in hosts.
const maxRejected = 20

// reject adds a host at which a client of the session rejected our certificate, once.
func (st *SessionStats) reject(host string) {
	if known := strings.Fields(st.Rejected); len(known) < maxRejected && !slices.Contains(known, host) {
		st.Rejected = strings.Join(append(known, host), " ")
	}
}

// sessions holds the statistics and recordings of sessions by name. A client names its session in X-Readthru-Session or
// as its user name for the proxy.
type sessions struct {
	mu        sync.Mutex
	stats     *lru.Cache[string, *SessionStats]
	recording map[string]*recorder
}

// newSessions returns the sessions of a proxy that has had no request.
func newSessions() *sessions {
	stats, _ := lru.New[string, *SessionStats](maxSessions) // fails for sizes below 1 only
	return &sessions{stats: stats, recording: map[string]*recorder{}}
}

// count calls f with the statistics of a session, under the lock. It does nothing if name is empty.
func (s *sessions) count(name string, f func(*SessionStats)) {
	if name == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	st, ok := s.stats.Get(name)
	if !ok {
		st = new(SessionStats)
		s.stats.Add(name, st)
	}
	f(st)
}

// ownSession returns the name of a session of a user, see [store.OwnSession].
func ownSession(user users.Login, name string) (string, *strict.Refusal) {
	own, err := store.OwnSession(user.Name(), name)
	if err == nil && own != "" {
		err = store.CheckSession(own)
	}
	if err != nil {
		return "", strict.BadRequest("The session's name must have no plus sign and no control character, and be short.")
	}
	return own, nil
}

// Session returns the statistics of a session. They are zero for an unknown session and for one evicted by newer ones.
func (p *Proxy) Session(name string) SessionStats {
	p.sessions.mu.Lock()
	defer p.sessions.mu.Unlock()
	if st, ok := p.sessions.stats.Peek(name); ok {
		return *st
	}
	return SessionStats{}
}

// SessionState is a session by name, with its statistics.
type SessionState struct {
	Name      string
	Recording bool // what it is answered is being recorded
	SessionStats
}

// Sessions returns the sessions that had requests since the start, the newest first, and those that are recorded.
func (p *Proxy) Sessions() []SessionState {
	p.sessions.mu.Lock()
	defer p.sessions.mu.Unlock()
	var list []SessionState
	add := func(name string) {
		s := SessionState{Name: name, Recording: p.sessions.recording[name] != nil}
		if st, ok := p.sessions.stats.Peek(name); ok {
			s.SessionStats = *st
		}
		list = append(list, s)
	}
	for _, name := range slices.Sorted(maps.Keys(p.sessions.recording)) {
		if !p.sessions.stats.Contains(name) {
			add(name)
		}
	}
	for _, name := range slices.Backward(p.sessions.stats.Keys()) {
		add(name)
	}
	return list
}

// tally counts the exchange for its session and ends its part of a recording.
func (x *exchange) tally() {
	if x.recorded != nil {
		x.recorded.End(x.cut)
	}
	x.p.sessions.count(x.session, func(st *SessionStats) { st.add(&x.rec, tokensOf(x.page)) })
}

// pageTokens are the tokens of an answered page and of its HTML. The zero value is for an answer that is no page.
type pageTokens struct {
	page         bool
	tokens, html int64
}

// tokensOf returns, for the figures of a session, the tokens of an answered page, which may be nil. Of a page that did
// not come as HTML its own tokens count as those of its HTML: nothing was saved.
func tokensOf(p *page.Page) pageTokens {
	if p == nil {
		return pageTokens{}
	}
	return pageTokens{true, int64(p.Tokens), int64(max(p.Tokens, p.Info.HTMLTokens))}
}

// add counts an answered request in the statistics of a session. A relayed upgrade, such as a WebSocket, counts as a
// tunnel.
func (st *SessionStats) add(rec *journal.Entry, of pageTokens) {
	st.Requests++
	if rec.Status == http.StatusSwitchingProtocols {
		st.Tunnels++
	}
	if rec.Cache == "hit" {
		st.Hits++
	}
	if rec.Status >= http.StatusInternalServerError {
		st.Errors++
	}
	if of.page {
		st.Pages++
		st.Tokens += of.tokens
		st.HTMLTokens += of.html
	}
}

// useOf returns, beside the figures of its session, what an answered request uses of its user's limits.
func useOf(bytes int64, of pageTokens) (use users.Use) {
	if of.page {
		use = users.PageUse(of.tokens, of.html)
	}
	use.Requests, use.Bytes = 1, bytes
	return use
}
