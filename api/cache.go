package api

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/readthru/readthru/internal/recipe"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// CacheQuery asks for the stored responses of a URL.
type CacheQuery struct {
	URL     string `query:"url" doc:"the exact URL"`
	Explain bool   `query:"explain" doc:"1: also say why each is reused or not"`
}

// CacheEntries are the stored responses of a URL, newest first.
type CacheEntries struct {
	URL     string       `json:"url"`
	Entries []CacheEntry `json:"entries"`
	// one of them answers a fetch now, without asking the origin
	Fresh       bool          `json:"fresh"`
	Explanation []ExplainLine `json:"explanation,omitempty"` // of all entries, in their order
}

// CacheEntry is one stored response.
type CacheEntry struct {
	URL          string              `json:"url"`
	Status       int                 `json:"status"`
	Header       map[string][]string `json:"header"` // Set-Cookie left out
	Vary         []string            `json:"vary,omitempty"`
	RequestTime  time.Time           `json:"request_time"`
	ResponseTime time.Time           `json:"response_time"`
	Length       int64               `json:"length"` // of the stored content, in bytes
}

// Removed says how much was removed.
type Removed struct {
	Removed int `json:"removed"`           // stored responses and renditions; of a session, pages
	Fetched int `json:"fetched,omitempty"` // pages of sessions that were removed with stored responses
}

// Selection names stored responses to remove: exactly one field is set.
type Selection struct {
	URL    string `query:"url" doc:"of one URL"`
	Host   string `query:"host" doc:"of a host"`
	Prefix string `query:"prefix" doc:"of all URLs with this prefix, which has at least scheme and host"`
	Tag    string `query:"tag" doc:"with this tag of the origin (Cache-Tag, Surrogate-Key)"`
}

// HostFact is one thing that was learnt about a host, and until when it holds. Traits are negotiates, markdown-off,
// strict-accept, markdown-twins, needs-browser, loads-in-vain, silent-events, vain-workers and rejects-ca.
type HostFact struct {
	Host string `json:"host"`
	store.Fact
}

// HostFacts lists what was learnt about hosts, in the order of their names.
type HostFacts struct {
	Facts []HostFact `json:"facts"`
}

// HostQuery chooses what was learnt.
type HostQuery struct {
	Trait string `query:"trait"`
}

// HostRef names a host.
type HostRef struct {
	Host string `path:"host"`
}

// HostsQuery chooses what to forget.
type HostsQuery struct {
	HostQuery
	All bool `query:"all" doc:"1: everything; else name a trait"`
}

// Gone says that something was deleted.
type Gone struct {
	Deleted string `json:"deleted"`
}

// Rule is what is done with requests for some hosts and paths. The first rule that matches a request is the one that
// applies. Those of the store come before those of the configuration file: they were made later, for one case.
type Rule struct {
	ID     string    `json:"id,omitempty"` // of a rule of the store
	Source string    `json:"source"`       // store or file
	Made   time.Time `json:"made,omitzero"`
	Used   time.Time `json:"used,omitzero"` // when the latest of the last requests met it

	RuleFields
}

// RuleFields are what a rule says, as in the configuration file.
type RuleFields struct {
	Host    string   `json:"host,omitempty"`    // "a.test", "*.a.test" (also a.test itself); empty: all
	Path    string   `json:"path,omitempty"`    // "/docs/*"; empty: all
	Action  string   `json:"action,omitempty"`  // intercept, tunnel or block
	Mode    string   `json:"mode,omitempty"`    // auto, always, negotiate or never
	TTL     string   `json:"ttl,omitempty"`     // how long answers are fresh, such as 1h30m
	Bypass  bool     `json:"bypass,omitempty"`  // past the cache
	Cascade []string `json:"cascade,omitempty"` // the steps to a page, in the place of fetch.cascade
	Render  string   `json:"render,omitempty"`  // auto, always or never
	// what is done about the preferences that origins state: auto, respect, tell or ignore
	Preferences string `json:"preferences,omitempty"`
	Log         string `json:"log,omitempty"` // off: requests are neither listed nor in figures
}

