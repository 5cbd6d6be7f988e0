package api

import (
	"maps"
	"net/http"
	"slices"

	"readthru/firecrawl"
)

// firecrawlRoutes are the paths at which a client of Firecrawl finds what it knows. Their handlers write their own
// failures.
func firecrawlRoutes(f *firecrawl.Service) []route {
	var list []route
	for _, r := range f.Routes() {
		var query []param
		for _, name := range slices.Sorted(maps.Keys(r.Query)) {
			query = append(query, param{name, r.Query[name]})
		}
		list = append(list, route{
			r.Method, r.Path, r.Summary, query, r.Body, r.Result, "",
			func(w http.ResponseWriter, req *http.Request) error {
				r.Handle(w, req)
				return nil
			},
		})
	}
	return list
}

// refuse writes err as a problem document, or in the form that the path's clients read.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, err error) {
	if s.o.Firecrawl == nil || !firecrawl.Owns(r.URL.Path) {
		refuse(w, err)
		return
	}
	e := asError(err)
	firecrawl.Refuse(w, e.Status, e.Detail)
}
