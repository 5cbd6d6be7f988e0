package api

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/readthru/readthru/fetch/sitecheck"
	"github.com/readthru/readthru/internal/journal"
	"github.com/readthru/readthru/knowledge"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// Client asks for the operations: of a running daemon ([NewClient]), or of a [Server] in this process
// ([Server.Client]). An answer that is a failure is an [*Error].
type Client struct {
	base  string
	token string
	agent string
	door  string // by which the client's readers come; empty: the API itself
	http  *http.Client

	daemon string // where it is, for errors; empty in process
}

// NewClient returns a Client of the daemon whose admin port is at addr (host:port). An empty token sends none. agent is
// the User-Agent field. The environment's proxy settings are ignored: they may name the daemon itself.
func NewClient(addr, token, agent string) *Client {
	t := &http.Transport{
		DialContext: (&net.Dialer{Timeout: 2 * time.Second}).DialContext, MaxIdleConnsPerHost: 4,
		IdleConnTimeout: 30 * time.Second, ExpectContinueTimeout: 5 * time.Second,
	}
	base := "http://" + addr
	return &Client{base: base, token: token, agent: agent, http: asIs(t), daemon: base}
}

// NewLocalClient returns a Client whose requests h, which answers as a server does, answers in process. Panics of h are
// logged.
func NewLocalClient(h http.Handler, token, agent string, log *slog.Logger) *Client {
	return &Client{base: "http://localhost", token: token, agent: agent, http: asIs(inProcess{h, log})}
}

// asIs returns an HTTP client that follows no redirects.
func asIs(t http.RoundTripper) *http.Client {
	return &http.Client{Transport: t, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}
}

// By returns the same client for readers who come by a door: [DoorMCP], [DoorCommand] or [DoorDashboard].
func (c *Client) By(door string) *Client {
	by := *c
	by.door = door
	return &by
}

// For returns the same client for a reader who calls themselves agent; empty is the client's own name.
func (c *Client) For(agent string) *Client {
	by := *c
	by.agent = cmp.Or(agent, c.agent)
	return &by
}

// Close frees the client's connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Fetch fetches a page. A page that could not be fetched has its Error set.
func (c *Client) Fetch(ctx context.Context, r FetchRequest) (*page.Page, error) {
	return call(ctx, c, fetchPage, r)
}

// Pages lists pages.
func (c *Client) Pages(ctx context.Context, q PageQuery) (*PageList, error) {
	return call(ctx, c, listPages, q)
}

// Page returns a page with its content. doc is a document id, the first 8 or more digits of one, or a URL.
func (c *Client) Page(ctx context.Context, doc string) (*page.Page, error) {
	return c.PagePart(ctx, StoredQuery{Doc: doc})
}

// PagePart returns a page with the part of its content that q asks for.
func (c *Client) PagePart(ctx context.Context, q StoredQuery) (*page.Page, error) {
	return call(ctx, c, getPage, q)
}

// DeletePage deletes a page, its versions and its stored responses.
func (c *Client) DeletePage(ctx context.Context, doc string) error {
	_, err := call(ctx, c, deletePage, PageRef{doc})
	return err
}

// ConvertPage converts a page again from what its origin answered, as it is stored, and returns it. It asks no origin.
func (c *Client) ConvertPage(ctx context.Context, doc string) (*page.Page, error) {
	return call(ctx, c, convertPage, PageRef{doc})
}

// Versions lists the versions of a page, newest first.
func (c *Client) Versions(ctx context.Context, doc string) (*VersionList, error) {
	return call(ctx, c, listVersions, PageRef{doc})
}

// Diff compares two versions of a page. a and b are each the first digits of a content hash, or how many versions back;
// if empty, the version before the newest and the newest.
func (c *Client) Diff(ctx context.Context, doc, a, b string) (*Diff, error) {
	return call(ctx, c, diffVersions, DiffQuery{doc, a, b})
}

// Changes compares the newest version of a page with an earlier one. since is a time as [Since] parses it, or the first
// 8 or more digits of a content hash; empty is the version before the newest.
func (c *Client) Changes(ctx context.Context, doc, since string) (*Changes, error) {
	return call(ctx, c, getChanges, ChangesQuery{doc, since})
}

// Original returns what the origin answered for a page, as it is stored.
func (c *Client) Original(ctx context.Context, doc string) (*Original, error) {
	return call(ctx, c, getOriginal, PageRef{doc})
}

