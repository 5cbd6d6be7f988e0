package wiring

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/api/firecrawl"
	"github.com/readthru/readthru/api/server"
	"github.com/readthru/readthru/api/server/figures"
	"github.com/readthru/readthru/cache"
	"github.com/readthru/readthru/certs"
	"github.com/readthru/readthru/cmd/readthru/internal/daemon"
	"github.com/readthru/readthru/cmd/readthru/internal/settings"
	"github.com/readthru/readthru/cmd/readthru/internal/terminal"
	"github.com/readthru/readthru/convert"
	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/fetch/github"
	"github.com/readthru/readthru/internal/botauth"
	"github.com/readthru/readthru/internal/fault"
	"github.com/readthru/readthru/internal/fleet"
	"github.com/readthru/readthru/internal/hostrule"
	"github.com/readthru/readthru/internal/journal"
	"github.com/readthru/readthru/internal/llm"
	"github.com/readthru/readthru/internal/openid"
	"github.com/readthru/readthru/internal/releases"
	"github.com/readthru/readthru/internal/symbols"
	"github.com/readthru/readthru/internal/transport"
	"github.com/readthru/readthru/internal/users"
	"github.com/readthru/readthru/internal/wholefile"
	"github.com/readthru/readthru/knowledge"
	"github.com/readthru/readthru/mcp"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/proxy"
	"github.com/readthru/readthru/render"
	"github.com/readthru/readthru/store"
	"github.com/readthru/readthru/ui"
)

// Core holds what every operation needs: store, transport, cache and fetcher.
type Core struct {
	settings  *settings.Settings // of the start
	applying  sync.Mutex
	now       atomic.Pointer[settings.Settings] // with what was reloaded since; never changed but replaced as a whole
	partition []byte                            // separates credentials in the cache
	dir       string                            // the data directory
	offline   atomic.Bool                       // no origin is asked
	paused    atomic.Bool                       // everything is passed on
	memory    memoryPlan
	answers   int64 // of cache.memory, for answers that are given again
	log       *slog.Logger
	store     *store.Store
	transport *transport.Transport
	cache     *cache.Cache
	signer    *botauth.Signer // nil: own requests are not signed
	fetcher   *fetch.Fetcher
	browser   *render.Browser
	symbols   *symbols.Engine
	knowledge *knowledge.Knowledge
	fleet     *fleet.Fleet // nil: this is a node alone
	users     *users.Directory
	running   *proxy.Proxy   // nil before there is one
	serving   *server.Server // the same

	doing   *fault.Journal // nil: what is being done is not noted
	times   *figures.WorkTimes
	journal *journal.Journal

	reranker         *llm.Client        // nil: none
	chat, embeddings *llm.Client        // nil: none
	searxng          *firecrawl.SearXNG // nil: none

	// listening holds our own addresses: no request may be sent there.
	listening atomic.Pointer[[]netip.AddrPort]

	logEnd *logEnd // nil: it is not kept

	keptMutex sync.Mutex
	kept      int64 // pages, as the file of KeptPages has it
}

