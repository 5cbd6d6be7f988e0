package server

import (
	"context"
	"net/http"

	"github.com/readthru/readthru/api"
)

// route is an operation with what does it.
type route struct {
	*api.Operation
	serve func(w http.ResponseWriter, r *http.Request) error
}

// handler does an operation, whose parameters p finds in a request.
type handler func(w http.ResponseWriter, r *http.Request, p *api.Params) error

// routes returns the table of the API's operations with the handler of each.
func (s *Server) routes() []route {
	handlers := s.handlers()
	list := make([]route, 0, len(api.Operations))
	for _, o := range api.Operations {
		h := handlers[o.ID]
		list = append(list, route{o, func(w http.ResponseWriter, r *http.Request) error { return h(w, r, o.In) }})
	}
	return list
}

// serves makes a handler of a method that returns the answer, which is written as JSON.
func serves[In, Out any](do func(context.Context, In) (*Out, error)) handler {
	return streams(func(w http.ResponseWriter, r *http.Request, in In) error {
		out, err := do(r.Context(), in)
		if err != nil {
			return err
		}
		return api.Answer(w, out)
	})
}

// streams makes a handler of a method that writes the answer itself: files, streams of events, pages.
func streams[In any](serve func(http.ResponseWriter, *http.Request, In) error) handler {
	return func(w http.ResponseWriter, r *http.Request, p *api.Params) error {
		var v In
		if err := p.Decode(r, &v); err != nil {
			return err
		}
		sayAbout(r.Context(), v)
		return serve(w, r, v)
	}
}