// Outline returns the headings of a page or document.
func (c *Client) Outline(ctx context.Context, doc string) (*Outline, error) {
	return call(ctx, c, getOutline, PageRef{doc})
}

// Section returns a section of a page or document by the title, path or fragment of its heading.
func (c *Client) Section(ctx context.Context, doc, name string) (*SectionText, error) {
	return call(ctx, c, getSection, SectionQuery{doc, name})
}

// VerifyQuote looks for a sentence in a page.
func (c *Client) VerifyQuote(ctx context.Context, doc, quote string) (*QuoteCheck, error) {
	return call(ctx, c, verifyQuote, QuoteQuery{doc, quote})
}

// Users lists the users.
func (c *Client) Users(ctx context.Context) (*UserList, error) {
	return call(ctx, c, listUsers, None{})
}

// AddUser makes a user with a token.
func (c *Client) AddUser(ctx context.Context, u NewUser) (*MadeToken, error) {
	return call(ctx, c, addUser, u)
}

// ChangeUser changes a user.
func (c *Client) ChangeUser(ctx context.Context, u UserChange) (*UserInfo, error) {
	return call(ctx, c, changeUser, u)
}

// RemoveUser removes a user with all tokens.
func (c *Client) RemoveUser(ctx context.Context, name string) (*Gone, error) {
	return call(ctx, c, removeUser, UserRef{name})
}

// OpenProxy removes all users, and lets everybody use the proxy again.
func (c *Client) OpenProxy(ctx context.Context) error {
	_, err := call(ctx, c, openProxy, None{})
	return err
}

// AddToken makes another token of a user.
func (c *Client) AddToken(ctx context.Context, r TokenRequest) (*MadeToken, error) {
	return call(ctx, c, addToken, r)
}

// RevokeToken revokes a token of a user.
func (c *Client) RevokeToken(ctx context.Context, name, id string) (*Gone, error) {
	return call(ctx, c, revokeToken, TokenRef{name, id})
}

// Account returns who asks.
func (c *Client) Account(ctx context.Context) (*Account, error) {
	return call(ctx, c, getAccount, None{})
}

// Acts returns a part of the list of what administrators did.
func (c *Client) Acts(ctx context.Context, q ListQuery) (*ActList, error) {
	return call(ctx, c, listActs, q)
}

// SetPassword sets one's own password for the dashboard.
func (c *Client) SetPassword(ctx context.Context, p NewPassword) (*UserInfo, error) {
	return call(ctx, c, setPassword, p)
}

// Usage returns what users used.
func (c *Client) Usage(ctx context.Context, q UsesQuery) (*UseList, error) {
	return call(ctx, c, getUsage, q)
}

// CheckSite asks an origin for a page as agents do, and says what they get.
func (c *Client) CheckSite(ctx context.Context, url string) (*sitecheck.Report, error) {
	return call(ctx, c, checkSite, CheckQuery{url})
}

// Robots reports whether robots.txt allows fetching a URL.
func (c *Client) Robots(ctx context.Context, raw string) (*Robots, error) {
	return call(ctx, c, getRobots, RobotsQuery{raw})
}

// Detect lists the URLs in a text with their kinds.
func (c *Client) Detect(ctx context.Context, text string) (*Detection, error) {
	return call(ctx, c, detectURLs, TextRequest{text})
}

// DetectAndFetch fetches the first pages that a text names.
func (c *Client) DetectAndFetch(ctx context.Context, r DetectRequest) (*FetchedText, error) {
	return call(ctx, c, detectAndFetch, r)
}

// HostFacts lists what was learnt about all hosts.
func (c *Client) HostFacts(ctx context.Context, q HostQuery) (*HostFacts, error) {
	return call(ctx, c, listHosts, q)
}

// Host lists what was learnt about a host.
func (c *Client) Host(ctx context.Context, host string) (*HostFacts, error) {
	return call(ctx, c, getHost, HostRef{host})
}

// ForgetHost forgets what was learnt about a host.
func (c *Client) ForgetHost(ctx context.Context, host string) (*Removed, error) {
	return call(ctx, c, forgetHost, HostRef{host})
}

// ForgetHosts forgets what was learnt about all hosts: a trait, or everything if trait is empty.
func (c *Client) ForgetHosts(ctx context.Context, trait store.Trait) (*Removed, error) {
	return call(ctx, c, forgetHosts, HostsQuery{HostQuery{string(trait)}, trait == ""})
}

