package users

import (
	"fmt"
	"sync"
	"time"
)

// Use is what a user used.
type Use struct {
	Requests   int64 `json:"requests"`     // to the proxy and to the admin port
	Bytes      int64 `json:"bytes"`        // of the answers
	Pages      int64 `json:"pages"`        // among the requests, or delivered by one
	Tokens     int64 `json:"tokens"`       // of these pages
	HTMLTokens int64 `json:"html_tokens"`  // of their HTML
	Saved      int64 `json:"tokens_saved"` // by which that is more
}

// Add adds what else was used.
func (u *Use) Add(more Use) {
	u.Requests += more.Requests
	u.Bytes += more.Bytes
	u.Pages += more.Pages
	u.Tokens += more.Tokens
	u.HTMLTokens += more.HTMLTokens
	u.Saved += more.Saved
}

// PageUse returns the use of a page with so many tokens, in the place of HTML with so many; 0 if that is not known.
func PageUse(tokens, html int64) Use {
	html = max(tokens, html)
	return Use{Pages: 1, Tokens: tokens, HTMLTokens: html, Saved: html - tokens}
}

// Meter counts what a user uses, and holds it against the user's limits. A nil Meter counts nothing and has no limits.
type Meter struct {
	mu       sync.Mutex
	limits   Limits
	minute   int64 // since 1970
	requests int64 // in it
	day      int64 // since 1970
	tokens   int64 // in it, here
	others   int64 // in it, on other nodes
	use      Use   // since the start, without what Take took
}

// OverError says that a limit is reached.
type OverError struct {
	Limit string // in words
	Wait  time.Duration
	Until time.Time
}

// Error says which limit, and when there is more again.
func (e *OverError) Error() string {
	return fmt.Sprintf("%s: there is more from %s on", e.Limit, e.Until.UTC().Format(time.RFC3339))
}

const dayLength = 24 * time.Hour

// Ask counts a request against the limit of requests. A request over the limit is an [*OverError] and is not counted.
func (m *Meter) Ask(now time.Time) error {
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	limit := m.limits.RequestsPerMinute
	if limit == 0 {
		return nil
	}
	if minute := now.Unix() / 60; minute != m.minute {
		m.minute, m.requests = minute, 0
	}
	if m.requests >= limit {
		until := time.Unix((m.minute+1)*60, 0)
		return &OverError{fmt.Sprintf("your limit of %d requests a minute is reached", limit), until.Sub(now), until}
	}
	m.requests++
	return nil
}

// AskPage returns an [*OverError] if the user's tokens of the day, here and on other nodes, are used up. The page that
// exceeds them is the last one.
func (m *Meter) AskPage(now time.Time) error {
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	limit := m.limits.TokensPerDay
	if limit == 0 {
		return nil
	}
	m.turnDay(now)
	if m.tokens+m.others < limit {
		return nil
	}
	until := time.Unix(0, 0).Add(time.Duration(m.day+1) * dayLength)
	return &OverError{fmt.Sprintf("your limit of %d tokens of pages a day is reached", limit), until.Sub(now), until}
}

// Count counts what was used.
func (m *Meter) Count(now time.Time, use Use) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.use.Add(use)
	m.turnDay(now)
	m.tokens += use.Tokens
}

// turnDay begins a day. The caller holds mu.
func (m *Meter) turnDay(now time.Time) {
	if day := DayOf(now); day != m.day {
		m.day, m.tokens, m.others = day, 0, 0
	}
}

// Begin sets how many tokens were used in the day before the meter counted, here.
func (m *Meter) Begin(now time.Time, tokens int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.turnDay(now)
	m.tokens += tokens
}

// Elsewhere sets how many tokens other nodes gave the user in the day.
func (m *Meter) Elsewhere(now time.Time, tokens int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.turnDay(now)
	m.others = tokens
}

// take returns what was counted since the last call.
func (m *Meter) take() Use {
	m.mu.Lock()
	defer m.mu.Unlock()
	use := m.use
	m.use = Use{}
	return use
}

// put gives back what take took.
func (m *Meter) put(use Use) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.use.Add(use)
}

// setLimits changes the limits of a user whose record has changed; what was used counts on.
func (m *Meter) setLimits(l Limits) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.limits = l
}

// DayOf returns the day of UTC that a time is in, counted from 1970.
func DayOf(t time.Time) int64 { return t.Unix() / int64(dayLength/time.Second) }