// About implements [Acted].
func (f RuleFields) About() string { return cmp.Or(f.Host, "all") + f.Path + ": " + f.Says() }

// Says returns what a rule does in words, such as "intercept, ttl 1h"; empty for a rule that does nothing.
func (f RuleFields) Says() string {
	bypass := ""
	if f.Bypass {
		bypass = "bypass"
	}
	var parts []string
	for _, part := range [...]struct{ name, value string }{
		{"", f.Action},
		{"mode ", f.Mode},
		{"ttl ", f.TTL},
		{"", bypass},
		{"cascade ", strings.Join(f.Cascade, " ")},
		{"render ", f.Render},
		{"preferences ", f.Preferences},
		{"log ", f.Log},
	} {
		if part.value != "" {
			parts = append(parts, part.name+part.value)
		}
	}
	return strings.Join(parts, ", ")
}

// RuleList lists rules in the order in which they are tried.
type RuleList struct {
	Rules []Rule `json:"rules"`
}

// RuleQuery selects rules.
type RuleQuery struct {
	Host string `query:"host" doc:"only those that match this host: the first without a path is the one that applies"`
}

// RuleRef names a rule of the store.
type RuleRef struct {
	ID string `path:"id"`
}

// Exceptions are the values of Site.Exception in the order in which such hosts are listed.
var Exceptions = []string{SiteBlocked, SiteTunnelled, SiteRuled, SiteLearnt, SiteFailing}

// Site is what is known of a host, and what is done with requests for it.
type Site struct {
	Host   string `json:"host"`
	Visits int64  `json:"visits"` // deliveries of its pages
	Hits   int64  `json:"hits"`   // of these, from the cache

	// Treatment is intercept, tunnel or block, and Why the reason: rule, default, local, paused, "blocked domain", or
	// the preset with its category; or that clients reject our certificate: then those alone are tunnelled. Empty if no
	// proxy runs.
	Treatment string `json:"treatment,omitempty"`
	Why       string `json:"why,omitempty"`

	// Exception is what sets it apart from other hosts, one of Exceptions; empty if nothing does.
	Exception string `json:"exception,omitempty"`
	Tunnels   int    `json:"tunnels,omitempty"` // of the last requests, the connections that were tunnelled
	Failed    int    `json:"failed,omitempty"`  // of the last requests, those that failed

	Rules []Rule       `json:"rules"` // that match it; the first without a path is the one that applies
	Facts []store.Fact `json:"facts"` // that hold

	// Preferences are what its robots.txt states about the use of its front page, if that was read lately. They come
	// with one host, not in lists.
	Preferences page.Preferences `json:"preferences,omitempty"`
}

// What sets a host apart.
const (
	SiteBlocked   = "blocked"
	SiteTunnelled = "tunnelled" // each connection, or some of the last ones
	SiteRuled     = "ruled"     // a rule is for it and not for all hosts
	SiteLearnt    = "learnt"    // something was learnt about it
	SiteFailing   = "failing"   // its origin did not answer the last request
)

// SiteList lists hosts: first all that something sets apart, then those with the most visits.
type SiteList struct {
	Sites []Site `json:"sites"`
	More  bool   `json:"more,omitempty"` // hosts are left out: those with fewer visits, or more than 5,000 exceptions
}

// SiteQuery selects hosts.
type SiteQuery struct {
	Text  string `query:"q" doc:"only hosts with this text"`
	Limit int    `query:"limit" range:"1,500" doc:"how many hosts without exception at most, 1 to 500; default 100"`
}

// SiteRemoval names a host of which all is to be removed, at all its ports.
type SiteRemoval struct {
	Host   string `path:"host"`
	DryRun bool   `query:"dry_run" doc:"1: say how much would be removed, and remove nothing"`
}

