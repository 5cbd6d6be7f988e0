package api

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"time"

	"github.com/readthru/readthru/internal/fleet"
	"github.com/readthru/readthru/internal/journal"
	"github.com/readthru/readthru/knowledge"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// Stats are the figures since start and of the store.
type Stats struct {
	UptimeS     int64            `json:"uptime_s"`
	Version     string           `json:"version"`
	Requests    RequestStats     `json:"requests"`
	Cache       CacheStats       `json:"cache"`
	Pages       PageStats        `json:"pages"`
	Tokens      TokenStats       `json:"tokens"`
	Index       knowledge.Stats  `json:"index"`
	Render      RenderStats      `json:"render"`
	MarkdownNew MarkdownNewStats `json:"markdown_new"`
	Hosts       []HostStats      `json:"hosts"`

	// RejectedCA are hosts, at most a hundred, that are tunnelled for a client because it rejected our authority's
	// certificate there.
	RejectedCA []HostFact `json:"rejected_ca"`

	Work Work `json:"work"`

	Faults int64 `json:"faults"` // panics that were caught since the start

	Fleet *fleet.Status `json:"fleet,omitempty"` // nil: this is a node alone

	// Agents are those that have asked the proxy in the last hour, at most 64. OtherAgents sums up those beyond.
	Agents      []journal.AgentSeen `json:"agents"`
	OtherAgents *journal.AgentSeen  `json:"other_agents,omitempty"`
}

// TokenStats sums, over all visits, the tokens of the HTML and of the markdown delivered in its place.
type TokenStats struct {
	HTML     int64 `json:"html"`
	Markdown int64 `json:"markdown"`
	Saved    int64 `json:"saved"`
}

// RequestStats counts requests by all doors since start, as the list of requests has them: those of all outcomes are
// the total, and so are those of all doors. Of the proxy's requests, some were inside intercepted connections, some
// were refused with 403, and for some the origin failed.
type RequestStats struct {
	Total       int64            `json:"total"`
	Outcomes    map[string]int64 `json:"outcomes"`
	Doors       map[string]int64 `json:"doors"`
	Hidden      int64            `json:"hidden"`   // not in the total: a rule with log: off is for them
	Failures    int64            `json:"failures"` // of the total, those that failed, as is:failed finds them
	Intercepted int64            `json:"intercepted"`
	Tunnelled   int64            `json:"tunnelled"`
	Blocked     int64            `json:"blocked"`
	Errors      int64            `json:"errors"`
}

// CacheStats counts the requests since start by what the cache did, and what is stored now. HitRatio, 0 to 1, is the
// part of these, without bypassed ones, that used a stored response (hits, revalidated, stale).
type CacheStats struct {
	Hits        int64   `json:"hits"`
	Misses      int64   `json:"misses"`
	Revalidated int64   `json:"revalidated"`
	Stale       int64   `json:"stale"`
	Bypass      int64   `json:"bypass"`
	HitRatio    float64 `json:"hit_ratio"`
	Entries     int64   `json:"entries"`
	Bytes       int64   `json:"bytes"`
}

// RenderStats says how pages are fetched (rule C1): in a browser if one is needed, only by http, or unavailable when
// offline.
type RenderStats struct {
	State     string `json:"state"`               // browser, http or unavailable
	Reason    string `json:"reason,omitempty"`    // why there is no browser
	Browser   string `json:"browser,omitempty"`   // its path
	Sandboxed bool   `json:"sandboxed,omitempty"` // the browser has its sandbox, as far as is known
	Running   bool   `json:"running"`
	Pages     int64  `json:"pages"` // rendered since start
	Failed    int64  `json:"failed"`
	Deaths    int64  `json:"deaths"` // of the browser, since start
}

// HostStats counts visits and cache hits of a host.
type HostStats struct {
	Host   string `json:"host"`
	Visits int64  `json:"visits"`
	Hits   int64  `json:"hits"`
}

// PageStats counts what is stored of pages.
type PageStats struct {
	Total    int64                 `json:"total"`
	Visits   int64                 `json:"visits"`
	BySource map[page.Source]int64 `json:"by_source"`
	Versions int64                 `json:"versions"`
}

