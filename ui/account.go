package ui

import (
	"net/http"

	"github.com/readthru/readthru/api"
)

// mountAccount adds the page of who is signed in.
func (d *dashboard) mountAccount(mux *http.ServeMux) {
	mux.HandleFunc("GET /account", d.account)
	mux.HandleFunc("POST /account/password", d.form("/account", d.setPassword))
}

// account shows who is signed in, with limits, tokens and what was used.
func (d *dashboard) account(w http.ResponseWriter, r *http.Request) {
	a, err := d.o.Client.Account(r.Context())
	var data userData
	if err == nil && a.User != nil {
		data, err = d.userOf(r, a.User)
	}
	if err != nil {
		d.fail(w, r, "/account", err)
		return
	}
	d.show(w, r, http.StatusOK, "account", view{Title: "Account", At: "/account", Data: data})
}

// setPassword sets the password of who is signed in, which signs all their browsers out, this one too.
func (d *dashboard) setPassword(w http.ResponseWriter, r *http.Request) error {
	form := r.PostForm
	if form.Get("password") != form.Get("again") {
		return api.Problem(http.StatusBadRequest, "the two passwords are not the same, so that none was set")
	}
	_, err := d.o.Client.SetPassword(r.Context(), api.NewPassword{
		Current: form.Get("current"), Password: form.Get("password"),
	})
	return doneUnless(err, w, "/account", "")
}
