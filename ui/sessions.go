package ui

import (
	"net/http"
	"slices"
	"strings"

	"github.com/readthru/readthru/api"
)

// mountSessions adds the room of sessions to the dashboard. Their names may be anything, so that they stand in queries,
// not in paths.
func (d *dashboard) mountSessions(mux *http.ServeMux) {
	mux.HandleFunc("GET /sessions", d.live(d.sessions))
	mux.HandleFunc("GET /session", d.session)
	mux.HandleFunc("POST /session/empty", d.form("/sessions", d.emptySession))
	mux.HandleFunc("POST /session/end", d.form("/sessions", d.endRecording))
}

// sessionsData is what the template of the list of sessions shows.
type sessionsData struct {
	Sessions []api.SessionSummary
	Done     string
}

// sessions shows the list of sessions, as it changes.
func (d *dashboard) sessions(w http.ResponseWriter, r *http.Request) {
	list, err := d.o.Client.Sessions(r.Context())
	if err != nil {
		d.fail(w, r, "/sessions", err)
		return
	}
	data := sessionsData{Sessions: list.Sessions, Done: doneTexts[r.URL.Query().Get("done")]}
	d.show(w, r, http.StatusOK, "sessions", view{
		Title: "Sessions", At: "/sessions", Data: data, Live: "/api/v1/events?limit=1",
	})
}

// sessionData is what the template of one session shows: its figures and the pages in its context.
type sessionData struct {
	api.SessionSummary
	Context *api.Context
	Filter  string // the filter that selects its requests
	Token   string
}

// session shows one session. There is no operation for a single one, so that it is looked up among all of them.
func (d *dashboard) session(w http.ResponseWriter, r *http.Request) {
	name := r.URL.Query().Get("name")
	list, err := d.o.Client.Sessions(r.Context())
	if err != nil {
		d.fail(w, r, "/sessions", err)
		return
	}
	i := slices.IndexFunc(list.Sessions, func(s api.SessionSummary) bool { return s.Session == name })
	if i < 0 {
		d.show(w, r, http.StatusNotFound, "problem", view{
			Title: "Not Found", At: "/sessions",
			Data: "This session had no request since the start of the daemon, and has fetched no page.",
		})
		return
	}
	data := sessionData{
		SessionSummary: list.Sessions[i], Token: d.token,
		// Filters have no quotes in a value.
		Filter: `session:"` + strings.ReplaceAll(name, `"`, "") + `"`,
	}
	if data.Context, err = d.o.Client.Context(r.Context(), name, ""); err != nil {
		d.fail(w, r, "/sessions", err)
		return
	}
	slices.Reverse(data.Context.Pages) // the newest first
	d.show(w, r, http.StatusOK, "session", view{Title: "Session " + plain(name), At: "/sessions", Data: data})
}

// emptySession forgets what a session has fetched, so that its context is empty. The pages stay in the store.
func (d *dashboard) emptySession(w http.ResponseWriter, r *http.Request) error {
	_, err := d.o.Client.ForgetAll(r.Context(), r.PostForm.Get("session"))
	return doneUnless(err, w, "/sessions", "emptied")
}

// endRecording ends the recording of a session, by a form.
func (d *dashboard) endRecording(w http.ResponseWriter, r *http.Request) error {
	return doneUnless(d.o.Client.EndRecording(r.Context(), r.PostForm.Get("session")), w, "/sessions", "ended")
}