// RemoveSite removes all that is kept of a host. With dry nothing is removed.
func (c *Client) RemoveSite(ctx context.Context, host string, dry bool) (*RemovedSite, error) {
	return call(ctx, c, removeSite, SiteRemoval{host, dry})
}

// Context lists what a session has fetched; with a URL only that page, with its content.
func (c *Client) Context(ctx context.Context, session, raw string) (*Context, error) {
	return call(ctx, c, getContext, ContextRef{session, raw})
}

// ContextPage returns a page that a session has fetched, else one from the cache. If neither has it, its Error is set.
func (c *Client) ContextPage(ctx context.Context, session, raw string) (*page.Page, error) {
	return call(ctx, c, getContextPage, ContextRef{session, raw})
}

// ContextText returns pages that a session has fetched as one text.
func (c *Client) ContextText(ctx context.Context, q ContextQuery) (*ContextText, error) {
	return call(ctx, c, getContextText, q)
}

// Forget removes a page from what a session has fetched. The cache keeps it.
func (c *Client) Forget(ctx context.Context, session, raw string) (*Removed, error) {
	return call(ctx, c, forgetPages, ForgetQuery{session, &raw})
}

// ForgetAll removes all pages from what a session has fetched. The cache keeps them.
func (c *Client) ForgetAll(ctx context.Context, session string) (*Removed, error) {
	return call(ctx, c, forgetPages, ForgetQuery{Session: session})
}

// Visits lists deliveries of pages to readers, newest first.
func (c *Client) Visits(ctx context.Context, q VisitQuery) (*VisitList, error) {
	return call(ctx, c, listVisits, q)
}

// Session returns the figures of a session.
func (c *Client) Session(ctx context.Context, name string) (*SessionStats, error) {
	return call(ctx, c, getSession, SessionQuery{Name: name})
}

// SessionAfter returns the figures of a session once a proxy of it that [Client.Open] or [Client.Record] opened is
// closed: a client has its answer a moment before the request is counted.
func (c *Client) SessionAfter(ctx context.Context, name, proxy string) (*SessionStats, error) {
	return call(ctx, c, getSession, SessionQuery{name, proxy})
}

// Sessions lists sessions.
func (c *Client) Sessions(ctx context.Context) (*SessionList, error) {
	return call(ctx, c, listSessions, None{})
}

// EndRecording implements [SessionProxies].
func (c *Client) EndRecording(ctx context.Context, session string) error {
	_, err := call(ctx, c, endRecording, SessionRef{session})
	return err
}

// Cached lists the stored responses of a URL. With explain it says why each would or would not answer a fetch now.
func (c *Client) Cached(ctx context.Context, raw string, explain bool) (*CacheEntries, error) {
	return call(ctx, c, listCached, CacheQuery{raw, explain})
}

// Uncache removes stored responses.
func (c *Client) Uncache(ctx context.Context, sel Selection) (*Removed, error) {
	return call(ctx, c, Uncache, sel)
}

// ClearCache removes all stored responses.
func (c *Client) ClearCache(ctx context.Context) (*Removed, error) {
	return call(ctx, c, ClearCache, None{})
}

// SweepCache removes stored responses that have expired.
func (c *Client) SweepCache(ctx context.Context) (*Removed, error) {
	return call(ctx, c, sweepCache, None{})
}

// System returns how the program is configured and what it keeps.
func (c *Client) System(ctx context.Context) (*System, error) { return call(ctx, c, getSystem, None{}) }

// RenewAuthority replaces the authority by a new one.
func (c *Client) RenewAuthority(ctx context.Context) (*Authority, error) {
	return call(ctx, c, renewCA, None{})
}

// Leaving sums what was sent to third parties in the last days.
func (c *Client) Leaving(ctx context.Context) (*Leaving, error) {
	return call(ctx, c, getLeaving, None{})
}

// SwitchService switches a third party off, or on again.
func (c *Client) SwitchService(ctx context.Context, s ServiceSwitch) (*Leaving, error) {
	return call(ctx, c, switchService, s)
}

// Disclosures lists what was sent to third parties, newest first. An empty list means that nothing was sent.
func (c *Client) Disclosures(ctx context.Context, cursor string, limit int) (*DisclosureList, error) {
	return call(ctx, c, listDisclosures, ListQuery{limit, cursor})
}