// Open opens the parts from the store upwards. dir is the data directory, which exists.
func Open(s *settings.Settings, dir string, offline bool, log *slog.Logger) (*Core, error) {
	c := &Core{settings: s, dir: dir, memory: planMemory(memoryAtHand()), times: figures.NewWorkTimes(), log: log}
	c.offline.Store(offline)
	c.now.Store(s)
	var err error
	if c.signer, err = s.Signer(dir); err != nil {
		return nil, err
	}
	c.transport, err = transport.New(transport.Options{
		Resolve: s.Upstream.Resolve, CAFile: s.Upstream.CAFile, Upstream: s.Proxy.Upstream, Direct: s.Proxy.Direct,
		AllowPrivateOwn: s.Fetch.AllowPrivate, AllowPrivateProxied: s.AllowPrivate(),
		Avoid: c.avoid, UserAgent: s.Fetch.UserAgent, Signer: c.signer, Advice: s.UpstreamAdvice(), Log: log,
	})
	if err != nil {
		return nil, terminal.Mistake(err)
	}
	c.transport.SetOffline(offline)
	answers := int64(s.Cache.Memory)
	if s.Source["cache.memory"] == "default" {
		answers = c.memory.answers
	}
	var decoded int64
	c.answers, decoded = divideAnswers(answers)
	c.store, err = store.Open(store.Options{
		Dir: filepath.Join(dir, "store"), MaxSize: int64(s.Cache.MaxSize), Memory: c.memory.store, Decoded: decoded,
		Log: log, Cleaner: cleaner,
	})
	if err != nil {
		return nil, fmt.Errorf("open the store: %w", err)
	}
	if c.doing, err = fault.OpenJournal(dir, time.Now()); err != nil { // the store is ours, so the directory is
		log.Warn("a crash of this process will not be told to the next one", "error", err)
	} else if last := c.doing.Last(); last.Crashed {
		log.Error("the last process crashed", "cause", last.Cause(), "file", last.File)
	}
	c.journal = journal.New(journal.Options{
		Dir: settings.RequestsDir(dir), Last: s.Requests.Last, Days: s.Requests.Days,
		MaxSize: int64(s.Requests.MaxSize),
		Full:    func() bool { return c.store.Health().State != "ok" }, Log: log,
	})
	c.users = users.NewDirectory(func(name string, now time.Time) int64 {
		return c.store.UseOf(users.DayOf(now), name).Tokens
	})
	if err := c.setUsers(s); err != nil {
		_, _ = c.doing.Close(), c.store.Close() // the first error is returned
		return nil, terminal.Mistake(err)
	}
	partition, err := partitionKey(dir, log)
	if err != nil {
		_, _ = c.doing.Close(), c.store.Close() // the first error is returned
		return nil, err
	}
	if err := c.openModels(); err != nil {
		_, _ = c.doing.Close(), c.store.Close() // the first error is returned
		return nil, err
	}
	c.partition, c.kept = partition, ReadKept(dir).Pages
	c.cache = cache.New(c.cacheOptions(s))
	c.browser = render.New(render.Options{
		Sockets: fetch.PageClient(c.transport, c.blocked),
		Browser: s.Render.Browser, Attach: s.Render.Attach, Client: fetch.PageClient(c.cache, c.blocked),
		Dir:         filepath.Join(dir, "browser"),
		Concurrency: s.Render.Concurrency, Timeout: s.Fetch.Timeout, MaxBody: int64(s.Fetch.MaxBody),
		UserAgent: s.Fetch.UserAgent,
		Sandbox:   s.Render.Sandbox == "require", Log: log,
	})
	c.symbols = symbols.New(symbols.Options{CacheDir: filepath.Join(dir, "symbols")})
	c.fetcher = fetch.New(c.fetchOptions(s))
	if err := c.openKnowledge(); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	c.removeSecrets()
	return c, nil
}

// cacheOptions returns the cache's options of a configuration, of the start or reloaded.
func (c *Core) cacheOptions(s *settings.Settings) cache.Options {
	return cache.Options{
		Store: c.store, Next: c.transport, Private: s.Cache.Mode == "private", PartitionKey: c.partition,
		MaxBody: int64(s.Fetch.MaxBody), Memory: c.memory.passing,
		StaleLimit: s.Cache.StaleLimit, HeuristicMax: s.Cache.HeuristicMax,
		Targeted: s.Cache.Targeted, Offline: c.offline.Load(), Secret: page.HasSecret,
		Page: page.IsPage, Markdown: page.IsMarkdown,
		ForPage: transport.Own, Untrusted: fetch.Untrusted,
		PageLifetime: s.Cache.PageTTL, Rule: c.rules(s).Cache, Log: c.log,
	}
}

