package api

import (
	"github.com/readthru/readthru/internal/botauth"
	"github.com/readthru/readthru/knowledge"
)

// The table of operations: each row is an operationId, a method and path, what it does, and the method of Server that
// does it. To add an operation, add a row here, the method of Server, and a method of Client if a command or a tool
// needs one.
//
// Rows that methods of Client use have names.
var (
	_ = stream(reads, "index", "GET /", "returns this index", "text/html", (*Server).serveIndex)

	_         = op(reads, "stats", "GET /stats", "returns figures since start and of the store", (*Server).getStats)
	getStats  = op(reads, "getStats", "GET /api/v1/stats", "returns the same figures", (*Server).getStats)
	getSeries = op(reads, "getSeries", "GET /api/v1/series",
		"returns what was counted in each minute, hour or day: requests by outcome, tokens, bytes, time saved, errors",
		(*Server).getSeries)
	_ = stream(reads, "getMetrics", "GET /metrics", "returns figures for Prometheus", "text/plain",
		(*Server).serveMetrics)
	getLiveness = op(reads, "getLiveness", "GET /healthz", "reports that the daemon is alive",
		(*Server).getLiveness, openToAll)
	getReadiness = op(reads, "getReadiness", "GET /readyz",
		"returns the state of each part; 503 when the daemon cannot do its main job", (*Server).getReadiness, openToAll)
	createLink = op(admins, "createSigninLink", "POST /api/v1/signin",
		"returns a link that signs one browser in, within a minute",
		(*Server).createLink)
	_ = stream(reads, "signIn", "GET /signin", "signs a browser in by such a link", "text/html",
		(*Server).serveSignin, openToAll)
	_ = op(reads, "getOpenAPI", "GET /openapi.json", "describes all paths", (*Server).getOpenAPI)
	_ = stream(reads, "getAuthority", "GET /ca.pem", "returns the certificate of the authority, PEM",
		"application/x-pem-file", (*Server).serveCAPEM, openToAll)
	_ = stream(reads, "getAuthorityDER", "GET /ca.der", "returns the certificate of the authority, DER",
		"application/x-x509-ca-cert", (*Server).serveCADER, openToAll)
	_ = stream(reads, "getSigningKeys", "GET "+botauth.DirectoryPath,
		"returns the key that signs own requests, for the origin of fetch.sign.directory to publish", botauth.DirectoryType,
		(*Server).serveSigningKeys, openToAll)
	_ = stream(reads, "getProxySettings", "GET /proxy.pac", "returns proxy settings for browsers",
		"application/x-ns-proxy-autoconfig", (*Server).servePAC, openToAll)

	fetchPage = op(reads, "fetchPage", "POST /api/v1/fetch",
		"fetches a page as markdown; a failed fetch answers its own status and a page object whose error is set",
		(*Server).fetchPage)
	listPages = op(reads, "listPages", "GET /api/v1/pages", "lists the pages that were read", (*Server).listPages)
	getPage   = op(reads, "getPage", "GET /api/v1/pages/{doc}",
		"returns a page with its content; doc is an id, the first 8 or more digits of one, or an escaped URL",
		(*Server).getPage)
	convertPage = op(writes, "convertPage", "POST /api/v1/pages/{doc}/convert",
		"converts a page again from what its origin answered, as it is stored, and returns it; asks no origin",
		(*Server).convertPage)
	deletePage = op(writes, "deletePage", "DELETE /api/v1/pages/{doc}",
		"deletes a page, its versions and its stored responses", (*Server).deletePage)
	listVersions = op(reads, "listVersions", "GET /api/v1/pages/{doc}/versions",
		"lists the versions of a page, newest first", (*Server).listVersions)
	diffVersions = op(reads, "diffVersions", "GET /api/v1/pages/{doc}/diff", "compares two versions of a page",
		(*Server).diffVersions)
	getChanges = op(reads, "getChanges", "GET /api/v1/pages/{doc}/changes", "returns the sections of a page that changed",
		(*Server).getChanges)
	getOutline = op(reads, "getOutline", "GET /api/v1/pages/{doc}/outline",
		"returns the headings of a page or document", (*Server).getOutline)
	getSection = op(reads, "getSection", "GET /api/v1/pages/{doc}/section",
		"returns the section under a heading", (*Server).getSection)
	verifyQuote = op(reads, "verifyQuote", "GET /api/v1/pages/{doc}/quote",
		"reports whether a sentence is in the page, and where", (*Server).verifyQuote)
	getOriginal = op(reads, "getOriginal", "GET /api/v1/pages/{doc}/original",
		"returns what the origin answered for a page, as it is stored", (*Server).getOriginal)
	_ = stream(reads, "getImage", "GET /api/v1/pages/{doc}/image",
		"returns an image that stands in a page, through the cache", "image/*", (*Server).serveImage)
	getRobots = op(reads, "getRobots", "GET /api/v1/robots", "reports whether robots.txt allows fetching a URL",
		(*Server).getRobots)
	checkSite = op(reads, "checkSite", "GET /api/v1/check",
		"asks an origin for a page as agents do, and says what they get", (*Server).checkSite)
	detectURLs = op(reads, "detectURLs", "POST /api/v1/detect", "lists the URLs in a text with their kinds",
		(*Server).detectURLs)
	detectAndFetch = op(reads, "detectAndFetch", "POST /api/v1/detect-and-fetch",
		"fetches the first pages that a text names, in the form that a fetch gives them", (*Server).detectAndFetch)

	getContext = op(reads, "getContext", "GET /api/v1/context",
		"lists what a session has fetched, which is kept apart from the cache", (*Server).getContext)
	forgetPages = op(reads, "forgetPages", "DELETE /api/v1/context",
		"removes pages from what a session has fetched; the cache keeps them", (*Server).forgetPages)
	getContextPage = op(reads, "getContextPage", "GET /api/v1/context/page",
		"returns a page that a session has fetched, else one from the cache; asks no origin", (*Server).getContextPage)
	getContextText = op(reads, "getContextText", "GET /api/v1/context/text",
		"returns pages that a session has fetched as one text for a model", (*Server).getContextText)
	_ = stream(reads, "callRPC", "POST /rpc",
		"JSON-RPC 2.0: LLM.detect_urls, LLM.fetch_url, LLM.detect_and_fetch, LLM.get_url_content, LLM.remove_fetched_url, "+
			"LLM.invalidate_url_cache, LLM.clear_url_cache", "", (*Server).serveRPC, exchanges[rpcRequest, rpcResponse])
	postHook = stream(admins, "postHook", "POST /api/v1/hooks/{agent}",
		"takes an event of an agent's hook, as the agent writes it; the answer is in the agent's own form", "",
		(*Server).serveHook, exchanges[map[string]any, map[string]any], takes(MaxHook))

	listVisits = op(reads, "listVisits", "GET /api/v1/visits", "lists deliveries of pages to readers, newest first",
		(*Server).listVisits)
	listSessions = op(reads, "listSessions", "GET /api/v1/sessions",
		"lists sessions with what the proxy answered to them since the start, and what they have fetched",
		(*Server).listSessions)
	getSession = op(reads, "getSession", "GET /api/v1/sessions/{name}",
		"returns figures of what the proxy answered to a session", (*Server).getSession)
	recordSession = stream(reads, "recordSession", "POST /api/v1/sessions/{name}/recording",
		"records what a session is answered; the recording is the answer, as it grows, until it is ended",
		"application/x-ndjson", (*Server).serveRecording)
	endRecording = op(reads, "endRecording", "DELETE /api/v1/sessions/{name}/recording",
		"ends the recording of a session", (*Server).endRecording)
	openSession = stream(reads, "openSession", "POST /api/v1/sessions/{name}/listener",
		"opens a proxy for a session, at the address in X-Readthru-Proxy, for as long as the request stays open",
		"text/plain", (*Server).serveSessionProxy)
	holdDaemon = stream(admins, "holdDaemon", "GET /api/v1/lease",
		"stays open; a daemon that a command started keeps running while the request is open", "text/plain",
		(*Server).serveHold)
	stopDaemon = op(admins, "stopDaemon", "POST /api/v1/stop", "has the daemon stop; the answer comes before that",
		(*Server).stopDaemon)
	flushStore = op(writes, "flushStore", "POST /api/v1/flush", "waits until all that was read is on disk",
		(*Server).flushStore)

	listCached = op(reads, "listCached", "GET /api/v1/cache", "lists the stored responses of a URL", (*Server).listCached)
	uncache    = op(writes, "uncache", "DELETE /api/v1/cache",
		"removes stored responses; of a URL also what sessions have fetched of it", (*Server).uncache)
	clearCache = op(admins, "clearCache", "POST /api/v1/cache/clear",
		"removes all stored responses and what sessions have fetched; pages stay", (*Server).clearCache)
	sweepCache = op(admins, "sweepCache", "POST /api/v1/cache/gc",
		"removes stored responses that have expired, even if they could be validated; pages stay", (*Server).sweepCache)

	listHosts = op(reads, "listHosts", "GET /api/v1/hosts", "lists what was learnt about hosts, and until when it holds",
		(*Server).listHosts)
	getHost    = op(reads, "getHost", "GET /api/v1/hosts/{host}", "lists what was learnt about a host", (*Server).getHost)
	forgetHost = op(writes, "forgetHost", "DELETE /api/v1/hosts/{host}", "forgets what was learnt about a host",
		(*Server).forgetHost)
	forgetHosts = op(admins, "forgetHosts", "DELETE /api/v1/hosts", "forgets what was learnt about all hosts",
		(*Server).forgetHosts)

	listRules = op(reads, "listRules", "GET /api/v1/rules",
		"lists the rules for hosts and paths in the order in which they are tried", (*Server).listRules)
	addRule = op(admins, "addRule", "POST /api/v1/rules",
		"makes a rule that comes before all others, in the place of one made before for the same host and path",
		(*Server).addRule)
	deleteRule = op(admins, "deleteRule", "DELETE /api/v1/rules/{id}",
		"deletes a rule that was made while the program ran",
		(*Server).deleteRule)
	listRecipes = op(reads, "listRecipes", "GET /api/v1/recipes",
		"lists the site recipes in the order in which they are tried", (*Server).listRecipes)
	getRecipe = op(reads, "getRecipe", "GET /api/v1/recipes/{name}", "returns a site recipe with its text",
		(*Server).getRecipe)
	addRecipes = op(admins, "addRecipes", "POST /api/v1/recipes",
		"adds site recipes, in the place of those of their names; one whose tests fail is refused", (*Server).addRecipes)
	deleteRecipe = op(admins, "deleteRecipe", "DELETE /api/v1/recipes/{name}", "deletes a site recipe that was added",
		(*Server).deleteRecipe)
	testRecipes = op(reads, "testRecipes", "POST /api/v1/recipes/test",
		"runs the tests of site recipes: of a text, or of those that are there; asks no origin of their pages",
		(*Server).testRecipes)
	proposeRecipe = op(reads, "proposeRecipe", "POST /api/v1/recipes/propose",
		"proposes a site recipe for pages like the stored one of a URL", (*Server).proposeRecipe)
	signRecipes = op(admins, "signRecipes", "POST /api/v1/recipes/sign",
		"signs a text of site recipes with this node's key", (*Server).signRecipes)
	listSites = op(reads, "listSites", "GET /api/v1/sites",
		"lists the hosts with the most visits, with what is done with them and why", (*Server).listSites)
	getSite = op(reads, "getSite", "GET /api/v1/sites/{host}",
		"returns what is done with a host and why, its rules and what was learnt about it", (*Server).getSite)
	getFleet = op(reads, "getFleet", "GET /api/v1/fleet",
		"returns this node's part in its fleet, and the fleet's nodes", (*Server).getFleet)
	getSwitches = op(reads, "getSwitches", "GET /api/v1/switches", "reports whether the proxy is paused or offline",
		(*Server).getSwitches)
	setSwitches = op(admins, "setSwitches", "POST /api/v1/switches", "pauses the proxy, has it ask nobody, or ends that",
		(*Server).setSwitches)

	listUsers = op(admins, "listUsers", "GET /api/v1/users", "lists the users with their roles, limits and tokens",
		(*Server).listUsers)
	addUser = op(admins, "addUser", "POST /api/v1/users",
		"makes a user with a token, which is shown in this answer alone", (*Server).addUser)
	changeUser = op(admins, "changeUser", "POST /api/v1/users/{name}", "changes role, mode or limits of a user",
		(*Server).changeUser)
	removeUser = op(admins, "removeUser", "DELETE /api/v1/users/{name}", "removes a user with all tokens",
		(*Server).removeUser)
	openProxy = op(admins, "openProxy", "DELETE /api/v1/users",
		"removes all users, and lets everybody use the proxy again", (*Server).openProxy)
	addToken = op(admins, "addToken", "POST /api/v1/users/{name}/tokens",
		"makes another token of a user, which is shown in this answer alone", (*Server).addToken)
	revokeToken = op(admins, "revokeToken", "DELETE /api/v1/users/{name}/tokens/{id}", "revokes a token of a user",
		(*Server).revokeToken)
	getUsage = op(reads, "getUsage", "GET /api/v1/usage",
		"returns what users used: requests, bytes, pages, tokens delivered and saved", (*Server).getUsage)

	listDisclosures = op(admins, "listDisclosures", "GET /api/v1/disclosures",
		"lists what was sent to third parties, newest first", (*Server).listDisclosures)
	getSystem = op(admins, "getSystem", "GET /api/v1/system",
		"returns the configuration with the source of each value, the authority, agents, models, storage and the log's end",
		(*Server).getSystem)
	renewCA = op(admins, "renewAuthority", "POST /api/v1/ca/renew",
		"replaces the authority by a new one, which clients must then trust", (*Server).renewAuthority)
	getLeaving = op(admins, "getLeaving", "GET /api/v1/disclosures/sums",
		"sums what was sent to third parties in the last 30 days, by service, day and host, and lists the services",
		(*Server).getLeaving)
	switchService = op(admins, "switchService", "POST /api/v1/disclosures/services",
		"switches a third party off, so that nothing is sent to it, or on again", (*Server).switchService)
	listRequests = op(reads, "listRequests", "GET /api/v1/requests",
		"lists the last requests by every door, and those kept on disk, with what was done and why, newest first",
		(*Server).listRequests)
	getRequest = op(reads, "getRequest", "GET /api/v1/requests/{id}", "returns one of these requests",
		(*Server).getRequest)
	replayRequest = op(writes, "replayRequest", "POST /api/v1/requests/{id}/replay",
		"sends one of these requests (GET or HEAD) again, without credentials, and returns the new one",
		(*Server).replayRequest)
	exportRequests = stream(reads, "exportRequests", "GET /api/v1/requests/export",
		"returns these requests as an HTTP archive (HAR), or as lines of JSON", "application/json", (*Server).serveRequests,
		answers[map[string]any])
	clearRequests = op(admins, "clearRequests", "DELETE /api/v1/requests",
		"forgets all requests, those in memory and those on disk", (*Server).clearRequests)
	_ = stream(reads, "watchEvents", "GET /api/v1/events",
		"stays open and tells of requests as they end", "text/event-stream",
		(*Server).serveEvents)
	getBackup = stream(admins, "getBackup", "GET /api/v1/backup",
		"returns a consistent copy of the store, for readthru store restore",
		"application/octet-stream", (*Server).serveBackup)

	listStoreJobs = op(reads, "listStoreJobs", "GET /api/v1/store/jobs",
		"lists the documents that could not be indexed: those that wait for another attempt, and those set aside",
		(*Server).listStoreJobs)
	getStoreJob = op(reads, "getStoreJob", "GET /api/v1/store/jobs/{id}",
		"returns a document that could not be indexed", (*Server).getStoreJob)
	retryStoreJob = op(writes, "retryStoreJob", "POST /api/v1/store/jobs/{id}/retry",
		"queues a document that was set aside again", (*Server).retryStoreJob)
	dropStoreJob = op(writes, "dropStoreJob", "DELETE /api/v1/store/jobs/{id}",
		"forgets that a document was set aside: it is not indexed until it changes", (*Server).dropStoreJob)
	compactStore = op(admins, "compactStore", "POST /api/v1/store/compact",
		"removes what is left on disk of what was deleted", (*Server).compactStore)

	searchPages = op(reads, "search", "GET /api/v1/search", "searches documents by their passages, best first",
		(*Server).search)
	rebuildIndex = op(admins, "rebuildIndex", "POST /api/v1/index/rebuild", "rebuilds the index from what is stored",
		(*Server).rebuildIndex)
	listBases  = op(reads, "listBases", "GET /api/v1/kbs", "lists the knowledge bases", (*Server).listBases)
	createBase = op(writes, "createBase", "POST /api/v1/kbs", "creates a knowledge base and starts to fill it",
		(*Server).createBase)
	fillFromFiles = stream(writes, "fillFromFiles", "POST /api/v1/kbs/{name}/files",
		"creates a knowledge base of files, or fills it again; the content is a tar file of them, as the command line "+
			"sends it",
		"", (*Server).serveFiles, takesBytes, takes(maxFiles), answers[Filling])
	getBase    = op(reads, "getBase", "GET /api/v1/kbs/{name}", "returns a knowledge base", (*Server).getBase)
	deleteBase = op(writes, "deleteBase", "DELETE /api/v1/kbs/{name}",
		"deletes a knowledge base and what no other base holds", (*Server).deleteBase)
	refreshBase = op(writes, "refreshBase", "POST /api/v1/kbs/{name}/refresh",
		"fills a knowledge base again from its source; the present content answers until then", (*Server).refreshBase)
	listDocuments = op(reads, "listDocuments", "GET /api/v1/kbs/{name}/documents",
		"lists the documents of a knowledge base",
		(*Server).listDocuments)
	listBaseSubjects = op(reads, "listBaseSubjects", "GET /api/v1/kbs/{name}/subjects",
		"lists the subjects of the passages of a knowledge base", (*Server).listSubjects)
	_ = op(reads, "listBasePassages", "GET /api/v1/kbs/{name}/passages",
		"lists the passages of a knowledge base, also by document, subject and frame", (*Server).listBasePassages)
	packBase = stream(reads, "packBase", "GET /api/v1/kbs/{name}/pack", "returns a knowledge base as one signed file",
		"application/octet-stream", (*Server).servePack)
	unpackBase = stream(writes, "unpackBase", "POST /api/v1/kbs/unpack",
		"creates a knowledge base from a pack, which is the content", "", (*Server).serveUnpack, takesBytes, takes(maxPack),
		answers[knowledge.Base])

	listJobs = op(reads, "listJobs", "GET /api/v1/jobs", "lists the jobs that run and the last that ended",
		(*Server).listJobs)
	getJob    = op(reads, "getJob", "GET /api/v1/jobs/{id}", "returns a job as it is now", (*Server).getJob)
	cancelJob = op(writes, "cancelJob", "DELETE /api/v1/jobs/{id}", "cancels a job", (*Server).cancelJob)
	watchJob  = stream(reads, "watchJob", "GET /api/v1/jobs/{id}/events",
		"returns the job as a line of JSON at each change, until it has ended", "application/x-ndjson",
		(*Server).serveJobEvents)

	ingest = op(writes, "ingest", "POST /api/v1/ingest", "stores and indexes a text", (*Server).ingest, takes(maxIngest))

	listSubjects = op(reads, "listSubjects", "GET /api/v1/subjects", "lists the subjects of all annotated passages",
		(*Server).listSubjects)
	_ = op(reads, "listSubjectPassages", "GET /api/v1/subjects/{subject}/passages", "lists the passages about a subject",
		(*Server).listSubjectPassages)
	listPassages = op(reads, "listPassages", "GET /api/v1/passages",
		"lists passages by knowledge base, document, subject and frame", (*Server).listPassages)

	getPassage = op(reads, "getPassage", "GET /api/v1/passages/{id}", "returns a passage, its sources and its annotations",
		(*Server).getPassage)
	_ = op(reads, "listPassageRelations", "GET /api/v1/passages/{id}/relations", "lists the relations of a passage",
		(*Server).listPassageRelations)
	addRelation = op(writes, "addRelation", "POST /api/v1/passages/{id}/relations",
		"relates a passage to a note or to another passage", (*Server).addRelation)
	listRelations = op(reads, "listRelations", "GET /api/v1/relations", "lists relations by passage, note and type",
		(*Server).listRelations)
	listNotes = op(reads, "listNotes", "GET /api/v1/notes", "lists notes, oldest first, also by subject and by page",
		(*Server).listNotes)
	addNote    = op(writes, "addNote", "POST /api/v1/notes", "stores and indexes a note", (*Server).addNote)
	_          = op(reads, "getNote", "GET /api/v1/notes/{id}", "returns a note", (*Server).getNote)
	deleteNote = op(writes, "deleteNote", "DELETE /api/v1/notes/{id}", "deletes a note and its relations",
		(*Server).deleteNote)
)
