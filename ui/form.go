package ui

import (
	"context"
	"crypto/subtle"
	"errors"
	"net/http"
	"strings"

	"github.com/readthru/readthru/api"
)

// maxForm is the longest form that the dashboard reads, in bytes, but for a form with a file.
const maxForm = 1 << 20

// form returns a handler for a form of the dashboard's pages, in the room at a path. do does what the form asks for,
// with r.PostForm read, and leads to a page by done; its error becomes a page. The admin port has seen that one of our
// pages sent the form (its origin is ours); the token shows that it was a page of this run of the program, made for
// somebody who is signed in.
func (d *dashboard) form(at string, do func(http.ResponseWriter, *http.Request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, maxForm)
		if err := r.ParseForm(); err != nil {
			d.show(w, r, http.StatusBadRequest, "problem", view{
				Title: "Form not read", At: at, Data: "The form could not be read: " + err.Error(),
			})
			return
		}
		if !d.ours(r.PostForm.Get("token")) {
			d.old(w, r, at)
			return
		}
		// What it asks for may end the context of the request: who sets a password is signed out by it.
		if err := do(w, r.WithContext(context.WithoutCancel(r.Context()))); err != nil {
			d.fail(w, r, at, err)
		}
	}
}

// ours reports whether a form's token is that of this run of the program. It takes the same time for every token that
// is wrong.
func (d *dashboard) ours(token string) bool {
	return subtle.ConstantTimeCompare([]byte(token), []byte(d.token)) == 1
}

// old shows a page that says that a form is of an earlier run of the program, and that nothing was done.
func (d *dashboard) old(w http.ResponseWriter, r *http.Request, at string) {
	d.show(w, r, http.StatusForbidden, "problem", view{
		Title: "Old page", At: at,
		Data: "The daemon was started again since this page was made, so nothing was done. Go back, reload the page, and " +
			"do it again.",
	})
}

// done leads from a form to a page that says what was done: to is its path, and what a key of doneTexts. Status 303
// makes the browser GET that page, so that it does not send the form again when it is reloaded (RFC 9110, section
// 15.4.4). It never fails; the error is for the callers' return.
func done(w http.ResponseWriter, to, what string) error {
	if what != "" {
		sign := "?"
		if strings.Contains(to, sign) {
			sign = "&"
		}
		to += sign + "done=" + what
	}
	w.Header().Set("Location", to)
	w.WriteHeader(http.StatusSeeOther)
	return nil
}

// doneUnless is done for a change that may have failed: err says why.
func doneUnless(err error, w http.ResponseWriter, to, what string) error {
	if err != nil {
		return err
	}
	return done(w, to, what)
}

// doneTexts are what pages of the dashboard say was done, by the parameter done of their addresses. A link from
// elsewhere to one of our pages can make it say nothing else.
var doneTexts = map[string]string{
	"ruled": "The rule is in effect.", "unruled": "The rule was removed.", "forgotten": "What was learnt is forgotten.",
	"hostgone": "All that was kept of the host is removed.",
	"noted":    "The note is kept.", "unnoted": "The note is deleted.",
	"saved": "The view is saved.", "unsaved": "The view is removed. The requests stay.",
	"untold": "The requests are forgotten.", "replayed": "This request was sent again just now.",
	"unlisted": "Such requests are counted from now on, but not listed.",
	"off":      "The service is switched off: nothing is sent to it.", "on": "The service is switched on again.",
	"emptied": "What the session has fetched is forgotten. The pages stay.", "ended": "The recording has ended.",
	"purge": "The cache was cleared.", "sweep": "What has expired is removed.",
	"renew":   "A new authority signs from now on: have clients trust it.",
	"fetched": "Fetched again from its origin.", "rendered": "Rendered in a browser.",
	"converted": "Converted again from what is stored.",
	"deleted":   "The page was deleted.",
	"added":     "Added to the base.", "created": "The base was created, and is being filled.",
	"refreshed": "The base is being filled again.", "cancelled": "The job was cancelled.",
	"gone": "The base was deleted.", "changed": "The user is changed.", "removed": "The user is removed.",
	"disabled": "The user is disabled: they and their agents are out.", "enabled": "The user is enabled again.",
	"revoked": "The token is revoked.", "unpassworded": "The password is taken away, and its browsers are signed out.",
	"imported": "The base was imported.",
}

// errorText returns what the dashboard says about an operation that failed: of an error of the API only the detail, as
// its status stands in the title.
func errorText(err error) string {
	if e, ok := errors.AsType[*api.Error](err); ok {
		return e.Detail
	}
	return err.Error()
}