// fetchOptions returns the fetcher's options of a configuration, of the start or reloaded. Offline, markdown.new is
// off.
func (c *Core) fetchOptions(s *settings.Settings) fetch.Options {
	third := s.MarkdownNew.Mode
	if c.offline.Load() {
		third = "off"
	}
	limit := s.MarkdownNew.DailyLimit
	if limit == 0 {
		limit = -1 // none; to package fetch, 0 is the default
	}
	return fetch.Options{
		Client: c.cache, Direct: c.transport, Store: c.store,
		Cascade: s.Fetch.Cascade, Timeout: s.Fetch.Timeout, MaxBody: int64(s.Fetch.MaxBody),
		UserAgent:      s.Fetch.UserAgent,
		BlockedDomains: s.BlockedDomains, Rules: c.rules(s), PagesWithCookies: s.Pages.WithCookies,
		Preferences: s.Preferences,
		Recipes:     hostrule.RecipeSet(c.store.SiteRecipes()),
		Private:     s.Cache.Mode == "private",
		FrontMatter: s.Convert.FrontMatter, Convert: convert.Options{Links: s.Convert.Links, Images: s.Convert.Images},
		MarkdownNew: fetch.MarkdownNew{
			Mode: third, BaseURL: s.MarkdownNew.BaseURL, DailyLimit: limit, Spend: c.spend,
		},
		Browser: c.browser, Render: s.Render.Mode, LLM: c.chat, MaxHTMLChars: s.Fetch.MaxHTMLChars,
		Workers: c.memory.workers, MaxWaiting: c.memory.waiting,
		GitHub: c.github(), PageLifetime: s.Cache.PageTTL, Symbols: c.symbols,
		Observe: c.times.Observe, Journal: c.journal, Log: c.log,
	}
}

// blocked reports whether a host is on the list of blocked domains.
func (c *Core) blocked(host string) bool { return page.Blocked(host, c.now.Load().BlockedDomains) }

// Close closes the parts in the reverse order of opening, all of them, and returns the first error.
func (c *Core) Close() error {
	var err error
	c.journal.Close()
	if c.knowledge != nil {
		err = c.knowledge.Close()
	}
	err = errors.Join(err, c.fetcher.Close(), c.symbols.Close(), c.browser.Close(), c.cache.Close())
	if c.fleet != nil {
		c.fleet.Close()
	}
	c.mustWriteKept()
	c.transport.CloseIdleConnections()
	return errors.Join(err, c.doing.Close(), c.store.Close())
}

// Abandon has Close not wait for what would only be stored.
func (c *Core) Abandon() { c.cache.Abandon() }

// ListensOn says at which addresses this program listens: no request may be sent there.
func (c *Core) ListensOn(listeners ...net.Listener) {
	list := make([]netip.AddrPort, 0, len(listeners))
	for _, l := range listeners {
		list = append(list, addrPort(l))
	}
	c.listening.Store(&list)
}

// github returns the options for GitHub. Offline nothing is cloned, since git does not use the cache.
func (c *Core) github() github.Options {
	s := c.settings
	g := github.Options{
		BaseURL: s.GitHub.BaseURL, CodeloadURL: s.GitHub.CodeloadURL, RawURL: s.GitHub.RawURL, APIURL: s.GitHub.APIURL,
		Token: s.GitHub.Token, Git: s.GitHub.Git, Dir: filepath.Join(c.dir, "git"), CAFile: s.Upstream.CAFile,
		CredentialHelper: s.GitHub.Helper,
	}
	for _, f := range s.Forges {
		g.Forges = append(g.Forges, github.Host{Kind: page.Forge(f.Kind), URL: f.URL, APIURL: f.APIURL, Token: f.Token})
	}
	if c.offline.Load() {
		g.Git = ""
	}
	return g
}

// avoidToo adds an address of ours to those to which no request may be sent, until remove is called.
func (c *Core) avoidToo(addr netip.AddrPort) (remove func()) {
	change := func(f func([]netip.AddrPort) []netip.AddrPort) {
		for {
			before := c.listening.Load()
			after := f(slices.Clone(c.avoid()))
			if c.listening.CompareAndSwap(before, &after) {
				return
			}
		}
	}
	change(func(list []netip.AddrPort) []netip.AddrPort { return append(list, addr) })
	return func() {
		change(func(list []netip.AddrPort) []netip.AddrPort {
			return slices.DeleteFunc(list, func(a netip.AddrPort) bool { return a == addr })
		})
	}
}

