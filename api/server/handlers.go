package server

import (
	"context"
	"net/http"
	"reflect"

	"github.com/readthru/readthru/api"
)

// route is an operation with what does it.
type route struct {
	*api.Operation
	serve func(s *Server, w http.ResponseWriter, r *http.Request) error
}

// handler is what does an operation whose parameters are of type in.
type handler struct {
	in    reflect.Type
	serve func(s *Server, w http.ResponseWriter, r *http.Request, p *api.Params) error
}

// routes returns the table of operations with what does each.
func routes() []route {
	list := make([]route, 0, len(api.Operations))
	for _, o := range api.Operations {
		h := handlers[o.ID]
		list = append(list, route{o, func(s *Server, w http.ResponseWriter, r *http.Request) error {
			return h.serve(s, w, r, o.In)
		}})
	}
	return list
}

// serves answers with the value that a method of Server returns.
func serves[In, Out any](do func(*Server, context.Context, In) (*Out, error)) handler {
	return streams(func(s *Server, w http.ResponseWriter, r *http.Request, in In) error {
		out, err := do(s, r.Context(), in)
		if err != nil {
			return err
		}
		return answer(w, api.StatusOf(out), out)
	})
}

// streams has a method of Server write the answer.
func streams[In any](serve func(*Server, http.ResponseWriter, *http.Request, In) error) handler {
	return handler{reflect.TypeFor[In](), func(s *Server, w http.ResponseWriter, r *http.Request, p *api.Params) error {
		var v In
		if err := p.Decode(r, &v); err != nil {
			return err
		}
		return serve(s, w, r, v)
	}}
}

