package server

import (
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/api/firecrawl"
	"github.com/readthru/readthru/api/guard"
	"github.com/readthru/readthru/internal/users"
)

// firecrawlOperations returns the routes of Firecrawl's API with their operations, so that they are described and
// limited as all are. Their handlers write their own errors.
func firecrawlOperations(f *firecrawl.Service) []route {
	var list []route
	for _, r := range f.Routes() {
		o := &api.Operation{
			Role: firecrawlRole(r.Method, r.Path), ID: r.ID, Method: r.Method, Path: r.Path, Summary: r.Summary,
			Body: reflect.TypeOf(r.Body), Result: reflect.TypeOf(r.Result), Limit: api.MaxRequest,
		}
		if strings.HasSuffix(r.Path, "/batch/scrape") {
			o.Limit = api.MaxMCP
		}
		for _, name := range slices.Sorted(maps.Keys(r.Query)) {
			o.Query = append(o.Query, api.Param{Name: name, About: r.Query[name]})
		}
		list = append(list, route{o, func(w http.ResponseWriter, req *http.Request) error {
			r.Handle(w, req)
			return nil
		}})
	}
	return list
}

// firecrawlRole returns the role that an operation of Firecrawl's API needs: who may read may get pages, and see what
// others have the daemon crawl.
func firecrawlRole(method, path string) users.Role {
	begins := method == http.MethodPost && (strings.HasSuffix(path, "/crawl") || strings.HasSuffix(path, "/batch/scrape"))
	if begins || method == http.MethodDelete && !strings.HasSuffix(path, "/errors") {
		return users.Write
	}
	return users.Read
}

// mcpOperations are the paths of the Model Context Protocol over HTTP. Their handler writes its own errors.
func mcpOperations(h http.Handler) []route {
	message := reflect.TypeFor[map[string]any]()
	handle := func(w http.ResponseWriter, r *http.Request) error {
		h.ServeHTTP(w, r)
		return nil
	}
	return []route{
		{&api.Operation{
			Role: users.Read, ID: "callMCP", Method: http.MethodPost, Path: guard.MCPPath,
			Summary: "Model Context Protocol, streamable HTTP",
			Body:    message, Result: message, Limit: api.MaxMCP,
		}, handle},
		{&api.Operation{
			Role: users.Read, ID: "readMCPCard", Method: http.MethodGet, Path: guard.MCPPath + "/server-card",
			Summary: "what clients of the Model Context Protocol may know before they connect (SEP-2127)",
			Result:  message,
		}, handle},
	}
}

// refuse writes err as a problem document, or in Firecrawl's form on the paths of its API.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, err error) {
	if s.o.Firecrawl == nil || !firecrawl.Owns(r.URL.Path) {
		api.Refuse(w, err)
		return
	}
	e := api.AsError(err)
	firecrawl.Refuse(w, e.Status, e.Detail)
}