// avoid returns the addresses that this process listens on, to which no request may be sent: it would loop.
func (c *Core) avoid() []netip.AddrPort {
	if list := c.listening.Load(); list != nil {
		return *list
	}
	return nil
}

// openFleet makes the daemon a node of the fleet that is configured, before its first request. Its proxy is reached at
// address.
func (c *Core) openFleet(address string) (err error) {
	if c.settings.Fleet.Database == "" {
		return fleet.Leave(c.store)
	}
	if c.offline.Load() {
		return nil
	}
	o := c.settings.FleetOptions(address)
	o.Store, o.Log = c.store, c.log
	o.UsersChanged = func() error { return c.apply(c.running, nil) }
	o.UsedElsewhere = c.users.Elsewhere
	o.Knowledge = c.knowledge
	o.FillsItself = func(service string) bool { return c.settings.CrawlService(service) == "local" }
	o.MayFill = func(b knowledge.Base) bool { return c.serving.Memory().MayFill(b) }
	o.Fill = func(base string) error { return c.serving.Memory().Fill(base) }
	o.StopFilling = func(base string, why error) { c.serving.Memory().StopFilling(base, why) }
	if c.fleet, err = fleet.New(o); err != nil {
		return err
	}
	c.cache.Join(c.fleet)
	c.fetcher.Join(c.fleet)
	return nil
}

// spend takes a request to markdown.new from those of the fleet's day; a node alone has its own.
func (c *Core) spend(ctx context.Context, day string, limit int64) (ok bool, err error) {
	if c.fleet == nil {
		return true, nil
	}
	return c.fleet.Spend(ctx, fetch.MarkdownNewService, day, limit)
}

// turn tells a crawl how long to wait for the requests of other nodes to a host.
func (c *Core) turn(ctx context.Context, host string, interval time.Duration) (time.Duration, error) {
	if c.fleet == nil {
		return 0, nil
	}
	return c.fleet.Turn(ctx, host, interval)
}

// Proxy returns the proxy over the core. admin is the URL of the admin port.
func (c *Core) Proxy(authority *certs.Authority, admin string) (*proxy.Proxy, error) {
	o := c.proxyOptions(c.settings)
	o.Fetch, o.Client, o.Transport, o.Dial, o.Authority = c.fetcher, c.cache, c.transport, c.transport.Dial, authority
	o.AdminURL, o.Store, o.Log, o.Memory = admin, c.store, c.log, c.answers
	o.Journal, o.Users = c.journal, c.users
	var err error
	c.running, err = proxy.New(o)
	return c.running, err
}

// apply has all parts take over settings, those of the start and of the last reload if next is nil, with the switches
// and the rules of the store. An error changes nothing.
func (c *Core) apply(running *proxy.Proxy, next *settings.Settings) error {
	c.applying.Lock()
	defer c.applying.Unlock()
	if next == nil {
		next = c.now.Load()
	}
	if err := users.Check(next.Users()); err != nil {
		return err
	}
	if err := running.Reconfigure(c.proxyOptions(next)); err != nil {
		return err
	}
	if err := c.setUsers(next); err != nil {
		return err
	}
	c.now.Store(next)
	c.cache.Reconfigure(c.cacheOptions(next))
	c.fetcher.Reconfigure(c.fetchOptions(next))
	running.DropAnswers() // they were decided before
	return nil
}

// setUsers takes over the users of settings and of the store.
func (c *Core) setUsers(s *settings.Settings) error {
	stored := c.store.Users()
	if err := c.users.Set(s.Users(), stored.List, stored.Closed); err != nil {
		return fmt.Errorf("proxy.users: %w", err)
	}
	return nil
}

// proxyOptions returns the options of the proxy that can change while it runs.
func (c *Core) proxyOptions(s *settings.Settings) proxy.Options {
	return proxy.Options{
		Paused: c.paused.Load(), Rules: c.rules(s), Mode: s.Proxy.Mode, ConnectPorts: s.Proxy.ConnectPorts,
		BlockedDomains: s.BlockedDomains,
	}
}

