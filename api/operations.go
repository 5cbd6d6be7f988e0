package api

import (
	"github.com/readthru/readthru/fetch/sitecheck"
	"github.com/readthru/readthru/internal/botauth"
	"github.com/readthru/readthru/internal/journal"
	"github.com/readthru/readthru/knowledge"
	"github.com/readthru/readthru/page"
)

// The table of operations: each row is what stands in a request and in its answer, an operationId, a method and path,
// and what it does. To add an operation, add a row here, a method of Server with its line in handlers, and a method of
// Client if a command or a tool needs one.
//
// Rows that methods of Client use have names.
var (
	_ = stream[None](reads, "index", "GET /", "lists all paths", "text/plain")

	_         = op[None, Stats](reads, "stats", "GET /stats", "returns figures since start and of the store")
	getStats  = op[None, Stats](reads, "getStats", "GET /api/v1/stats", "returns the same figures")
	getSeries = op[SeriesQuery, Series](reads, "getSeries", "GET /api/v1/series",
		"returns what was counted in each minute, hour or day: requests by outcome, tokens, bytes, time saved, errors")
	_           = stream[None](reads, "getMetrics", "GET /metrics", "returns figures for Prometheus", "text/plain")
	getLiveness = op[LivenessQuery, Liveness](reads, "getLiveness", "GET /healthz", "reports that the daemon is alive",
		openToAll)
	getReadiness = op[None, Readiness](reads, "getReadiness", "GET /readyz",
		"returns the state of each part; 503 when the daemon cannot do its main job", openToAll)
	createLink = op[SigninRequest, SigninLink](admins, "createSigninLink", "POST /api/v1/signin",
		"returns a link that signs one browser in: the operator's within a minute, a user's within a day")
	_ = stream[SigninQuery](reads, "signIn", "GET /signin", "signs a browser in by such a link", "text/html", openToAll)
	_ = op[None, map[string]any](reads, "getOpenAPI", "GET /openapi.json", "describes all paths")
	_ = stream[None](reads, "getAuthority", "GET /ca.pem", "returns the certificate of the authority, PEM",
		"application/x-pem-file", openToAll)
	_ = stream[None](reads, "getAuthorityDER", "GET /ca.der", "returns the certificate of the authority, DER",
		"application/x-x509-ca-cert", openToAll)
	_ = stream[None](reads, "getSigningKeys", "GET "+botauth.DirectoryPath,
		"returns the key that signs own requests, for the origin of fetch.sign.directory to publish",
		botauth.DirectoryType, openToAll)
	_ = stream[None](reads, "getProxySettings", "GET /proxy.pac", "returns proxy settings for browsers",
		"application/x-ns-proxy-autoconfig", openToAll)

	fetchPage = op[FetchRequest, page.Page](reads, "fetchPage", "POST /api/v1/fetch",
		"fetches a page as markdown; a failed fetch answers its own status and a page object whose error is set")
	listPages = op[PageQuery, PageList](reads, "listPages", "GET /api/v1/pages", "lists the pages that were read")
	getPage   = op[StoredQuery, page.Page](reads, "getPage", "GET /api/v1/pages/{doc}",
		"returns a page with its content; doc is an id, the first 8 or more digits of one, or an escaped URL")
	convertPage = op[PageRef, page.Page](writes, "convertPage", "POST /api/v1/pages/{doc}/convert",
		"converts a page again from what its origin answered, as it is stored, and returns it; asks no origin")
	deletePage = op[PageRef, Deleted](writes, "deletePage", "DELETE /api/v1/pages/{doc}",
		"deletes a page, its versions and its stored responses")
	listVersions = op[PageRef, VersionList](reads, "listVersions", "GET /api/v1/pages/{doc}/versions",
		"lists the versions of a page, newest first")
	diffVersions = op[DiffQuery, Diff](reads, "diffVersions", "GET /api/v1/pages/{doc}/diff",
		"compares two versions of a page")
	getChanges = op[ChangesQuery, Changes](reads, "getChanges", "GET /api/v1/pages/{doc}/changes",
		"returns the sections of a page that changed")
	getOutline = op[PageRef, Outline](reads, "getOutline", "GET /api/v1/pages/{doc}/outline",
		"returns the headings of a page or document, and where its tokens are: by section and by kind of block")
	getSection = op[SectionQuery, SectionText](reads, "getSection", "GET /api/v1/pages/{doc}/section",
		"returns the section under a heading")
	verifyQuote = op[QuoteQuery, QuoteCheck](reads, "verifyQuote", "GET /api/v1/pages/{doc}/quote",
		"reports whether a sentence is in the page, and where")
	getOriginal = op[PageRef, Original](reads, "getOriginal", "GET /api/v1/pages/{doc}/original",
		"returns what the origin answered for a page, as it is stored")
	_ = stream[ImageQuery](reads, "getImage", "GET /api/v1/pages/{doc}/image",
		"returns an image that stands in a page, through the cache", "image/*")
	getRobots = op[RobotsQuery, Robots](reads, "getRobots", "GET /api/v1/robots",
		"reports whether robots.txt allows fetching a URL")
	checkSite = op[CheckQuery, sitecheck.Report](reads, "checkSite", "GET /api/v1/check",
		"asks an origin for a page as agents do, and says what they get")
	detectURLs = op[TextRequest, Detection](reads, "detectURLs", "POST /api/v1/detect",
		"lists the URLs in a text with their kinds")
	detectAndFetch = op[DetectRequest, FetchedText](reads, "detectAndFetch", "POST /api/v1/detect-and-fetch",
		"fetches the first pages that a text names, in the form that a fetch gives them")

	getContext = op[ContextRef, Context](reads, "getContext", "GET /api/v1/context",
		"lists what a session has fetched, which is kept apart from the cache")
	forgetPages = op[ForgetQuery, Removed](reads, "forgetPages", "DELETE /api/v1/context",
		"removes pages from what a session has fetched; the cache keeps them")
	getContextPage = op[ContextRef, page.Page](reads, "getContextPage", "GET /api/v1/context/page",
		"returns a page that a session has fetched, else one from the cache; asks no origin")
	getContextText = op[ContextQuery, ContextText](reads, "getContextText", "GET /api/v1/context/text",
		"returns pages that a session has fetched as one text for a model")
	_ = stream[None](reads, "callRPC", "POST /rpc",
		"JSON-RPC 2.0: LLM.detect_urls, LLM.fetch_url, LLM.detect_and_fetch, LLM.get_url_content, LLM.remove_fetched_url, "+
			"LLM.invalidate_url_cache, LLM.clear_url_cache", "", exchanges[rpcRequest, RpcResponse])
	postHook = stream[HookEvent](admins, "postHook", "POST /api/v1/hooks/{agent}",
		"takes an event of an agent's hook, as the agent writes it; the answer is in the agent's own form", "",
		exchanges[map[string]any, map[string]any], takes(MaxHook), notAct)

	listVisits = op[VisitQuery, VisitList](reads, "listVisits", "GET /api/v1/visits",
		"lists deliveries of pages to readers, newest first")
	listSessions = op[None, SessionList](reads, "listSessions", "GET /api/v1/sessions",
		"lists sessions with what the proxy answered to them since the start, and what they have fetched")
	getSession = op[SessionQuery, SessionStats](reads, "getSession", "GET /api/v1/sessions/{name}",
		"returns figures of what the proxy answered to a session")
	recordSession = stream[OpenQuery](reads, "recordSession", "POST /api/v1/sessions/{name}/recording",
		"records what a session is answered; the recording is the answer, as it grows, until it is ended",
		"application/x-ndjson")
	endRecording = op[SessionRef, Deleted](reads, "endRecording", "DELETE /api/v1/sessions/{name}/recording",
		"ends the recording of a session")
	openSession = stream[OpenQuery](reads, "openSession", "POST /api/v1/sessions/{name}/listener",
		"opens a proxy for a session, at the address in X-Readthru-Proxy, for as long as the request stays open",
		"text/plain")
	holdDaemon = stream[None](admins, "holdDaemon", "GET /api/v1/lease",
		"stays open; a daemon that a command started keeps running while the request is open", "text/plain")
	stopDaemon = op[Stopping, Stopped](admins, "stopDaemon", "POST /api/v1/stop",
		"has the daemon stop; the answer comes before that")
	flushStore = op[None, Flushed](writes, "flushStore", "POST /api/v1/flush",
		"waits until all that was read is on disk")

	listCached = op[CacheQuery, CacheEntries](reads, "listCached", "GET /api/v1/cache",
		"lists the stored responses of a URL")
	Uncache = op[Selection, Removed](writes, "uncache", "DELETE /api/v1/cache",
		"removes stored responses; of a URL also what sessions have fetched of it")
	ClearCache = op[None, Removed](admins, "clearCache", "POST /api/v1/cache/clear",
		"removes all stored responses and what sessions have fetched; pages stay")
	sweepCache = op[None, Removed](admins, "sweepCache", "POST /api/v1/cache/gc",
		"removes stored responses that have expired, even if they could be validated; pages stay")

	listHosts = op[HostQuery, HostFacts](reads, "listHosts", "GET /api/v1/hosts",
		"lists what was learnt about hosts, and until when it holds")
	getHost = op[HostRef, HostFacts](reads, "getHost", "GET /api/v1/hosts/{host}",
		"lists what was learnt about a host")
	forgetHost = op[HostRef, Removed](writes, "forgetHost", "DELETE /api/v1/hosts/{host}",
		"forgets what was learnt about a host")
	forgetHosts = op[HostsQuery, Removed](admins, "forgetHosts", "DELETE /api/v1/hosts",
		"forgets what was learnt about all hosts")

	listRules = op[RuleQuery, RuleList](reads, "listRules", "GET /api/v1/rules",
		"lists the rules for hosts and paths in the order in which they are tried")
	addRule = op[RuleFields, Rule](admins, "addRule", "POST /api/v1/rules",
		"makes a rule that comes before all others, in the place of one made before for the same host and path")
	deleteRule = op[RuleRef, Gone](admins, "deleteRule", "DELETE /api/v1/rules/{id}",
		"deletes a rule that was made while the program ran")
	listRecipes = op[None, SiteRecipeList](reads, "listRecipes", "GET /api/v1/recipes",
		"lists the site recipes in the order in which they are tried")
	getRecipe = op[RecipeRef, SiteRecipe](reads, "getRecipe", "GET /api/v1/recipes/{name}",
		"returns a site recipe with its text")
	addRecipes = op[RecipeTexts, RecipeChanges](admins, "addRecipes", "POST /api/v1/recipes",
		"adds site recipes, in the place of those of their names; one whose tests fail is refused")
	deleteRecipe = op[RecipeRef, Gone](admins, "deleteRecipe", "DELETE /api/v1/recipes/{name}",
		"deletes a site recipe that was added")
	testRecipes = op[RecipeTexts, RecipeTests](reads, "testRecipes", "POST /api/v1/recipes/test",
		"runs the tests of site recipes: of a text, or of those that are there; asks no origin of their pages")
	proposeRecipe = op[RecipeTexts, ProposedRecipe](reads, "proposeRecipe", "POST /api/v1/recipes/propose",
		"proposes a site recipe for pages like the stored one of a URL")
	signRecipes = op[RecipeTexts, SignedRecipes](admins, "signRecipes", "POST /api/v1/recipes/sign",
		"signs a text of site recipes with this node's key")
	listSites = op[SiteQuery, SiteList](reads, "listSites", "GET /api/v1/sites",
		"lists the hosts with the most visits, with what is done with them and why")
	getSite = op[HostRef, Site](reads, "getSite", "GET /api/v1/sites/{host}",
		"returns what is done with a host and why, its rules and what was learnt about it")
	removeSite = op[SiteRemoval, RemovedSite](admins, "removeSite", "DELETE /api/v1/sites/{host}",
		"removes all that is kept of a host: pages, stored responses, what was learnt, counts, and requests that name it")
	getFleet = op[None, FleetState](reads, "getFleet", "GET /api/v1/fleet",
		"returns this node's part in its fleet, and the fleet's nodes")
	getSwitches = op[None, Switches](reads, "getSwitches", "GET /api/v1/switches",
		"reports whether the proxy is paused or offline")
	setSwitches = op[SwitchChange, Switches](admins, "setSwitches", "POST /api/v1/switches",
		"pauses the proxy, has it ask nobody, or ends that")

	listUsers = op[None, UserList](admins, "listUsers", "GET /api/v1/users",
		"lists the users with their roles, limits and tokens")
	addUser = op[NewUser, MadeToken](admins, "addUser", "POST /api/v1/users",
		"makes a user with a token, which is shown in this answer alone")
	changeUser = op[UserChange, UserInfo](admins, "changeUser", "POST /api/v1/users/{name}",
		"changes role, mode or limits of a user")
	removeUser = op[UserRef, Gone](admins, "removeUser", "DELETE /api/v1/users/{name}", "removes a user with all tokens")
	openProxy  = op[None, Deleted](admins, "openProxy", "DELETE /api/v1/users",
		"removes all users, and lets everybody use the proxy again")
	addToken = op[TokenRequest, MadeToken](admins, "addToken", "POST /api/v1/users/{name}/tokens",
		"makes another token of a user, which is shown in this answer alone")
	revokeToken = op[TokenRef, Gone](admins, "revokeToken", "DELETE /api/v1/users/{name}/tokens/{id}",
		"revokes a token of a user")
	getAccount  = op[None, Account](reads, "getAccount", "GET /api/v1/account", "returns who asks, with limits and tokens")
	setPassword = op[NewPassword, UserInfo](reads, "setPassword", "POST /api/v1/account/password",
		"sets one's own password for the dashboard, in a browser that did not sign in by a token; it signs all browsers out",
		act)
	listActs = op[ListQuery, ActList](admins, "listActs", "GET /api/v1/acts",
		"lists who did what as an administrator on this node, and signed in and out, newest first")
	getUsage = op[UsesQuery, UseList](reads, "getUsage", "GET /api/v1/usage",
		"returns what users used: requests, bytes, pages, tokens delivered and saved")

	listDisclosures = op[ListQuery, DisclosureList](admins, "listDisclosures", "GET /api/v1/disclosures",
		"lists what was sent to third parties, newest first")
	getSystem = op[None, System](admins, "getSystem", "GET /api/v1/system",
		"returns the configuration with the source of each value, the authority, agents, models, storage and the log's end")
	renewCA = op[None, Authority](admins, "renewAuthority", "POST /api/v1/ca/renew",
		"replaces the authority by a new one, which clients must then trust")
	getLeaving = op[None, Leaving](admins, "getLeaving", "GET /api/v1/disclosures/sums",
		"sums what was sent to third parties in the last 30 days, by service, day and host, and lists the services")
	switchService = op[ServiceSwitch, Leaving](admins, "switchService", "POST /api/v1/disclosures/services",
		"switches a third party off, so that nothing is sent to it, or on again")
	listRequests = op[RequestQuery, RequestList](reads, "listRequests", "GET /api/v1/requests",
		"lists the last requests by every door, and those kept on disk, with what was done and why, newest first")
	getRequest = op[RequestRef, journal.Entry](reads, "getRequest", "GET /api/v1/requests/{id}",
		"returns one of these requests")
	replayRequest = op[RequestRef, journal.Entry](writes, "replayRequest", "POST /api/v1/requests/{id}/replay",
		"sends one of these requests (GET or HEAD) again, without credentials, and returns the new one")
	exportRequests = stream[RequestExport](reads, "exportRequests", "GET /api/v1/requests/export",
		"returns these requests as an HTTP archive (HAR), or as lines of JSON", "application/json",
		answers[map[string]any])
	clearRequests = op[None, Deleted](admins, "clearRequests", "DELETE /api/v1/requests",
		"forgets all requests, those in memory and those on disk")
	listViews = op[None, RequestViews](reads, "listViews", "GET /api/v1/views",
		"lists filters of requests that have a name: those that are always there, then one's own")
	saveView = op[NewView, RequestView](writes, "saveView", "POST /api/v1/views",
		"gives a filter of requests a name, in the place of one's own of that name")
	deleteView = op[ViewRef, Gone](writes, "deleteView", "DELETE /api/v1/views/{id}",
		"removes a name that somebody gave to a filter of requests")
	_ = stream[EventQuery](reads, "watchEvents", "GET /api/v1/events",
		"stays open and tells of requests as they end", "text/event-stream")
	getBackup = stream[None](admins, "getBackup", "GET /api/v1/backup",
		"returns a consistent copy of the store, for readthru store restore",
		"application/octet-stream", act)

	listStoreJobs = op[None, StoreJobs](reads, "listStoreJobs", "GET /api/v1/store/jobs",
		"lists the documents that could not be indexed: those that wait for another attempt, and those set aside")
	getStoreJob = op[StoreJobRef, knowledge.Job](reads, "getStoreJob", "GET /api/v1/store/jobs/{id}",
		"returns a document that could not be indexed")
	retryStoreJob = op[StoreJobRef, knowledge.Job](writes, "retryStoreJob", "POST /api/v1/store/jobs/{id}/retry",
		"queues a document that was set aside again")
	dropStoreJob = op[StoreJobRef, knowledge.Job](writes, "dropStoreJob", "DELETE /api/v1/store/jobs/{id}",
		"forgets that a document was set aside: it is not indexed until it changes")
	compactStore = op[None, Compacted](admins, "compactStore", "POST /api/v1/store/compact",
		"removes what is left on disk of what was deleted")

	searchPages = op[SearchQuery, knowledge.Results](reads, "search", "GET /api/v1/search",
		"searches documents by their passages, best first")
	rebuildIndex = op[None, Job](admins, "rebuildIndex", "POST /api/v1/index/rebuild",
		"rebuilds the index from what is stored")
	listBases  = op[None, BaseList](reads, "listBases", "GET /api/v1/kbs", "lists the knowledge bases")
	createBase = op[NewBase, Filling](writes, "createBase", "POST /api/v1/kbs",
		"creates a knowledge base and starts to fill it")
	fillFromFiles = stream[FilesQuery](writes, "fillFromFiles", "POST /api/v1/kbs/{name}/files",
		"creates a knowledge base of files, or fills it again; the content is a tar file of them, as the command line "+
			"sends it",
		"", takesBytes, takes(maxFiles), answers[Filling])
	getBase    = op[BaseRef, knowledge.Base](reads, "getBase", "GET /api/v1/kbs/{name}", "returns a knowledge base")
	deleteBase = op[BaseRef, knowledge.Base](writes, "deleteBase", "DELETE /api/v1/kbs/{name}",
		"deletes a knowledge base and what no other base holds")
	refreshBase = op[RefreshQuery, Filling](writes, "refreshBase", "POST /api/v1/kbs/{name}/refresh",
		"fills a knowledge base again from its source; the present content answers until then")
	listDocuments = op[DocumentQuery, DocumentList](reads, "listDocuments", "GET /api/v1/kbs/{name}/documents",
		"lists the documents of a knowledge base")
	listBaseSubjects = op[SubjectQuery, SubjectList](reads, "listBaseSubjects", "GET /api/v1/kbs/{name}/subjects",
		"lists the subjects of the passages of a knowledge base")
	_ = op[BasePassages, PassageList](reads, "listBasePassages", "GET /api/v1/kbs/{name}/passages",
		"lists the passages of a knowledge base, also by document, subject and frame")
	packBase = stream[BaseRef](reads, "packBase", "GET /api/v1/kbs/{name}/pack",
		"returns a knowledge base as one signed file",
		"application/octet-stream")
	unpackBase = stream[Unpacking](writes, "unpackBase", "POST /api/v1/kbs/unpack",
		"creates a knowledge base from a pack, which is the content", "", takesBytes, takes(MaxPack),
		answers[knowledge.Base])

	listJobs = op[None, JobList](reads, "listJobs", "GET /api/v1/jobs",
		"lists the jobs that run and the last that ended")
	getJob    = op[JobRef, Job](reads, "getJob", "GET /api/v1/jobs/{id}", "returns a job as it is now")
	cancelJob = op[JobRef, Job](writes, "cancelJob", "DELETE /api/v1/jobs/{id}", "cancels a job")
	watchJob  = stream[JobRef](reads, "watchJob", "GET /api/v1/jobs/{id}/events",
		"returns the job as a line of JSON at each change, until it has ended", "application/x-ndjson")

	ingest = op[Ingestion, knowledge.Ingested](writes, "ingest", "POST /api/v1/ingest", "stores and indexes a text",
		takes(maxIngest))

	listSubjects = op[SubjectQuery, SubjectList](reads, "listSubjects", "GET /api/v1/subjects",
		"lists the subjects of all annotated passages")
	_ = op[SubjectPassages, PassageList](reads, "listSubjectPassages",
		"GET /api/v1/subjects/{subject}/passages", "lists the passages about a subject")
	listPassages = op[PassageQuery, PassageList](reads, "listPassages", "GET /api/v1/passages",
		"lists passages by knowledge base, document, subject and frame")

	getPassage = op[PassageRef, knowledge.PassageInfo](reads, "getPassage", "GET /api/v1/passages/{id}",
		"returns a passage, its sources and its annotations")
	_ = op[PassageRelations, RelationList](reads, "listPassageRelations", "GET /api/v1/passages/{id}/relations",
		"lists the relations of a passage")
	addRelation = op[NewRelation, knowledge.Relation](writes, "addRelation", "POST /api/v1/passages/{id}/relations",
		"relates a passage to a note or to another passage")
	listRelations = op[RelationQuery, RelationList](reads, "listRelations", "GET /api/v1/relations",
		"lists relations by passage, note and type")
	listNotes = op[NoteQuery, NoteList](reads, "listNotes", "GET /api/v1/notes",
		"lists notes, oldest first, also by subject and by page")
	addNote    = op[NewNote, knowledge.Note](writes, "addNote", "POST /api/v1/notes", "stores and indexes a note")
	_          = op[NoteRef, knowledge.Note](reads, "getNote", "GET /api/v1/notes/{id}", "returns a note")
	deleteNote = op[NoteRef, Deleted](writes, "deleteNote", "DELETE /api/v1/notes/{id}",
		"deletes a note and its relations")
)
