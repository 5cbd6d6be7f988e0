package api

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/readthru/readthru/internal/fleet"
	"github.com/readthru/readthru/internal/journal"
	"github.com/readthru/readthru/internal/users"
	"github.com/readthru/readthru/store"
)

// VisitList is a part of the list of visits. Next is empty at the end.
type VisitList struct {
	Visits []fleet.Visit `json:"visits"` // their nodes are named if those of all nodes were asked for
	Next   string        `json:"next,omitempty"`
}

// VisitQuery selects visits, newest first.
type VisitQuery struct {
	URL     string `query:"url" doc:"only this page"`
	Session string `query:"session" doc:"only this session"`
	User    string `query:"user" doc:"only of this user of the proxy"`
	Host    string `query:"host" doc:"only pages of this host"`
	Agent   string `query:"agent" doc:"only of agents with this text in their names"`

	Since time.Time `query:"since" doc:"only since a day, a time, or an age (36h, 7d)"`

	Nodes  bool   `query:"nodes" doc:"those of all nodes of the fleet, but for those of the last seconds"`
	Limit  int    `query:"limit" range:"1,500"` // 0 is 50
	Cursor string `query:"cursor"`              // Next of the list before
}

// RequestExport asks for requests as a file.
type RequestExport struct {
	Filter string `query:"q" doc:"only those that match, as in the list of requests"`
	Format string `query:"format" doc:"har (default) or jsonl"`
}

func (r RequestExport) from(*http.Request) error {
	if r.Format != "" && r.Format != "har" && r.Format != "jsonl" {
		return Problem(http.StatusBadRequest, "format is har or jsonl, not %q", r.Format)
	}
	return nil
}

// RequestList is a part of the last requests, newest first. Next is empty at the end. Warnings say what of the
// requests on disk could not be read.
type RequestList struct {
	Requests []journal.Entry `json:"requests"`
	Next     string          `json:"next,omitempty"`
	Warnings []string        `json:"warnings,omitempty"`
	Instead  string          `json:"instead,omitempty"` // a filter that finds some, if this one finds none
}

// RequestQuery asks for the last requests.
type RequestQuery struct {
	Filter string `query:"q" doc:"only those that match: words of the URL, and host:, status:, outcome:, why: …"`
	Limit  int    `query:"limit" range:"1,5000" doc:"how many at most, 1 to 5000; default 500"`
	Cursor string `query:"cursor"`
}

// RequestRef names a request.
type RequestRef struct {
	ID string `path:"id"`
}

// RequestView is a filter of requests with a name.
type RequestView struct {
	ID     string    `json:"id,omitempty"` // of one that somebody saved; the others are always there
	Made   time.Time `json:"made,omitzero"`
	Name   string    `json:"name"`
	Filter string    `json:"filter"` // as in the list of requests
}

// RequestViews lists views: those that are always there, then one's own.
type RequestViews struct {
	Views []RequestView `json:"views"`
}

// NewView names a filter of requests.
type NewView struct {
	Name   string `json:"name"`
	Filter string `json:"filter"` // as in the list of requests
}

// ViewRef names a view that somebody saved.
type ViewRef struct {
	ID string `path:"id"`
}

// EventQuery asks for events.
type EventQuery struct {
	Filter string `query:"q" doc:"only requests that match, as in the list of requests"`
	Work   bool   `query:"work" doc:"also an event, work, when other work is in progress, and now and then while jobs run"`
	Limit  int    `query:"limit" range:"1,500" doc:"how many requests an event has at most, the last ones; default 100"`
}

// FetchedStats sums the context of a session: the pages that it has fetched.
type FetchedStats struct {
	Pages   int       `json:"pages"`
	Bytes   int64     `json:"bytes"`   // of their content
	Dropped int64     `json:"dropped"` // pages that made room for newer ones
	Last    time.Time `json:"last,omitzero"`
}

// SessionList lists sessions: those with requests since the start, the newest first, then others that have fetched
// pages.
type SessionList struct {
	Sessions []SessionSummary `json:"sessions"`
}

// SessionStats counts what a session was answered since its first request, by whatever door. Hits and Pages count
// requests; Tunnels are connections that were not intercepted. A request that names no session belongs to the default
// one of its user.
type SessionStats struct {
	Session  string     `json:"session"`
	Requests int64      `json:"requests"`
	Pages    int64      `json:"pages"`
	Hits     int64      `json:"hits"`
	Errors   int64      `json:"errors"`
	Tunnels  int64      `json:"tunnels"`
	Tokens   TokenStats `json:"tokens"`

	Recording bool `json:"recording,omitempty"` // what it is answered is being recorded

	// RejectedCA are hosts, at most twenty, where a client of the session's own proxy rejected our certificate.
	RejectedCA []string `json:"rejected_ca,omitempty"`
}