// Requests lists the last requests, newest first.
func (c *Client) Requests(ctx context.Context, q RequestQuery) (*RequestList, error) {
	return call(ctx, c, listRequests, q)
}

// Request returns one of the last requests.
func (c *Client) Request(ctx context.Context, id string) (*journal.Entry, error) {
	return call(ctx, c, getRequest, RequestRef{id})
}

// ReplayRequest sends a request again, without the credentials that it had, and returns what is told of the new one.
func (c *Client) ReplayRequest(ctx context.Context, id string) (*journal.Entry, error) {
	return call(ctx, c, replayRequest, RequestRef{id})
}

// ClearRequests forgets all requests, those in memory and those on disk.
func (c *Client) ClearRequests(ctx context.Context) error {
	_, err := call(ctx, c, clearRequests, None{})
	return err
}

// Views lists filters of requests that have a name.
func (c *Client) Views(ctx context.Context) (*RequestViews, error) {
	return call(ctx, c, listViews, None{})
}

// SaveView gives a filter of requests a name.
func (c *Client) SaveView(ctx context.Context, v NewView) (*RequestView, error) {
	return call(ctx, c, saveView, v)
}

// DeleteView deletes a view that the user has saved, by its id.
func (c *Client) DeleteView(ctx context.Context, id string) (*Gone, error) {
	return call(ctx, c, deleteView, ViewRef{id})
}

// ExportRequests writes the last requests to w, oldest first.
func (c *Client) ExportRequests(ctx context.Context, q RequestExport, w io.Writer) error {
	return download(ctx, c, exportRequests, q, w)
}

// Stats returns the figures since start and of the store.
func (c *Client) Stats(ctx context.Context) (*Stats, error) {
	return call(ctx, c, getStats, None{})
}

// Rules lists the rules for hosts and paths in the order in which they are tried.
func (c *Client) Rules(ctx context.Context, q RuleQuery) (*RuleList, error) {
	return call(ctx, c, listRules, q)
}

// AddRule makes a rule.
func (c *Client) AddRule(ctx context.Context, r RuleFields) (*Rule, error) {
	return call(ctx, c, addRule, r)
}

// DeleteRule deletes a rule of the store.
func (c *Client) DeleteRule(ctx context.Context, id string) (*Gone, error) {
	return call(ctx, c, deleteRule, RuleRef{id})
}

// Recipes lists the site recipes in the order in which they are tried.
func (c *Client) Recipes(ctx context.Context) (*SiteRecipeList, error) {
	return call(ctx, c, listRecipes, None{})
}

// Recipe returns a site recipe with its text.
func (c *Client) Recipe(ctx context.Context, name string) (*SiteRecipe, error) {
	return call(ctx, c, getRecipe, RecipeRef{name})
}

// AddRecipes adds site recipes, or says what that would change.
func (c *Client) AddRecipes(ctx context.Context, t RecipeTexts) (*RecipeChanges, error) {
	return call(ctx, c, addRecipes, t)
}

// DeleteRecipe deletes a site recipe that was added.
func (c *Client) DeleteRecipe(ctx context.Context, name string) (*Gone, error) {
	return call(ctx, c, deleteRecipe, RecipeRef{name})
}

// TestRecipes runs the tests of site recipes.
func (c *Client) TestRecipes(ctx context.Context, t RecipeTexts) (*RecipeTests, error) {
	return call(ctx, c, testRecipes, t)
}

// ProposeRecipe proposes a site recipe for pages like the stored one of a URL.
func (c *Client) ProposeRecipe(ctx context.Context, of string) (*ProposedRecipe, error) {
	return call(ctx, c, proposeRecipe, RecipeTexts{URL: of})
}

// SignRecipes signs a text of site recipes.
func (c *Client) SignRecipes(ctx context.Context, t RecipeTexts) (*SignedRecipes, error) {
	return call(ctx, c, signRecipes, t)
}

// Sites lists hosts.
func (c *Client) Sites(ctx context.Context, q SiteQuery) (*SiteList, error) {
	return call(ctx, c, listSites, q)
}

// Fleet returns this node's part in its fleet, and the fleet's nodes.
func (c *Client) Fleet(ctx context.Context) (*FleetState, error) {
	return call(ctx, c, getFleet, None{})
}

// Site returns what is known of a host.
func (c *Client) Site(ctx context.Context, host string) (*Site, error) {
	return call(ctx, c, getSite, HostRef{host})
}

