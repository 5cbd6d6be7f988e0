package api

import (
	"net/http"
	"net/url"
	"strconv"

	"readthru/knowledge"
)

// route is one method of one path, with what /openapi.json and the index say of it.
type route struct {
	method, path string
	summary      string
	query        []param
	body, result any    // a value of the type that goes in and comes out as JSON; nil when it is not JSON
	media        string // media type of the result when it is not JSON
	handle       func(w http.ResponseWriter, r *http.Request) error
}

// param is a query parameter.
type param struct{ name, about string }

// public reports whether a path is answered without the token: it tells nothing that a stranger may not know.
func public(path string) bool {
	switch path {
	case "/healthz", "/readyz", "/ca.pem", "/ca.der", "/proxy.pac":
		return true
	}
	return false
}

// table lists every route. The mux, /openapi.json and the index are made from it.
func (s *Server) table() []route {
	limit, cursor := param{"limit", "how many at most, 1 to 500; default 50"},
		param{"cursor", "the value of next in the list before"}
	session := param{"session", "its name; default: that of the field X-Readthru-Session, else default"}
	return []route{
		{"GET", "/", "this index", nil, nil, nil, "text/html", s.serveIndex},
		{"GET", "/stats", "figures since start and of the store", nil, nil, Stats{}, "", s.serveStats},
		{"GET", "/api/v1/stats", "the same", nil, nil, Stats{}, "", s.serveStats},
		{"GET", "/metrics", "figures for Prometheus", nil, nil, nil, "text/plain", s.serveMetrics},
		{"GET", "/healthz", "is the daemon alive", nil, nil, Liveness{}, "", s.serveLiveness},
		{
			"GET", "/readyz", "state of each part; 503 when the daemon cannot do its main job", nil, nil,
			Readiness{},
			"",
			s.serveReadiness,
		},
		{"GET", "/openapi.json", "description of all paths", nil, nil, map[string]any{}, "", s.serveOpenAPI},
		{"GET", "/ca.pem", "certificate of the authority, PEM", nil, nil, nil, "application/x-pem-file", s.serveCAPEM},
		{"GET", "/ca.der", "certificate of the authority, DER", nil, nil, nil, "application/x-x509-ca-cert", s.serveCADER},
		{"GET", "/proxy.pac", "proxy settings for browsers", nil, nil, nil, "application/x-ns-proxy-autoconfig", s.servePAC},
		{
			"POST", "/api/v1/fetch", "a page as markdown; a failure's status comes with the page object, its error set", nil,
			FetchRequest{},
			pageObject{},
			"", s.serveFetch,
		},
		{"GET", "/api/v1/pages", "pages read", []param{
			{"host", "of that host alone"},
			{"q", "in title or URL"},
			{"sort", "recent (default), visits, url or tokens"},
			limit, cursor,
		}, nil, PageList{}, "", s.servePages},
		{
			"GET", "/api/v1/pages/{doc}",
			"a page with its content; doc is an id, the first digits of one (8 or more) or an escaped URL", nil, nil,
			pageObject{},
			"", s.servePage,
		},
		{
			"DELETE", "/api/v1/pages/{doc}", "forget a page, its versions and its stored responses", nil, nil,
			deleted{},
			"",
			s.serveDeletePage,
		},
		{
			"GET", "/api/v1/pages/{doc}/versions", "contents that the page has had, newest first", nil, nil,
			VersionList{},
			"",
			s.serveVersions,
		},
		{
			"GET", "/api/v1/pages/{doc}/diff", "how the page changed",
			[]param{
				{"a", "older version: the first digits of its content_hash, or how many versions back; default 1"},
				{"b", "newer version; default 0, the newest"},
			},
			nil,
			Diff{},
			"", s.serveDiff,
		},
		{
			"GET", "/api/v1/pages/{doc}/changes", "the sections that changed",
			[]param{{
				"since",
				"a day, a time, how long ago (36h, 7d), or the first digits of a content_hash; default: since the version before",
			}},
			nil,
			Changes{},
			"", s.serveChanges,
		},
		{
			"GET", "/api/v1/robots", "does the robots.txt of its site let us read a URL",
			[]param{{"url", "absolute"}},
			nil,
			Robots{},
			"", s.serveRobots,
		},
		{
			"POST", "/api/v1/detect", "the URLs of a text and what kind each is", nil,
			textRequest{},
			Detection{},
			"",
			s.serveDetect,
		},
		{
			"POST", "/api/v1/detect-and-fetch", "the first pages that a text names, in the form that a fetch would give them",
			nil,
			DetectRequest{},
			FetchedText{},
			"", s.serveDetectAndFetch,
		},
		{
			"GET", "/api/v1/context", "what a session has fetched, apart from the cache",
			[]param{session, {"url", "that page alone, with its content"}},
			nil,
			Context{},
			"", s.serveContext,
		},
		{
			"DELETE", "/api/v1/context", "take pages out of what a session has fetched; the cache keeps them",
			[]param{session, {"url", "that page alone"}},
			nil,
			Removed{},
			"", s.serveForget,
		},
		{
			"GET", "/api/v1/context/page",
			"a page that a session has fetched, else what the cache answers without asking anybody",
			[]param{session, {"url", "absolute"}},
			nil,
			pageObject{},
			"", s.serveURLContent,
		},
		{
			"GET", "/api/v1/context/text", "pages that a session has fetched as one text for a model",
			[]param{
				session,
				{"url", "of a page, repeatable; default: all of the session"},
				{"exclude", "URL of a page to leave out, repeatable"},
				{"max_chars", "of each page; default 4000"},
			},
			nil,
			ContextText{},
			"", s.serveContextText,
		},
		{
			"POST", "/rpc",
			"JSON-RPC 2.0: LLM.detect_urls, LLM.fetch_url, LLM.detect_and_fetch, LLM.get_url_content, LLM.remove_fetched_url, " +
				"LLM.invalidate_url_cache, LLM.clear_url_cache", nil,
			rpcRequest{},
			rpcResponse{},
			"", s.serveRPC,
		},
		{
			"GET", "/api/v1/visits", "deliveries of pages to readers, newest first",
			[]param{{"url", "of that page alone"}, {"session", "of that session alone"}, limit, cursor},
			nil,
			VisitList{},
			"",
			s.serveVisits,
		},
		{
			"GET", "/api/v1/sessions/{name}", "what the proxy answered to a session, in figures", nil, nil,
			SessionStats{},
			"",
			s.serveSession,
		},
		{
			"POST", "/api/v1/sessions/{name}/recording",
			"record what the session is answered; the recording is the answer, as it grows, until it is ended", nil, nil, nil,
			"application/x-ndjson", s.serveRecord,
		},
		{
			"POST", "/api/v1/sessions/{name}/door",
			"stays open; while it is, the address in X-Readthru-Proxy is a proxy of that session",
			[]param{{"offline", "1: what is stored is answered, and no origin is asked"}},
			nil, nil, "text/plain", s.serveOpen,
		},
		{
			"DELETE", "/api/v1/sessions/{name}/recording", "end the recording of a session", nil, nil,
			deleted{},
			"",
			s.serveEndRecording,
		},
		{
			"GET", "/api/v1/cache", "stored responses of a URL",
			[]param{{"url", "the exact URL"}, {"explain", "1: tell also why they are or are not reused now"}},
			nil,
			CacheEntries{},
			"", s.serveCached,
		},
		{
			"DELETE", "/api/v1/cache", "remove stored responses; of one URL also what sessions have fetched of it",
			[]param{
				{"url", "of one URL"},
				{"host", "of a host"},
				{"prefix", "of every URL that begins so"},
				{"tag", "of what the origin tagged so"},
			},
			nil,
			Removed{},
			"", s.serveUncache,
		},
		{
			"POST", "/api/v1/cache/clear", "remove all stored responses and what sessions have fetched; pages stay", nil, nil,
			Removed{},
			"", s.serveClearCache,
		},
		{"POST", "/api/v1/cache/gc", "remove what is of no more use", nil, nil, Removed{}, "", s.serveSweepCache},
		{
			"GET", "/api/v1/disclosures", "what was sent to third parties, newest first",
			[]param{limit, cursor},
			nil,
			DisclosureList{},
			"", s.serveDisclosures,
		},
		{
			"GET", "/api/v1/requests", "the proxy's last requests with what was tried for them, newest first", nil, nil,
			requestList{},
			"", s.serveRequests,
		},
		{
			"GET", "/api/v1/search", "documents by their passages, best first",
			[]param{
				{"q", "words, \"phrases\" and prefixes*"},
				{"kb", "of that knowledge base alone"},
				{"host", "of that host alone"},
				{"kind", "of that url_type alone, or file or text"},
				{"since", "fetched since: a day, a time, or how long ago (36h, 7d)"},
				{"limit", "how many at most, 1 to 500; default 5"},
				{"explain", "1: tell what each term scored"},
			},
			nil,
			knowledge.Results{},
			"", s.serveSearch,
		},
		{
			"POST", "/api/v1/index/rebuild", "make the index anew from what is stored", nil, nil,
			Job{},
			"",
			s.serveRebuildIndex,
		},
		{"GET", "/api/v1/pages/{doc}/outline", "headings of a page or document", nil, nil, Outline{}, "", s.serveOutline},
		{
			"GET", "/api/v1/pages/{doc}/section", "the section that a heading begins",
			[]param{{"name", "its title, path or fragment"}},
			nil,
			SectionText{},
			"", s.serveSection,
		},
		{
			"GET", "/api/v1/pages/{doc}/quote", "does this sentence stand in the page, and where",
			[]param{{"q", "the sentence"}},
			nil,
			QuoteCheck{},
			"", s.serveVerifyQuote,
		},
		{"GET", "/api/v1/kbs", "knowledge bases", nil, nil, BaseList{}, "", s.serveBases},
		{
			"POST", "/api/v1/kbs", "make a knowledge base and begin to fill it", nil,
			NewBase{},
			Filling{},
			"",
			s.serveCreateBase,
		},
		{"GET", "/api/v1/kbs/{name}", "a knowledge base", nil, nil, knowledge.Base{}, "", s.serveBase},
		{
			"DELETE", "/api/v1/kbs/{name}", "remove a knowledge base, and all that nobody else has", nil, nil,
			knowledge.Base{},
			"", s.serveDeleteBase,
		},
		{
			"POST", "/api/v1/kbs/{name}/refresh", "fill it anew from where it came; the present content answers until then",
			[]param{{"limit", "pages; default as before"}},
			nil,
			Filling{},
			"", s.serveRefreshBase,
		},
		{
			"GET", "/api/v1/kbs/{name}/documents", "its documents",
			[]param{limit, cursor},
			nil,
			DocumentList{},
			"",
			s.serveBaseDocuments,
		},
		{
			"GET", "/api/v1/kbs/{name}/subjects", "what its passages are about",
			[]param{limit},
			nil,
			SubjectList{},
			"",
			s.serveSubjects,
		},
		{
			"GET", "/api/v1/kbs/{name}/pack", "the whole base as one signed file", nil, nil, nil, "application/octet-stream",
			s.servePack,
		},
		{
			"POST", "/api/v1/kbs/unpack", "make a base of a pack, which is the content",
			[]param{
				{"name", "what to call it; default as in the pack"},
				{"signer", "the signer to trust"},
				{"any_signer", "1: trust whoever signed it"},
			},
			nil,
			knowledge.Base{},
			"", s.serveUnpack,
		},
		{"GET", "/api/v1/jobs", "work that goes on, and the last that went on", nil, nil, JobList{}, "", s.serveJobs},
		{"GET", "/api/v1/jobs/{id}", "a job as it is now", nil, nil, Job{}, "", s.serveJob},
		{"DELETE", "/api/v1/jobs/{id}", "end a job for good", nil, nil, Job{}, "", s.serveCancelJob},
		{
			"GET", "/api/v1/jobs/{id}/events", "the job as a line of JSON at each change, until it has ended", nil, nil, nil,
			"application/x-ndjson", s.serveJobEvents,
		},
		{"POST", "/api/v1/ingest", "keep and index a text", nil, Ingestion{}, knowledge.Ingested{}, "", s.serveIngest},
		{
			"GET", "/api/v1/subjects", "what all annotated passages are about",
			[]param{limit},
			nil,
			SubjectList{},
			"",
			s.serveSubjects,
		},
		{
			"GET", "/api/v1/subjects/{subject}/passages", "passages about a subject",
			[]param{{"kb", "of that base alone"}, limit, cursor},
			nil,
			PassageList{},
			"", s.servePassages,
		},
		{
			"GET", "/api/v1/passages", "annotated passages by frame or URL",
			[]param{{"frame", "such as CAUSAL"}, {"url", "of the document"}, {"kb", "of that base alone"}, limit, cursor},
			nil,
			PassageList{},
			"", s.servePassages,
		},
		{
			"GET", "/api/v1/passages/{id}", "a passage, where it comes from and what it says", nil, nil,
			knowledge.PassageInfo{},
			"", s.servePassage,
		},
		{
			"GET", "/api/v1/passages/{id}/relations", "its relations",
			[]param{{"note", "to that note alone"}, {"type", "of that type alone"}, limit},
			nil,
			RelationList{},
			"",
			s.serveRelations,
		},
		{
			"POST", "/api/v1/passages/{id}/relations", "relate it to a note or to another passage", nil,
			NewRelation{},
			knowledge.Relation{},
			"", s.serveRelate,
		},
		{
			"GET", "/api/v1/relations", "relations of a note or of a type",
			[]param{{"note", "to that note"}, {"type", "of that type"}, limit},
			nil,
			RelationList{},
			"", s.serveRelations,
		},
		{"GET", "/api/v1/notes", "notes, oldest first", []param{limit, cursor}, nil, NoteList{}, "", s.serveNotes},
		{"POST", "/api/v1/notes", "keep a note", nil, NewNote{}, knowledge.Note{}, "", s.serveAddNote},
		{"DELETE", "/api/v1/notes/{id}", "drop a note with its relations", nil, nil, deleted{}, "", s.serveDeleteNote},
		{
			"POST", "/api/v1/hooks/{agent}",
			"an event of an agent's hook, as the agent writes it; the answer is what that agent understands",
			[]param{
				{"verbatim", "1: what a tool made of a page is replaced by the page"},
				{"max_tokens", "of a page in the answer; default 10000"},
				{"wait", "how long to wait for what the event leaves to be done; default 25ms, at most 1m"},
			},
			map[string]any{},
			map[string]any{},
			"", s.serveHook,
		},
		{
			"GET", "/api/v1/lease", "stays open; a daemon that \"readthru run\" started does not end while it is", nil, nil, nil,
			"text/plain", s.serveLease,
		},
		{
			"GET", "/api/v1/backup", "a consistent copy of the store, for readthru restore", nil, nil, nil,
			"application/octet-stream", s.serveBackup,
		},
	}
}