// MarkdownNewStats is the state of the third party markdown.new: off, on, or resting after failures.
type MarkdownNewStats struct {
	Mode      string `json:"mode"`
	State     string `json:"state"`
	Sent      int64  `json:"sent"`
	Remaining int64  `json:"remaining"`
}

// Work is what is in progress now. Index.Queued of [Stats] is what waits to be indexed.
type Work struct {
	Requests int `json:"requests"` // through the proxy, without tunnels
	Origins  int `json:"origins"`  // requests to origins
	Renders  int `json:"renders"`  // pages in the browser
	Jobs     int `json:"jobs"`
}

// Liveness says which daemon answers.
type Liveness struct {
	Status   string `json:"status"` // ok
	Instance string `json:"instance"`
	Version  string `json:"version"`
	Proof    string `json:"proof,omitempty"` // that it knows the secret of daemon.json, if it was challenged
}

// Readiness is the state of each part. Ready is false when a part keeps the daemon from its main job.
type Readiness struct {
	Ready bool            `json:"ready"`
	Parts map[string]Part `json:"parts"`

	// Distrusted are the hosts of Stats.RejectedCA.
	Distrusted []string `json:"distrusted,omitempty"`
}

// Part is the state of one part of the program.
type Part struct {
	State  string `json:"state"`
	Reason string `json:"reason,omitempty"` // for people; empty when all is well
	Remedy string `json:"remedy,omitempty"` // what to do
}

// LivenessQuery asks whether the daemon is alive, and who it is. It is asked before a token is sent.
type LivenessQuery struct {
	Challenge string `header:"X-Readthru-Challenge"` // random, for Liveness.Proof
}

// Proof is what only those can say about a challenge who know the secret of the daemon.
func Proof(secret, challenge string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(challenge))
	return hex.EncodeToString(mac.Sum(nil))
}

// Series is what was counted in each step of a time, oldest first, and together. Steps in which nothing was counted
// are left out. They begin at whole minutes, hours and days of UTC.
type Series struct {
	Step   string        `json:"step"`
	Since  time.Time     `json:"since"`
	Points []store.Point `json:"points"`
	Sum    store.Counts  `json:"sum"`

	// Agents are what agents have asked in this time, the most requests first, for administrators. OtherAgents is what is
	// missing there of the sum: what crawls and people in the dashboard asked, and agents that were too many.
	Agents      []AgentSum `json:"agents,omitempty"`
	OtherAgents *AgentSum  `json:"other_agents,omitempty"`
}

// AgentSum is what an agent has asked in a time.
type AgentSum struct {
	Name        string `json:"name"` // User-Agent, shortened; empty for clients that send none
	Requests    int64  `json:"requests"`
	Tokens      int64  `json:"tokens"` // of the pages that it read
	TokensSaved int64  `json:"tokens_saved"`
}

// SeriesQuery asks for what was counted in each step of a time.
type SeriesQuery struct {
	Since time.Time `query:"since" doc:"a day, a time, or an age (36h, 7d); default: an hour, two days or 30 days ago"`
	Step  string    `query:"step" doc:"minute (kept for 48 hours), hour (60 days) or day (for ever); default: by since"`
}

// Counts are what happened in a length of time.
type Counts = store.Counts

// Agent is a coding agent that can be set up.
type Agent struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	Found bool   `json:"found"` // it is on this machine
	State string `json:"state"` // set up: yes, partly or no
	Error string `json:"error,omitempty"`
}

// Authority is the certificate that signs for intercepted hosts.
type Authority struct {
	Name        string    `json:"name"`
	Fingerprint string    `json:"fingerprint"` // SHA-256, hex
	Since       time.Time `json:"since"`
	Until       time.Time `json:"until"`
	Trust       []Trust   `json:"trust"` // the system's trust store, and each browser's
}

// Model is a model that is asked.
type Model struct {
	Use     string `json:"use"` // llm, embeddings or rerank
	Service string `json:"service"`
	Model   string `json:"model"`
	Here    bool   `json:"here"` // it runs on this machine
}