// Server returns the operations over the core. running is nil if no proxy runs, and d is then zero; authority may be
// nil, too. End makes the daemon end. Who configures a token wants it from everybody;
// otherwise the user's own programs need none.
func (c *Core) Server(running *proxy.Proxy, authority *certs.Authority, d *daemon.Info,
	end func(),
) *server.Server {
	o := server.Options{
		Fetch: c.fetcher, Store: c.store, Version: releases.Version, Instance: d.Instance,
		Hosts: c.settings.Admin.Hosts,
		Token: d.Token, TrustUser: c.settings.Admin.Token == "", Secret: d.Secret,
		MarkdownNewMode: c.settings.MarkdownNew.Mode, Services: c.services,
		Switches:  func() api.Switches { return api.Switches{Paused: c.paused.Load(), Offline: c.offline.Load()} },
		WorkTimes: c.times,
		Users:     c.users,
		FileRules: func() hostrule.Rules { return c.now.Load().HostRules() },
		Log:       c.log,
		LastEnd:   c.doing.Last(),
		Proxy:     func() string { return d.Proxy }, AutoConfig: proxy.AutoConfig,
		Cache: func() api.CacheStats {
			n := c.cache.Stats()
			return api.CacheStats{
				Hits: n.Hits, Misses: n.Misses, Revalidated: n.Revalidated, Stale: n.Stale,
				Bypass: n.Bypass,
			}
		},
	}
	o.Journal, o.Fleet = c.journal, c.fleet
	if s := c.settings.OIDC; s.Issuer != "" {
		o.Identity = openid.New(openid.Options{
			Issuer: s.Issuer, ClientID: s.ClientID, ClientSecret: s.ClientSecret, NameClaim: s.NameClaim,
			AdminGroup: s.AdminGroup, Client: &http.Client{
				Transport:     endpoint{c.transport},
				CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
			},
		})
	}
	o.ConfiguredUsers = func() (names []string) {
		for _, u := range c.now.Load().Proxy.Users {
			names = append(names, u.Name)
		}
		return names
	}
	o.Expired, o.Fresh, o.Explain, o.Knowledge, o.Crawl, o.Dir, o.Summary = c.cache.Expired, c.fresh, c.explain,
		c.knowledge, c.crawlService, c.dir, c.summaries()
	o.Firecrawl = firecrawl.New(firecrawl.Options{
		Crawl: c.crawlConfig(), Summary: o.Summary, Store: c.store, Knowledge: c.knowledge, SearXNG: c.searxng,
		Dir: c.dir, Log: c.log,
	})
	host, _, err := net.SplitHostPort(c.settings.Admin.Listen)
	if err == nil && net.ParseIP(host) == nil && host != "" {
		o.Hosts = append(o.Hosts, host)
	}
	if c.signer != nil {
		o.SigningKeys = c.signer.AnswerDirectory
	}
	certFile := ""
	if authority != nil {
		o.CA, certFile = authority.PEM, authority.CertFile()
		o.Trust = func(ctx context.Context) []api.Trust { return trustOf(authority.Trust(ctx)) }
		o.System = c.system
	}
	if running != nil {
		o.End = end
		if authority != nil {
			o.RenewCA = authority.Renew
		}
		o.Treatment = running.Treatment
		o.Changed = func() error { return c.apply(running, nil) }
		o.Switch = func(to api.Switches) error {
			c.paused.Store(to.Paused)
			c.offline.Store(to.Offline)
			c.transport.SetOffline(to.Offline)
			return c.apply(running, nil)
		}
		o.Requests = func() api.RequestStats {
			n := running.Stats()
			return api.RequestStats{
				Total: n.Total, Intercepted: n.Intercepted, Tunnelled: n.Tunnelled, Blocked: n.Blocked,
				Errors: n.Errors,
			}
		}
		o.Open = func() (requests, origins int) { return int(running.Open()), c.cache.Open() }
		o.SessionProxies = &sessionProxies{core: c, proxy: running, open: map[string]<-chan struct{}{}}
		o.Session = func(name string) api.SessionStats { return sessionStats(running.Journal().Session(name)) }
		o.Sessions = func() (list []api.SessionStats) {
			for _, s := range running.Sessions() {
				st := sessionStats(s.SessionStats)
				st.Session, st.Recording = s.Name, s.Recording
				list = append(list, st)
			}
			return list
		}
		o.Dashboard = func(s *server.Server) *http.ServeMux {
			return ui.New(ui.Options{
				Client: s.Client(daemon.UserAgent).By(api.DoorDashboard), Version: releases.Version,
				Instance: d.Instance,
				Proxy:    o.Proxy, Authority: certFile, Log: c.log,
			})
		}
		o.MCP = func(s *server.Server) http.Handler {
			mo := MCPOptions(c.settings, c.log)
			client := s.Client(daemon.UserAgent)
			mo.Client = func(context.Context) (*api.Client, error) { return client, nil }
			return mcp.New(mo)
		}
	}
	return server.New(o)
}

