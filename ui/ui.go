// Package ui is the dashboard: pages for people, on the admin port.
//
// It shows what the operations of package api answer, which it asks as any client does, and nothing that they do not.
// Its pages are complete without scripts; the one script refreshes what is marked as live when the stream of events
// tells of requests, and adds keys. Everything a page loads comes from the admin port. What origins wrote is escaped by
// html/template and isolated from the text around it.
//
// A request takes this way: [New] finds the handler of the room; the handler asks the API for what the room shows and
// fills the data of its template; show writes the page, or fail the API's error in words. live (refresh.go) stands
// before the handlers of rooms that fetch themselves again, so that many open windows cost one page.
package ui

import (
	"bytes"
	"crypto/rand"
	"embed"
	"errors"
	"html/template"
	"io/fs"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/internal/users"
)

// Options configures a dashboard. All fields but Log are required.
type Options struct {
	Client   *api.Client
	Version  string
	Instance string // changes with each start of the daemon
	Proxy    func() string
	// Authority is the file of the certificate that clients trust.
	Authority string
	Log       *slog.Logger // if nil nothing is logged
}

//go:embed templates
var templates embed.FS

//go:embed assets
var assets embed.FS

// A dashboard answers with pages for people. Its handlers are methods in the file of their room.
type dashboard struct {
	o     Options
	pages map[string]*template.Template
	token string // of forms: of this run of the program
	shots shots

	refreshes refreshes
}

// A room is a page of the navigation of the dashboard. Users with lesser roles do not see it.
type room struct {
	Path, Name string
	Role       users.Role
}

var rooms = []room{
	{"/", "Now", users.Read},
	{"/requests", "Requests", users.Read},
	{"/pages", "Pages", users.Read},
	{"/search", "Search", users.Read},
	{"/bases", "Bases", users.Read},
	{"/notes", "Notes", users.Read},
	{"/sites", "Sites", users.Read},
	{"/left", "Left this machine", users.Admin},
	{"/sessions", "Sessions", users.Read},
	{"/users", "Users", users.Admin},
	{"/system", "System", users.Admin},
}

// New returns the dashboard's paths. The caller decides who may ask: nothing here asks for a password. It panics if a
// template is wrong, which a test of any page shows.
func New(o Options) *http.ServeMux {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	d := &dashboard{o: o, pages: map[string]*template.Template{}, token: rand.Text()}
	// Each page has the base and the parts that several pages share; templates of one page cannot see those of another.
	base := template.Must(template.New("").Funcs(functions).ParseFS(templates, "templates/base.html",
		"templates/rows.html", "templates/charts.html", "templates/job.html", "templates/siteparts.html",
		"templates/userparts.html", "templates/fewer.html"))
	for _, name := range []string{
		"now", "requests", "request", "problem", "api",
		"pages", "page",
		"search", "quote", "passage",
		"bases", "kb", "notes",
		"sites", "site",
		"left",
		"sessions", "session",
		"users", "user", "acts", "token", "account",
		"system",
	} {
		d.pages[name] = template.Must(template.Must(base.Clone()).ParseFS(templates, "templates/"+name+".html"))
	}
	files, err := fs.Sub(assets, "assets")
	if err != nil {
		panic("ui: " + err.Error()) // the folder is embedded
	}
	mux := http.NewServeMux()
	mux.Handle("GET /assets/", cached(http.StripPrefix("/assets/", http.FileServerFS(files))))
	mux.HandleFunc("GET /{$}", d.live(d.now))
	mux.HandleFunc("GET /", d.missing)
	mux.HandleFunc("GET /api", d.operations)
	mux.HandleFunc("GET /requests", d.live(d.requests))
	mux.HandleFunc("GET /requests/{id}", d.request)
	mux.HandleFunc("POST /requests/{id}/replay", d.form("/requests", d.replayRequest))
	mux.HandleFunc("POST /requests/{id}/hide", d.form("/requests", d.hideRequests))
	mux.HandleFunc("POST /requests/clear", d.form("/requests", d.clearRequests))
	mux.HandleFunc("POST /requests/views", d.form("/requests", d.saveView))
	mux.HandleFunc("POST /requests/views/remove", d.form("/requests", d.removeView))
	d.mountPages(mux)
	d.mountSearch(mux)
	d.mountBases(mux)
	d.mountNotes(mux)
	d.mountSites(mux)
	d.mountLeft(mux)
	d.mountSessions(mux)
	d.mountUsers(mux)
	d.mountAccount(mux)
	d.mountSystem(mux)
	return mux
}