// SessionSummary is a session: what the proxy answered to it, and what it has fetched.
type SessionSummary struct {
	SessionStats

	Fetched FetchedStats `json:"fetched"`
}

// OpenQuery asks for a proxy of a session.
type OpenQuery struct {
	Name    string `path:"name"`
	Offline bool   `query:"offline" doc:"1: answer from what is stored and ask no origin"`
}

// SessionQuery asks for the figures of a session.
type SessionQuery struct {
	Name string `path:"name"`

	Closed string `query:"closed" doc:"first wait until the proxy at this address, which openSession gave, is closed"`
}

// SessionRef names a session.
type SessionRef struct {
	Name string `path:"name"`
}

// SigninLink is a link that works once. It is a path of this server.
type SigninLink struct {
	Path     string `json:"path"`
	ExpiresS int    `json:"expires_s"`
}

// SigninRequest asks for a link that signs a browser in. Page is where the browser goes then, a path of this server.
// User is who is signed in by it; if empty, who asks. Only the operator may ask for the operator, whose link lives for
// a minute; a user's lives for a day, until it is used or another one is made.
type SigninRequest struct {
	Page string `json:"page,omitempty"`
	User string `json:"user,omitempty"`
}

// SigninQuery is what a link has.
type SigninQuery struct {
	Code string `query:"code" doc:"the code of a link that POST /api/v1/signin gave; it works once"`
}

// Account is who asks: a user, or the operator, as whom the daemon runs and who may do everything.
type Account struct {
	Operator bool      `json:"operator"`
	User     *UserInfo `json:"user,omitempty"`
}

// ActList is a part of the list of what administrators did, newest first. Next is empty at the end.
type ActList struct {
	Acts []store.Act `json:"acts"`
	Next string      `json:"next,omitempty"`
}

// About implements [Acted].
func (u NewUser) About() string { return u.Name + u.said() }

// About implements [Acted].
func (u UserChange) About() string { return u.Name + u.said() }

// said says what is set of a user, but no password.
func (f UserFields) said() string {
	text := ""
	add := func(format string, value any) { text += ", " + fmt.Sprintf(format, value) }
	if f.Role != nil {
		add("role %.20s", *f.Role)
	}
	if f.Mode != nil {
		add("mode %.20s", cmp.Or(*f.Mode, "as configured"))
	}
	if f.RequestsPerMinute != nil {
		add("%d requests a minute", *f.RequestsPerMinute)
	}
	if f.TokensPerDay != nil {
		add("%d tokens a day", *f.TokensPerDay)
	}
	if f.Disabled != nil {
		add("%s", map[bool]string{true: "disabled", false: "enabled"}[*f.Disabled])
	}
	if f.Password != nil {
		add("%s", map[bool]string{true: "password", false: "no password"}[*f.Password != ""])
	}
	if f.Subject != nil {
		add("subject %.300s", cmp.Or(*f.Subject, "none"))
	}
	return text
}

// About implements [Acted].
func (r TokenRequest) About() string { return r.Name + ", for " + strings.Join(r.Scopes, ", ") }

// About implements [Acted].
func (r TokenRef) About() string { return r.Name + ", token " + r.ID }

// About implements [Acted].
func (r SigninRequest) About() string { return cmp.Or(r.User, "who asks") }

// NewPassword is the password that a user chooses for the dashboard. Current is the one before, if there is one.
type NewPassword struct {
	Current  string `json:"current,omitempty"`
	Password string `json:"password"`
}

// MadeToken is a user with a new token, whose text is shown this once.
type MadeToken struct {
	User  UserInfo `json:"user"`
	ID    string   `json:"id"`
	Token string   `json:"token"`
}

// NewUser asks for a user with a token.
type NewUser struct {
	Name   string   `json:"name"`
	Scopes []string `json:"scopes,omitempty"` // of the token: proxy, api, mcp; default: all
	UserFields
}

// TokenRequest asks for another token of a user.
type TokenRequest struct {
	Name   string   `path:"name" json:"-"`
	Scopes []string `json:"scopes"` // proxy, api, mcp
}

// UseList is what users used since a day. Sum is the sum of all rows.
type UseList struct {
	Since string    `json:"since"` // a day of UTC
	Users []UserUse `json:"users"`
	Sum   users.Use `json:"sum"`
	// Missing says why what was used on other nodes of the fleet is not counted; empty: it is.
	Missing string `json:"missing,omitempty"`
}

// UserChange changes a user.
type UserChange struct {
	Name string `path:"name" json:"-"`
	UserFields
}