// Setting is a key of the configuration. Secrets are masked.
type Setting struct {
	Key    string `json:"key"`
	Value  any    `json:"value"`
	Source string `json:"source"` // flag, environment, file or default
}

// Storage is a part of the data directory.
type Storage struct {
	Name  string `json:"name"`
	Files int64  `json:"files"`
	Bytes int64  `json:"bytes"`
}

// System is how the program is configured and what it keeps.
type System struct {
	Settings  []Setting  `json:"settings"`
	Authority *Authority `json:"authority,omitempty"`
	Agents    []Agent    `json:"agents"`
	Models    []Model    `json:"models"`
	Storage   []Storage  `json:"storage"`
	Log       []string   `json:"log"` // the last lines, the newest last
}

// Trust says whether a trust store has the authority.
type Trust struct {
	Store  string `json:"store"`
	State  string `json:"state"`            // TrustInstalled, TrustMissing or TrustUnknown
	Reason string `json:"reason,omitempty"` // why nobody could look
}

// FleetState is this node's part in its fleet, and the fleet's nodes.
type FleetState struct {
	fleet.Status
	Nodes   []fleet.Node `json:"nodes"`
	Unknown string       `json:"unknown,omitempty"` // why the nodes are not known
}

// Compacted says that the store was compacted.
type Compacted struct {
	Compacted bool `json:"compacted"`
}

// StoreJobs are the documents that could not be indexed.
type StoreJobs struct {
	Jobs []knowledge.Job `json:"jobs"`
}

// StoreJobRef names a document that could not be indexed.
type StoreJobRef struct {
	ID string `path:"id" doc:"the document's id, 16 hex digits"`
}

// Flushed answers that the store is on disk.
type Flushed struct {
	Flushed bool `json:"flushed"`
}

// Stopped answers that the daemon stops.
type Stopped struct {
	Stopping bool `json:"stopping"`
}

// Stopping asks the daemon to stop.
type Stopping struct {
	Unused bool `json:"unused" doc:"stop only if no command uses the daemon, else answer 409"`
}

// HookEvent is an event that an agent sent to its hook.
type HookEvent struct {
	Agent string `path:"agent"` // one of agents.All
	Event []byte // JSON, as the agent wrote it

	// Accept is text/plain if the agent reads the answer from standard output, which may be text then; else it is JSON.
	Accept string `header:"Accept"`

	// Verbatim replaces what a tool made of a page by the page.
	Verbatim bool `query:"verbatim" doc:"1: replace what a tool made of a page by the page"`
	// MaxTokens is the length of a page in an answer; 0 is 10,000.
	MaxTokens int `query:"max_tokens" doc:"length of a page in the answer; default 10000"`
	// Wait is how long to wait for the work that the event causes, so that the answer can report it; 0 is 2 s.
	Wait time.Duration `query:"wait" doc:"how long to wait for the work that the event causes; default 2s, at most 1m"`
}

// from reads the event, which is the content.
func (h *HookEvent) from(r *http.Request) (err error) {
	h.Event, err = io.ReadAll(r.Body)
	return err
}

// WantsText reports whether the answer goes to standard output.
func (h HookEvent) WantsText() bool { return h.Accept == "text/plain" }

// MaxHook is the largest event of a hook that is taken, in bytes.
const MaxHook = 32 << 20

// What to do about a browser, as readthru doctor says it too.
const (
	BrowserRemedy = "install a Chromium (Debian: apt install chromium-headless-shell), or name one in render.browser"
	SandboxRemedy = "run readthru as a user other than root; with render.sandbox: require it renders nothing without " +
		"the sandbox"
)

// What to say and do about a store that has lost its users.
const (
	UsersLost       = "the users cannot be read: all but those of the configuration are refused"
	UsersLostRemedy = `make them again with "readthru user add", or let everybody in with "readthru user clear --yes"`
)

// FleetNone is the state of a daemon that is no node of a fleet.
const FleetNone = "none"

// States of Trust.
const (
	TrustInstalled = "installed"
	TrustMissing   = "not installed"
	TrustUnknown   = "unknown" // the store could not be looked into
)