// sessionStats returns the counts of a session as the API says them.
func sessionStats(n journal.SessionStats) api.SessionStats {
	return api.SessionStats{
		Requests: n.Requests, Pages: n.Pages, Hits: n.Hits, Errors: n.Errors, Tunnels: n.Tunnels,
		RejectedCA: strings.Fields(n.Rejected),
		Tokens:     api.TokenStats{HTML: n.HTMLTokens, Markdown: n.Tokens, Saved: n.HTMLTokens - n.Tokens},
	}
}

// fresh has the cache tell whether it answers a fetch of a URL from its store.
func (c *Core) fresh(ctx context.Context, uri string) (bool, error) {
	u, err := url.Parse(uri)
	if err != nil {
		return false, err
	}
	return c.cache.Fresh(c.fetcher.RequestFor(ctx, u))
}

// explain has the cache tell why it would or would not answer a fetch of a URL from its store.
func (c *Core) explain(ctx context.Context, uri string) ([]api.ExplainLine, error) {
	u, err := url.Parse(uri)
	if err != nil {
		return nil, err
	}
	lines, err := c.cache.Explain(c.fetcher.RequestFor(ctx, u))
	if err != nil {
		return nil, err
	}
	said := make([]api.ExplainLine, len(lines))
	for i, l := range lines {
		said[i] = api.ExplainLine{Section: l.Section, Text: l.Text}
	}
	return said, nil
}

// sweepEvery is how often the store is swept.
const sweepEvery = 5 * time.Minute

// sweep removes what is no longer of use from the store, until ctx ends.
func (c *Core) sweep(ctx context.Context) error {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			if n, err := c.store.Sweep(ctx); err != nil && ctx.Err() == nil {
				c.log.Warn("sweep", "error", err)
			} else if n > 0 {
				c.log.Debug("sweep", "removed", n)
			}
		}
	}
}

// rules are all rules: those of the store come first.
func (c *Core) rules(s *settings.Settings) hostrule.Rules {
	return append(hostrule.Stored(c.store.Rules()), s.HostRules()...)
}

// partitionKey returns the key that separates credentials in the cache, from a file that the first use creates. A
// damaged file is set aside: then what was stored for credentials is not found. The store must be open, so that no
// other process creates the file at the same time.
func partitionKey(dir string, log *slog.Logger) ([]byte, error) {
	name := filepath.Join(dir, "cache.key")
	key, err := os.ReadFile(name)
	if err == nil && len(key) != 32 {
		aside := fmt.Sprintf("%s.damaged-%d", name, time.Now().UnixNano())
		if err = os.Rename(name, aside); err == nil {
			log.Error("damaged cache key set aside: what was stored for credentials is not found", "path", aside,
				"bytes", len(key))
			err = fs.ErrNotExist
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		key = make([]byte, 32)
		rand.Read(key)
		err = wholefile.Write(name, key, 0o600)
	}
	if err != nil {
		return nil, fmt.Errorf("the cache's partition key: %w", err)
	}
	return key, nil
}
