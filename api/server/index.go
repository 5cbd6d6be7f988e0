package server

import (
	"html/template"
	"net/http"
	"strings"

	"github.com/readthru/readthru/api"
)

// indexPage lists the paths. It has no script and no style: the content policy allows neither inline.
var indexPage = template.Must(template.New("index").Parse(`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>readthru</title></head>
<body>
<h1>readthru {{.Version}}</h1>
<p>A caching forward proxy for agents. Its proxy listens on {{.Proxy}}.</p>
<p><a href="/">Dashboard</a> · <a href="/openapi.json">openapi.json</a></p>
<table>
<thead><tr><th>method</th><th>path</th><th>answers</th></tr></thead>
<tbody>
{{range .Routes}}<tr><td>{{.Method}}</td>
<td>{{if .Link}}<a href="{{.Path}}">{{.Path}}</a>{{else}}{{.Path}}{{end}}</td>
<td>{{.Summary}}</td></tr>
{{end}}</tbody>
</table>
</body>
</html>
`))

// serveIndex answers with a page that lists all paths of the API, and links those that a browser can just follow.
func (s *Server) serveIndex(w http.ResponseWriter, _ *http.Request, _ api.None) error {
	type row struct {
		Method, Path, Summary string
		Link                  bool
	}
	var rows []row
	for _, o := range s.table {
		plain := o.Method == http.MethodGet && len(o.Query) == 0 && !strings.Contains(o.Path, "{") &&
			o.Media != "application/octet-stream" && o.Path != "/api/v1/lease" && o.Path != "/api/v1/events"
		rows = append(rows, row{o.Method, o.Path, o.Summary, plain})
	}
	at := "no address"
	if s.o.Proxy != nil {
		at = s.o.Proxy()
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	return indexPage.Execute(w, map[string]any{"Version": s.o.Version, "Proxy": at, "Routes": rows})
}