// RemovedSite says what was removed of a host, or would be. What stays are rules, notes, the documents of knowledge
// bases that are not pages, the ledger of disclosures, and files elsewhere: backups, exports, recordings.
type RemovedSite struct {
	Host      string `json:"host"`
	Pages     int    `json:"pages"`               // with their versions, renditions and visits
	Responses int    `json:"responses,omitempty"` // besides those of the pages; not counted by a dry run
	Facts     int    `json:"facts"`               // that were learnt
	Visits    int64  `json:"visits"`              // that were counted
	Requests  int    `json:"requests"`            // in the log, those of other hosts that name this one too
	Rules     int    `json:"rules"`               // that name it, and stay
}

// ProposedRecipe is a recipe that somebody should look at.
type ProposedRecipe struct {
	Text string `json:"text"`
}

// RecipeChange says what adding one recipe changes.
type RecipeChange struct {
	Name  string `json:"name"`
	State string `json:"state"` // new, changed, unchanged, or replaces shipped
	Diff  string `json:"diff,omitempty"`
}

// RecipeChanges says what adding recipes changes.
type RecipeChanges struct {
	Added   bool            `json:"added"`
	Signer  string          `json:"signer,omitempty"` // who signed them; empty: nobody
	Changes []RecipeChange  `json:"changes"`
	Tests   []recipe.Result `json:"tests"`
}

// RecipeTests are the results of tests.
type RecipeTests struct {
	Tests []recipe.Result `json:"tests"`
}

// RecipeTexts are recipes to add, test or sign: a text, or what is at a URL.
type RecipeTexts struct {
	Text string `json:"text,omitempty"`
	URL  string `json:"url,omitempty"`  // fetched under the policy for own fetches
	Name string `json:"name,omitempty"` // of a recipe that is installed or shipped, to test

	From   string `json:"from,omitempty"`    // where the text is from, for people
	Signer string `json:"signer,omitempty"`  // the key that signed it: 64 hex digits
	DryRun bool   `json:"dry_run,omitempty"` // add nothing, say what would change
}

// SignedRecipes are recipes with a signature.
type SignedRecipes struct {
	Text   string `json:"text"`
	Signer string `json:"signer"`
}

// SiteRecipe is a recipe for the pages of a site.
type SiteRecipe struct {
	Name    string    `json:"name"`
	About   string    `json:"about,omitempty"`
	Source  string    `json:"source"`           // store: it was added; shipped: it is part of the program
	From    string    `json:"from,omitempty"`   // the file or URL that it was added from
	Signer  string    `json:"signer,omitempty"` // the key that signed it
	Added   time.Time `json:"added,omitzero"`
	Host    string    `json:"host,omitempty"`
	Path    string    `json:"path,omitempty"`
	Has     string    `json:"has,omitempty"`
	Tests   int       `json:"tests"`
	Edition string    `json:"edition"`
	Error   string    `json:"error,omitempty"` // why this program does not use it
	Text    string    `json:"text,omitempty"`  // only of one recipe
}

// SiteRecipeList lists recipes in the order in which they are tried.
type SiteRecipeList struct {
	Recipes []SiteRecipe `json:"recipes"`
}

// RecipeRef names a site recipe.
type RecipeRef struct {
	Name string `path:"name"`
}

// SwitchChange says what to switch; what is absent stays.
type SwitchChange struct {
	Paused  *bool `json:"paused,omitempty"`
	Offline *bool `json:"offline,omitempty"`
}

// About implements [Acted].
func (c SwitchChange) About() string {
	var said []string
	for name, to := range map[string]*bool{"paused": c.Paused, "offline": c.Offline} {
		if to != nil {
			said = append(said, fmt.Sprintf("%s: %v", name, *to))
		}
	}
	slices.Sort(said)
	return strings.Join(said, ", ")
}

// Switches are what can be switched while the daemon runs. They are as they were configured when it starts again.
type Switches struct {
	// Paused: connections are tunnelled and requests passed on as if there were no readthru; what a rule blocks is still
	// refused, and what is stored can still be asked for.
	Paused bool `json:"paused"`
	// Offline: answers come from what is stored, and no origin, model or other service is asked.
	Offline bool `json:"offline"`
}
