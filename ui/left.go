package ui

import (
	"net/http"
	"net/url"

	"github.com/readthru/readthru/api"
)

// mountLeft adds the room of what left this machine to the dashboard: which third parties are asked, and what they were
// sent.
func (d *dashboard) mountLeft(mux *http.ServeMux) {
	mux.HandleFunc("GET /left", d.left)
	mux.HandleFunc("POST /left", d.form("/left", d.switchService))
}

// ledgerLines is how much of the ledger of disclosures a page shows.
const ledgerLines = 50

// leftData is what the template of the room of what left this machine shows.
type leftData struct {
	*api.Leaving
	Ledger *api.DisclosureList
	Next   string
	Later  bool // the ledger begins with older ones
	Done   string
	Token  string
}

// left shows which services may be asked and what was sent to them, from a cursor of the ledger on.
func (d *dashboard) left(w http.ResponseWriter, r *http.Request) {
	cursor := r.URL.Query().Get("cursor")
	data := leftData{Done: doneTexts[r.URL.Query().Get("done")], Token: d.token, Later: cursor != ""}
	var err error
	if data.Leaving, err = d.o.Client.Leaving(r.Context()); err != nil {
		d.fail(w, r, "/left", err)
		return
	}
	if data.Ledger, err = d.o.Client.Disclosures(r.Context(), cursor, ledgerLines); err != nil {
		d.fail(w, r, "/left", err)
		return
	}
	if data.Ledger.Next != "" {
		data.Next = "/left?" + url.Values{"cursor": {data.Ledger.Next}}.Encode()
	}
	d.show(w, r, http.StatusOK, "left", view{Title: "Left this machine", At: "/left", Data: data})
}

// switchService switches a service of a third party off, or on again, by a form. It acts at once and outlasts the
// daemon.
func (d *dashboard) switchService(w http.ResponseWriter, r *http.Request) error {
	to := api.ServiceSwitch{Service: r.PostForm.Get("service"), Off: r.PostForm.Get("off") == "1"}
	if _, err := d.o.Client.SwitchService(r.Context(), to); err != nil {
		return err
	}
	if to.Off {
		return done(w, "/left", "off")
	}
	return done(w, "/left", "on")
}