// UserFields are what can be set of a user. In a change, nil leaves a field as it is.
type UserFields struct {
	Role *string `json:"role,omitempty"` // read, write or admin; of a new user read, unless it says otherwise
	Mode *string `json:"mode,omitempty"` // who gets markdown: auto, always, negotiate or never; empty: as configured

	RequestsPerMinute *int64 `json:"requests_per_minute,omitempty"` // 0 is no limit
	TokensPerDay      *int64 `json:"tokens_per_day,omitempty"`      // of pages, in a day of UTC; 0 is no limit

	Disabled *bool   `json:"disabled,omitempty"` // a disabled user may do nothing until they are enabled again
	Password *string `json:"password,omitempty"` // for the dashboard, of 10 characters or more; empty takes it away
	// Subject is for whom the provider of identities vouches: its issuer, a space, and its own id; empty ends that.
	Subject *string `json:"subject,omitempty"`
}

// UserInfo is a user. A user of the configuration has no role: they may use the proxy and nothing else.
type UserInfo struct {
	Name   string       `json:"name"`
	Source string       `json:"source"` // store or file
	Role   string       `json:"role,omitempty"`
	Mode   string       `json:"mode,omitempty"`
	Limits users.Limits `json:"limits"`
	Made   time.Time    `json:"made,omitzero"`
	Tokens []UserToken  `json:"tokens"`

	Disabled bool `json:"disabled,omitempty"` // may do nothing
	Password bool `json:"password,omitempty"` // has one for the dashboard
	// Subject is for whom the provider of identities vouches: its issuer, and its own id of the user.
	Subject string `json:"subject,omitempty"`
}

// UserList lists the users. Closed says that nobody else may use the proxy.
type UserList struct {
	Users  []UserInfo `json:"users"`
	Closed bool       `json:"closed"`
}

// UserToken is a token of a user. It is kept as a hash.
type UserToken struct {
	ID     string    `json:"id"`
	Scopes []string  `json:"scopes"`
	Made   time.Time `json:"made"`
}

// UserUse is what a user used, in a day or in all.
type UserUse struct {
	User string `json:"user"`
	Day  string `json:"day,omitempty"` // of UTC
	users.Use
}

// UsesQuery asks what users used.
type UsesQuery struct {
	Since time.Time `query:"since" doc:"a day, a time, or an age (36h, 7d), of which the whole day counts; default: today"`
	User  string    `query:"user" doc:"only this user"`
	Days  bool      `query:"days" doc:"1: each day by itself"`
}

// TokenRef names a token of a user.
type TokenRef struct {
	Name string `path:"name"`
	ID   string `path:"id"`
}

// UserRef names a user.
type UserRef struct {
	Name string `path:"name"`
}

// Disclosed counts what was sent. Day is a date (UTC), Host that of the URLs; each is empty where it is not told apart.
type Disclosed struct {
	Day     string    `json:"day,omitempty"`
	Service string    `json:"service"`
	Host    string    `json:"host,omitempty"`
	Sent    int64     `json:"sent"`
	Bytes   int64     `json:"bytes"`
	Last    time.Time `json:"last,omitzero"`
}

// DisclosureList is a part of the ledger of what was sent to third parties, newest first.
type DisclosureList struct {
	Disclosures []store.Disclosure `json:"disclosures"`
	Next        string             `json:"next,omitempty"`
}

// Leaving sums what was sent to third parties.
type Leaving struct {
	Since    time.Time   `json:"since"`
	Services []Service   `json:"services"`       // those that are configured, are off, or were sent something
	Days     []Disclosed `json:"days"`           // newest first, by service
	Hosts    []Disclosed `json:"hosts"`          // whose URLs were sent, the most often first
	More     bool        `json:"more,omitempty"` // older disclosures and rarer hosts are left out
}

// Limit is how much a service may be asked in a day.
type Limit struct {
	Sent      int64 `json:"sent"`
	Remaining int64 `json:"remaining"`
}

// Service is a third party, and what it was sent.
type Service struct {
	Disclosed

	Configured bool   `json:"configured"`      // the configuration lets it be asked
	Off        bool   `json:"off"`             // it is switched off: nothing is sent
	Here       bool   `json:"here,omitempty"`  // it runs on this machine
	Limit      *Limit `json:"limit,omitempty"` // of a day (UTC)
}

// ServiceSwitch switches a service off, or on again.
type ServiceSwitch struct {
	Service string `json:"service"` // as in the ledger
	Off     bool   `json:"off"`
}

// About implements [Acted].
func (s ServiceSwitch) About() string {
	return s.Service + map[bool]string{true: ": off", false: ": on"}[s.Off]
}

// FilterHelp says how the filters of requests are written.
const FilterHelp = journal.FilterHelp