// cached lets browsers keep the dashboard's style sheet and scripts for a day: a page names them with the run of the
// program in the query, so that a new program has new addresses. Without a query they are asked for again.
func cached(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.RawQuery != "" {
			w.Header().Set("Cache-Control", "private, max-age=86400, immutable")
		}
		next.ServeHTTP(w, r)
	})
}

// A view is what the template of every page of the dashboard has; Data is what its own template shows.
type view struct {
	Title    string
	Rooms    []room
	At       string // the path of the room
	Version  string
	Instance string
	Live     string // the stream that refreshes the page; empty: it stays as it is
	Poll     bool   // what it shows changes: a script fetches it again now and then
	Made     time.Time
	Data     any

	Who   string     // the name of the user who is signed in; empty: the operator
	Role  users.Role // of that user; pages have no form that it does not allow
	Token string     // of forms
}

// show writes the page of the dashboard whose template has a name. It is executed in memory first, so that a template
// that fails gives an error instead of half a page.
func (d *dashboard) show(w http.ResponseWriter, r *http.Request, status int, name string, v view) {
	v.Version, v.Instance, v.Made, v.Token = d.o.Version, d.o.Instance, time.Now(), d.token
	v.Role = roleOf(r)
	if who, _ := users.Of(r.Context()); who.User != nil {
		v.Who = who.Name()
	}
	for _, room := range rooms {
		if v.Role.Allows(room.Role) {
			v.Rooms = append(v.Rooms, room)
		}
	}
	var b bytes.Buffer
	if err := d.pages[name].ExecuteTemplate(&b, "base.html", v); err != nil {
		d.o.Log.Error("dashboard page", "page", name, "error", err)
		http.Error(w, "this page cannot be shown: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes()) // an error is a client that has gone
}

// roleOf returns the role of who asks. The operator may do everything.
func roleOf(r *http.Request) users.Role {
	if who, _ := users.Of(r.Context()); who.User != nil {
		return who.User.Role
	}
	return users.Admin
}

// fail writes a page of the dashboard about an error, in the room at a path, with the status of an error of the API.
func (d *dashboard) fail(w http.ResponseWriter, r *http.Request, at string, err error) {
	status := http.StatusInternalServerError
	if e, ok := errors.AsType[*api.Error](err); ok && e.Status >= http.StatusBadRequest {
		status = e.Status
	}
	d.show(w, r, status, "problem", view{Title: http.StatusText(status), At: at, Data: errorText(err)})
}

// missing writes the page for a path that the dashboard does not have.
func (d *dashboard) missing(w http.ResponseWriter, r *http.Request) {
	d.fail(w, r, "", api.NewError(http.StatusNotFound, api.CodeNotFound, "there is no page "+plain(r.URL.Path)))
}

// operations lists what programs can ask.
func (d *dashboard) operations(w http.ResponseWriter, r *http.Request) {
	d.show(w, r, http.StatusOK, "api", view{Title: "API", Data: api.Operations})
}

// plain replaces characters that control how text is laid out, such as those for right-to-left text: foreign text in
// the dashboard must not reorder what stands beside it. Templates escape HTML; they leave these.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r < ' ', r >= 0x7f && r < 0xa0, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069, r == 0x200e, r == 0x200f:
			return '\uFFFD'
		}
		return r
	}, text)
}
