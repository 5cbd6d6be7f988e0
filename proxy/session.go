package proxy

import (
	"maps"
	"slices"
	"sync"

	"github.com/readthru/readthru/internal/journal"
	"github.com/readthru/readthru/internal/users"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/proxy/strict"
	"github.com/readthru/readthru/store"
)

// recordings are those of sessions by name. A client names its session in X-Readthru-Session or as its user name for
// the proxy.
type recordings struct {
	mu sync.Mutex
	of map[string]*recorder
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

// SessionState is a session by name, with its figures.
type SessionState struct {
	journal.NamedSession

	Recording bool // what it is answered is being recorded
}

// Sessions returns the sessions that had requests since the start, the newest first, and those that are recorded.
func (p *Proxy) Sessions() (list []SessionState) {
	p.recordings.mu.Lock()
	recording := maps.Clone(p.recordings.of)
	p.recordings.mu.Unlock()
	for _, st := range p.journal.Sessions() {
		list = append(list, SessionState{st, recording[st.Name] != nil})
		delete(recording, st.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(recording)) {
		list = slices.Insert(list, 0, SessionState{journal.NamedSession{Name: name}, true})
	}
	return list
}

// pageTokens are the tokens of an answered page and of its HTML. The zero value is for an answer that is no page.
type pageTokens struct {
	page         bool
	tokens, html int64
}

// tokensOf returns, for the figures of a user, the tokens of an answered page, which may be nil. Of a page that did
// not come as HTML its own tokens count as those of its HTML: nothing was saved.
func tokensOf(p *page.Page) pageTokens {
	if p == nil {
		return pageTokens{}
	}
	return pageTokens{true, int64(p.Tokens), int64(max(p.Tokens, p.Info.HTMLTokens))}
}

// useOf returns what an answered request uses of its user's limits.
func useOf(bytes int64, of pageTokens) (use users.Use) {
	if of.page {
		use = users.PageUse(of.tokens, of.html)
	}
	use.Requests, use.Bytes = 1, bytes
	return use
}
