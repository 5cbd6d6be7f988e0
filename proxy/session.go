package proxy

import (
	"net/http"
	"sync"

	lru "github.com/hashicorp/golang-lru/v2"
)

// sessionsKept is how many sessions' figures are remembered.
const sessionsKept = 1024

// SessionStats counts what a session was answered since its first request: Hits and Pages are of the Requests, pages
// those that came as markdown or text; Tunnels are connections whose content nobody looked at, WebSockets among them.
// Tokens are those of the pages, HTMLTokens what they would have had.
type SessionStats struct {
	Requests, Pages, Hits, Errors, Tunnels int64
	Tokens, HTMLTokens                     int64
}

// sessions knows the sessions by their names: whatever requests came under one, by X-Readthru-Session or as the name
// that a client gives the proxy.
type sessions struct {
	mu        sync.Mutex
	stats     *lru.Cache[string, *SessionStats]
	recording map[string]*recorder
}

func newSessions() *sessions {
	stats, _ := lru.New[string, *SessionStats](sessionsKept) // fails for sizes below 1 only
	return &sessions{stats: stats, recording: map[string]*recorder{}}
}

// count has f count something of a session.
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

// Session returns the figures of a session. One that made no request, or long ago, has none.
func (p *Proxy) Session(name string) SessionStats {
	p.sessions.mu.Lock()
	defer p.sessions.mu.Unlock()
	if st, ok := p.sessions.stats.Peek(name); ok {
		return *st
	}
	return SessionStats{}
}

// tally counts the exchange for its session, and ends its recording.
func (x *exchange) tally() {
	if x.recorded != nil {
		x.recorded.End(x.cut)
	}
	x.p.sessions.count(x.session, func(st *SessionStats) {
		st.Requests++
		if x.rec.Status == http.StatusSwitchingProtocols {
			st.Tunnels++
		}
		if x.rec.Cache == "hit" {
			st.Hits++
		}
		if x.rec.Status >= http.StatusInternalServerError {
			st.Errors++
		}
		if x.page != nil {
			st.Pages++
			st.Tokens += int64(x.page.Tokens)
			st.HTMLTokens += int64(max(x.page.Tokens, x.page.Info.HTMLTokens))
		}
	})
}