// Switches returns how the switches are.
func (c *Client) Switches(ctx context.Context) (*Switches, error) {
	return call(ctx, c, getSwitches, None{})
}

// Switch changes switches.
func (c *Client) Switch(ctx context.Context, change SwitchChange) (*Switches, error) {
	return call(ctx, c, setSwitches, change)
}

// Series returns what was counted in each step of a time.
func (c *Client) Series(ctx context.Context, q SeriesQuery) (*Series, error) {
	return call(ctx, c, getSeries, q)
}

// Recognise returns an error unless the daemon that answers knows secret, which only its own user can read. It does not
// send the token: after a crash, anybody may listen where the daemon did.
func (c *Client) Recognise(ctx context.Context, secret string) error {
	stranger := *c
	stranger.token = ""
	challenge := rand.Text()
	l, err := call(ctx, &stranger, getLiveness, LivenessQuery{challenge})
	if err != nil {
		return err
	}
	if secret == "" || !hmac.Equal([]byte(l.Proof), []byte(Proof(secret, challenge))) {
		return errors.New("another program answers in place of the daemon")
	}
	return nil
}

// SigninLink returns a link that signs a browser in and leads to a path of the admin port.
func (c *Client) SigninLink(ctx context.Context, path string) (*SigninLink, error) {
	return call(ctx, c, createLink, SigninRequest{Page: path})
}

// UserLink returns a link by which a user signs in to the dashboard, once.
func (c *Client) UserLink(ctx context.Context, user string) (*SigninLink, error) {
	return call(ctx, c, createLink, SigninRequest{User: user})
}

// Readiness returns the state of each part.
func (c *Client) Readiness(ctx context.Context) (*Readiness, error) {
	return call(ctx, c, getReadiness, None{})
}

// Hook sends an event to the server and returns the answer for the agent, which may be empty.
func (c *Client) Hook(ctx context.Context, h HookEvent) ([]byte, error) {
	resp, err := open(ctx, c, postHook, h, bytes.NewReader(h.Event))
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, MaxHook))
	if err != nil {
		return nil, fmt.Errorf("read the answer: %w", err)
	}
	if strings.TrimSpace(string(text)) == "{}" {
		return nil, nil
	}
	return text, nil
}

// Backup writes a consistent copy of the store to w.
func (c *Client) Backup(ctx context.Context, w io.Writer) error {
	return download(ctx, c, getBackup, None{}, w)
}

// Pack writes a knowledge base to w as one signed file.
func (c *Client) Pack(ctx context.Context, name string, w io.Writer) error {
	return download(ctx, c, packBase, BaseRef{name}, w)
}

// Unpack creates a knowledge base from a pack.
func (c *Client) Unpack(ctx context.Context, r io.Reader, u Unpacking) (*knowledge.Base, error) {
	return read[knowledge.Base](open(ctx, c, unpackBase, u, r)) //nolint:bodyclose // read closes it
}

// Record implements [SessionProxies]. EndRecording returns the error of a recording that failed after its start.
func (c *Client) Record(ctx context.Context, session string, offline bool, w io.Writer,
	opened func(addr string),
) error {
	return whileOpen(ctx, c, recordSession, OpenQuery{session, offline}, w, opened)
}

// Open implements [SessionProxies].
func (c *Client) Open(ctx context.Context, session string, offline bool, opened func(addr string)) error {
	if err := whileOpen(ctx, c, openSession, OpenQuery{session, offline}, io.Discard, opened); ctx.Err() == nil {
		return err
	}
	return nil
}

// Hold keeps the daemon running until release is called. It returns once the daemon has agreed.
func (c *Client) Hold(ctx context.Context) (release func(), err error) {
	ctx, cancel := context.WithCancel(ctx)
	resp, err := open(ctx, c, holdDaemon, None{}, nil) //nolint:bodyclose // release closes it
	if err != nil {
		cancel()
		return nil, err
	}
	return func() { cancel(); resp.Body.Close() }, nil
}

// Stop has the daemon stop. With unused it stops only if no command uses it; else the error has [CodeConflict].
func (c *Client) Stop(ctx context.Context, unused bool) error {
	_, err := call(ctx, c, stopDaemon, Stopping{unused})
	return err
}

// Flush waits until all that the daemon was asked to keep is on disk.
func (c *Client) Flush(ctx context.Context) error {
	_, err := call(ctx, c, flushStore, None{})
	return err
}
