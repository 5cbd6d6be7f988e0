package api

import (
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/readthru/readthru/api/firecrawl"
	"github.com/readthru/readthru/internal/users"
)

// firecrawlOperations are the paths of Firecrawl's API. Their handlers write their own errors.
func firecrawlOperations(f *firecrawl.Service) []route {
	var list []route
	for _, r := range f.Routes() {
		o := &operation{
			role: firecrawlRole(r.Method, r.Path), id: r.ID, method: r.Method, path: r.Path, summary: r.Summary,
			body: reflect.TypeOf(r.Body), result: reflect.TypeOf(r.Result), limit: maxRequest,
		}
		if strings.HasSuffix(r.Path, "/batch/scrape") {
			o.limit = maxMCP
		}
		for _, name := range slices.Sorted(maps.Keys(r.Query)) {
			o.query = append(o.query, param{name: name, about: r.Query[name]})
		}
		list = append(list, route{o, func(_ *Server, w http.ResponseWriter, req *http.Request) error {
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

// mcpOperation is the path of the Model Context Protocol over HTTP. Its handler writes its own errors.
func mcpOperation(h http.Handler) route {
	message := reflect.TypeFor[map[string]any]()
	o := &operation{
		role: users.Read, id: "callMCP", method: http.MethodPost, path: mcpPath,
		summary: "Model Context Protocol, streamable HTTP",
		body:    message, result: message, limit: maxMCP,
	}
	return route{o, func(_ *Server, w http.ResponseWriter, r *http.Request) error {
		h.ServeHTTP(w, r)
		return nil
	}}
}

// refuse writes err as a problem document, or in Firecrawl's form on the paths of its API.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, err error) {
	if s.o.Firecrawl == nil || !firecrawl.Owns(r.URL.Path) {
		refuse(w, err)
		return
	}
	e := asError(err)
	firecrawl.Refuse(w, e.Status, e.Detail)
}