// handlers returns the methods that do the API's operations, by their ids. A test compares it with [api.Operations].
func (s *Server) handlers() map[string]handler {
	return map[string]handler{
		"index":                streams(s.serveIndex),
		"stats":                serves(s.figures.GetStats),
		"getStats":             serves(s.figures.GetStats),
		"getSeries":            serves(s.figures.GetSeries),
		"getMetrics":           streams(s.figures.ServeMetrics),
		"getLiveness":          serves(s.figures.GetLiveness),
		"getReadiness":         serves(s.figures.GetReadiness),
		"createSigninLink":     serves(s.createLink),
		"signIn":               streams(s.serveSignin),
		"getOpenAPI":           serves(s.getOpenAPI),
		"getAuthority":         streams(s.machine.ServeCAPEM),
		"getAuthorityDER":      streams(s.machine.ServeCADER),
		"getSigningKeys":       streams(s.machine.ServeSigningKeys),
		"getProxySettings":     streams(s.machine.ServePAC),
		"fetchPage":            serves(s.pages.FetchPage),
		"listPages":            serves(s.pages.ListPages),
		"getPage":              serves(s.pages.GetPage),
		"convertPage":          serves(s.pages.ConvertPage),
		"deletePage":           serves(s.pages.DeletePage),
		"listVersions":         serves(s.pages.ListVersions),
		"diffVersions":         serves(s.pages.DiffVersions),
		"getChanges":           serves(s.pages.GetChanges),
		"getOutline":           serves(s.pages.GetOutline),
		"getSection":           serves(s.pages.GetSection),
		"verifyQuote":          serves(s.pages.VerifyQuote),
		"getOriginal":          serves(s.pages.GetOriginal),
		"getImage":             streams(s.pages.ServeImage),
		"getRobots":            serves(s.pages.GetRobots),
		"checkSite":            serves(s.pages.CheckSite),
		"detectURLs":           serves(s.pages.DetectURLs),
		"detectAndFetch":       serves(s.pages.DetectAndFetch),
		"getContext":           serves(s.pages.GetContext),
		"forgetPages":          serves(s.pages.ForgetPages),
		"getContextPage":       serves(s.pages.GetContextPage),
		"getContextText":       serves(s.pages.GetContextText),
		"callRPC":              streams(s.serveRPC),
		"postHook":             streams(s.hooks.ServeHook),
		"listVisits":           serves(s.pages.ListVisits),
		"listSessions":         serves(s.people.ListSessions),
		"getSession":           serves(s.people.GetSession),
		"recordSession":        streams(s.people.ServeRecording),
		"endRecording":         serves(s.people.EndRecording),
		"openSession":          streams(s.people.ServeSessionProxy),
		"holdDaemon":           streams(s.serveHold),
		"stopDaemon":           serves(s.stopDaemon),
		"flushStore":           serves(s.flushStore),
		"listCached":           serves(s.pages.ListCached),
		"uncache":              serves(s.pages.Uncache),
		"clearCache":           serves(s.pages.ClearCache),
		"sweepCache":           serves(s.pages.SweepCache),
		"listHosts":            serves(s.sites.ListHosts),
		"getHost":              serves(s.sites.GetHost),
		"forgetHost":           serves(s.sites.ForgetHost),
		"removeSite":           serves(s.sites.RemoveSite),
		"forgetHosts":          serves(s.sites.ForgetHosts),
		"listRules":            serves(s.sites.ListRules),
		"addRule":              serves(s.sites.AddRule),
		"deleteRule":           serves(s.sites.DeleteRule),
		"listRecipes":          serves(s.sites.ListRecipes),
		"getRecipe":            serves(s.sites.GetRecipe),
		"addRecipes":           serves(s.sites.AddRecipes),
		"deleteRecipe":         serves(s.sites.DeleteRecipe),
		"testRecipes":          serves(s.sites.TestRecipes),
		"proposeRecipe":        serves(s.sites.ProposeRecipe),
		"signRecipes":          serves(s.sites.SignRecipes),
		"listSites":            serves(s.sites.ListSites),
		"getSite":              serves(s.sites.GetSite),
		"getFleet":             serves(s.machine.GetFleet),
		"getSwitches":          serves(s.machine.GetSwitches),
		"setSwitches":          serves(s.machine.SetSwitches),
		"listUsers":            serves(s.people.ListUsers),
		"addUser":              serves(s.people.AddUser),
		"changeUser":           serves(s.people.ChangeUser),
		"removeUser":           serves(s.people.RemoveUser),
		"openProxy":            serves(s.people.OpenProxy),
		"addToken":             serves(s.people.AddToken),
		"revokeToken":          serves(s.people.RevokeToken),
		"listActs":             serves(s.people.ListActs),
		"getAccount":           serves(s.people.GetAccount),
		"setPassword":          serves(s.people.SetPassword),
		"getUsage":             serves(s.people.GetUsage),
		"listDisclosures":      serves(s.machine.ListDisclosures),
		"getSystem":            serves(s.machine.GetSystem),
		"renewAuthority":       serves(s.machine.RenewAuthority),
		"getLeaving":           serves(s.machine.GetLeaving),
		"switchService":        serves(s.machine.SwitchService),
		"listRequests":         serves(s.requests.ListRequests),
		"getRequest":           serves(s.requests.GetRequest),
		"replayRequest":        serves(s.requests.ReplayRequest),
		"exportRequests":       streams(s.requests.ServeRequests),
		"clearRequests":        serves(s.requests.ClearRequests),
		"listViews":            serves(s.requests.ListViews),
		"saveView":             serves(s.requests.SaveView),
		"deleteView":           serves(s.requests.DeleteView),
		"watchEvents":          streams(s.requests.ServeEvents),
		"getBackup":            streams(s.machine.ServeBackup),
		"listStoreJobs":        serves(s.memory.ListStoreJobs),
		"getStoreJob":          serves(s.memory.GetStoreJob),
		"retryStoreJob":        serves(s.memory.RetryStoreJob),
		"dropStoreJob":         serves(s.memory.DropStoreJob),
		"compactStore":         serves(s.memory.CompactStore),
		"search":               serves(s.memory.Search),
		"rebuildIndex":         serves(s.memory.RebuildIndex),
		"listBases":            serves(s.memory.ListBases),
		"createBase":           serves(s.memory.CreateBase),
		"fillFromFiles":        streams(s.memory.ServeFiles),
		"getBase":              serves(s.memory.GetBase),
		"deleteBase":           serves(s.memory.DeleteBase),
		"refreshBase":          serves(s.memory.RefreshBase),
		"listDocuments":        serves(s.memory.ListDocuments),
		"listBaseSubjects":     serves(s.memory.ListSubjects),
		"listBasePassages":     serves(s.memory.ListBasePassages),
		"packBase":             streams(s.memory.ServePack),
		"unpackBase":           streams(s.memory.ServeUnpack),
		"listJobs":             serves(s.jobs.ListJobs),
		"getJob":               serves(s.jobs.GetJob),
		"cancelJob":            serves(s.jobs.CancelJob),
		"watchJob":             streams(s.jobs.ServeJobEvents),
		"ingest":               serves(s.memory.Ingest),
		"listSubjects":         serves(s.memory.ListSubjects),
		"listSubjectPassages":  serves(s.memory.ListSubjectPassages),
		"listPassages":         serves(s.memory.ListPassages),
		"getPassage":           serves(s.memory.GetPassage),
		"listPassageRelations": serves(s.memory.ListPassageRelations),
		"addRelation":          serves(s.memory.AddRelation),
		"listRelations":        serves(s.memory.ListRelations),
		"listNotes":            serves(s.memory.ListNotes),
		"addNote":              serves(s.memory.AddNote),
		"getNote":              serves(s.memory.GetNote),
		"deleteNote":           serves(s.memory.DeleteNote),
	}
}
