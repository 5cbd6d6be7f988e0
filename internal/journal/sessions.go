package journal

import (
	"net/http"
	"slices"
	"strings"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// DefaultSession is the session of a request that names none (rule B37).
const DefaultSession = "default"

// Bounds of what is counted by session.
const (
	maxCounted  = 1024 // sessions; of more, those with the latest requests
	maxRejected = 20   // hosts of SessionStats.Rejected
)

// SessionStats counts the requests of a session since the start, by whatever door. Hits, Pages and Errors are among the
// Requests; Pages counts the answers that were pages, Errors the requests that failed ([Entry.Failed]). Tunnels counts
// connections whose content was not inspected, WebSockets included. Tokens are those of the pages that count as read,
// HTMLTokens those of their HTML. The zero value is a session without requests.
type SessionStats struct {
	Requests, Pages, Hits, Errors, Tunnels int64
	Tokens, HTMLTokens                     int64

	// Rejected are hosts, at most twenty, separated by spaces, where a client of the session's own listener rejected our
	// certificate.
	Rejected string
}

// NamedSession is a session with its figures.
type NamedSession struct {
	Name string
	SessionStats
}

// SessionOf returns the session that a request belongs to: the one that it names, else the default one of its user.
func (e *Entry) SessionOf() string {
	switch {
	case e.Session != "":
		return e.Session
	case e.User != "":
		return e.User + "+" + DefaultSession // as [store.OwnSession] names it
	}
	return DefaultSession
}

// sessions counts requests by session. The zero value is one of no requests. The journal's lock guards it.
type sessions struct {
	stats *simplelru.LRU[string, *SessionStats]
	name  string        // of the last one counted,
	last  *SessionStats // which the next request often belongs to
}

// of returns the figures of a session, which may be changed.
func (t *sessions) of(name string) *SessionStats {
	if t.last != nil && t.name == name {
		return t.last
	}
	if t.stats == nil {
		t.stats, _ = simplelru.NewLRU[string, *SessionStats](maxCounted, nil) // fails for sizes below 1 only
	}
	st, ok := t.stats.Get(name)
	if !ok {
		st, name = new(SessionStats), strings.Clone(name)
		t.stats.Add(name, st)
	}
	t.name, t.last = name, st
	return st
}

// add counts a request for its session. A relayed upgrade, such as a WebSocket, counts as a tunnel, too.
func (t *sessions) add(e *Entry) {
	st := t.of(e.SessionOf())
	if e.Method == http.MethodConnect && e.Status == http.StatusOK {
		if e.Tunnel != "" {
			st.Tunnels++
			return
		}
	}
	st.Requests++
	if e.Status == http.StatusSwitchingProtocols {
		st.Tunnels++
	}
	if e.Outcome == "hit" {
		st.Hits++
	}
	if e.Failed() {
		st.Errors++
	}
	if e.Doc != "" {
		st.Pages++
	}
	tokens, html := e.spared()
	st.Tokens, st.HTMLTokens = st.Tokens+tokens, st.HTMLTokens+html
}

// Reject notes with a session that one of its clients rejected our certificate for a host.
func (j *Journal) Reject(session, host string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	st := j.sessions.of(session)
	if known := strings.Fields(st.Rejected); len(known) < maxRejected && !slices.Contains(known, host) {
		st.Rejected = strings.Join(append(known, host), " ")
	}
}

// Session returns the figures of a session. They are zero for an unknown session and for one that newer ones replaced.
func (j *Journal) Session(name string) SessionStats {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.sessions.stats != nil {
		if st, ok := j.sessions.stats.Peek(name); ok {
			return *st
		}
	}
	return SessionStats{}
}

// Sessions returns the sessions that had requests since the start, the newest first.
func (j *Journal) Sessions() (list []NamedSession) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.sessions.stats == nil {
		return nil
	}
	for _, name := range slices.Backward(j.sessions.stats.Keys()) {
		st, _ := j.sessions.stats.Peek(name)
		list = append(list, NamedSession{name, *st})
	}
	return list
}