// mcpRoute is the one path of the Model Context Protocol over HTTP. Its handler writes its own failures.
func mcpRoute(h http.Handler) route {
	return route{
		"POST", "/mcp", "Model Context Protocol, streamable HTTP", nil,
		map[string]any{},
		map[string]any{},
		"",
		func(w http.ResponseWriter, r *http.Request) error {
			h.ServeHTTP(w, r)
			return nil
		},
	}
}

// deleted answers that something went.
type deleted struct {
	Deleted bool `json:"deleted"`
}

// requestList is the answer of /api/v1/requests.
type requestList struct {
	Requests any `json:"requests"`
}

// maxLimit is the most that a list holds.
const maxLimit = 500

// limitOf reads the limit parameter: 0 when absent.
func limitOf(q url.Values) (int, error) {
	text := q.Get("limit")
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > maxLimit {
		return 0, problem(http.StatusBadRequest, "limit %q is not a number from 1 to %d", text, maxLimit)
	}
	return n, nil
}

// listQuery reads the query of a list, which has a limit, and names.
func listQuery(r *http.Request, names ...string) (q url.Values, limit int, err error) {
	q = r.URL.Query()
	if err := known(q, append(names, "limit")...); err != nil {
		return nil, 0, err
	}
	limit, err = limitOf(q)
	return q, limit, err
}

// flag reads a query parameter that is 1 or true, or 0, false or not there: what is neither must not be taken for a no.
func flag(q url.Values, name string) (bool, error) {
	value := q.Get(name)
	if value == "" {
		return false, nil
	}
	on, err := strconv.ParseBool(value)
	if err != nil {
		return false, problem(http.StatusBadRequest, "%s is 1 or 0, not %q", name, value)
	}
	return on, nil
}

// known refuses query parameters that are not among names: a misspelt filter must not become an answer without a
// filter.
func known(q url.Values, names ...string) error {
next:
	for name := range q {
		for _, n := range names {
			if n == name {
				continue next
			}
		}
		return problem(http.StatusBadRequest, "unknown query parameter %q", name)
	}
	return nil
}