// handlers are the methods of Server that do the operations, by their ids.
var handlers = map[string]handler{
	"index":                streams((*Server).serveIndex),
	"stats":                serves((*Server).getStats),
	"getStats":             serves((*Server).getStats),
	"getSeries":            serves((*Server).getSeries),
	"getMetrics":           streams((*Server).serveMetrics),
	"getLiveness":          serves((*Server).getLiveness),
	"getReadiness":         serves((*Server).getReadiness),
	"createSigninLink":     serves((*Server).createLink),
	"signIn":               streams((*Server).serveSignin),
	"getOpenAPI":           serves((*Server).getOpenAPI),
	"getAuthority":         streams((*Server).serveCAPEM),
	"getAuthorityDER":      streams((*Server).serveCADER),
	"getSigningKeys":       streams((*Server).serveSigningKeys),
	"getProxySettings":     streams((*Server).servePAC),
	"fetchPage":            serves((*Server).fetchPage),
	"listPages":            serves((*Server).listPages),
	"getPage":              serves((*Server).getPage),
	"convertPage":          serves((*Server).convertPage),
	"deletePage":           serves((*Server).deletePage),
	"listVersions":         serves((*Server).listVersions),
	"diffVersions":         serves((*Server).diffVersions),
	"getChanges":           serves((*Server).getChanges),
	"getOutline":           serves((*Server).getOutline),
	"getSection":           serves((*Server).getSection),
	"verifyQuote":          serves((*Server).verifyQuote),
	"getOriginal":          serves((*Server).getOriginal),
	"getImage":             streams((*Server).serveImage),
	"getRobots":            serves((*Server).getRobots),
	"checkSite":            serves((*Server).checkSite),
	"detectURLs":           serves((*Server).detectURLs),
	"detectAndFetch":       serves((*Server).detectAndFetch),
	"getContext":           serves((*Server).getContext),
	"forgetPages":          serves((*Server).forgetPages),
	"getContextPage":       serves((*Server).getContextPage),
	"getContextText":       serves((*Server).getContextText),
	"callRPC":              streams((*Server).serveRPC),
	"postHook":             streams((*Server).serveHook),
	"listVisits":           serves((*Server).listVisits),
	"listSessions":         serves((*Server).listSessions),
	"getSession":           serves((*Server).getSession),
	"recordSession":        streams((*Server).serveRecording),
	"endRecording":         serves((*Server).endRecording),
	"openSession":          streams((*Server).serveSessionProxy),
	"holdDaemon":           streams((*Server).serveHold),
	"stopDaemon":           serves((*Server).stopDaemon),
	"flushStore":           serves((*Server).flushStore),
	"listCached":           serves((*Server).listCached),
	"uncache":              serves((*Server).uncache),
	"clearCache":           serves((*Server).clearCache),
	"sweepCache":           serves((*Server).sweepCache),
	"listHosts":            serves((*Server).listHosts),
	"getHost":              serves((*Server).getHost),
	"forgetHost":           serves((*Server).forgetHost),
	"removeSite":           serves((*Server).removeSite),
	"forgetHosts":          serves((*Server).forgetHosts),
	"listRules":            serves((*Server).listRules),
	"addRule":              serves((*Server).addRule),
	"deleteRule":           serves((*Server).deleteRule),
	"listRecipes":          serves((*Server).listRecipes),
	"getRecipe":            serves((*Server).getRecipe),
	"addRecipes":           serves((*Server).addRecipes),
	"deleteRecipe":         serves((*Server).deleteRecipe),
	"testRecipes":          serves((*Server).testRecipes),
	"proposeRecipe":        serves((*Server).proposeRecipe),
	"signRecipes":          serves((*Server).signRecipes),
	"listSites":            serves((*Server).listSites),
	"getSite":              serves((*Server).getSite),
	"getFleet":             serves((*Server).getFleet),
	"getSwitches":          serves((*Server).getSwitches),
	"setSwitches":          serves((*Server).setSwitches),
	"listUsers":            serves((*Server).listUsers),
	"addUser":              serves((*Server).addUser),
	"changeUser":           serves((*Server).changeUser),
	"removeUser":           serves((*Server).removeUser),
	"openProxy":            serves((*Server).openProxy),
	"addToken":             serves((*Server).addToken),
	"revokeToken":          serves((*Server).revokeToken),
	"getUsage":             serves((*Server).getUsage),
	"listDisclosures":      serves((*Server).listDisclosures),
	"getSystem":            serves((*Server).getSystem),
	"renewAuthority":       serves((*Server).renewAuthority),
	"getLeaving":           serves((*Server).getLeaving),
	"switchService":        serves((*Server).switchService),
	"listRequests":         serves((*Server).listRequests),
	"getRequest":           serves((*Server).getRequest),
	"replayRequest":        serves((*Server).replayRequest),
	"exportRequests":       streams((*Server).serveRequests),
	"clearRequests":        serves((*Server).clearRequests),
	"watchEvents":          streams((*Server).serveEvents),
	"getBackup":            streams((*Server).serveBackup),
	"listStoreJobs":        serves((*Server).listStoreJobs),
	"getStoreJob":          serves((*Server).getStoreJob),
	"retryStoreJob":        serves((*Server).retryStoreJob),
	"dropStoreJob":         serves((*Server).dropStoreJob),
	"compactStore":         serves((*Server).compactStore),
	"search":               serves((*Server).search),
	"rebuildIndex":         serves((*Server).rebuildIndex),
	"listBases":            serves((*Server).listBases),
	"createBase":           serves((*Server).createBase),
	"fillFromFiles":        streams((*Server).serveFiles),
	"getBase":              serves((*Server).getBase),
	"deleteBase":           serves((*Server).deleteBase),
	"refreshBase":          serves((*Server).refreshBase),
	"listDocuments":        serves((*Server).listDocuments),
	"listBaseSubjects":     serves((*Server).listSubjects),
	"listBasePassages":     serves((*Server).listBasePassages),
	"packBase":             streams((*Server).servePack),
	"unpackBase":           streams((*Server).serveUnpack),
	"listJobs":             serves((*Server).listJobs),
	"getJob":               serves((*Server).getJob),
	"cancelJob":            serves((*Server).cancelJob),
	"watchJob":             streams((*Server).serveJobEvents),
	"ingest":               serves((*Server).ingest),
	"listSubjects":         serves((*Server).listSubjects),
	"listSubjectPassages":  serves((*Server).listSubjectPassages),
	"listPassages":         serves((*Server).listPassages),
	"getPassage":           serves((*Server).getPassage),
	"listPassageRelations": serves((*Server).listPassageRelations),
	"addRelation":          serves((*Server).addRelation),
	"listRelations":        serves((*Server).listRelations),
	"listNotes":            serves((*Server).listNotes),
	"addNote":              serves((*Server).addNote),
	"getNote":              serves((*Server).getNote),
	"deleteNote":           serves((*Server).deleteNote),
}
