package ui

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/readthru/readthru/api"
)

// mountSystem adds the room of the program itself to the dashboard: its figures, settings and log, and what can be done
// about the cache and the authority.
func (d *dashboard) mountSystem(mux *http.ServeMux) {
	mux.HandleFunc("GET /system", d.system)
	for action, do := range map[string]func(*http.Request) error{
		"purge": func(r *http.Request) error {
			_, err := d.o.Client.ClearCache(r.Context())
			return err
		},
		"sweep": func(r *http.Request) error {
			_, err := d.o.Client.SweepCache(r.Context())
			return err
		},
		"renew": func(r *http.Request) error {
			_, err := d.o.Client.RenewAuthority(r.Context())
			return err
		},
	} {
		mux.HandleFunc("POST /system/"+action, d.form("/system", func(w http.ResponseWriter, r *http.Request) error {
			if err := do(r); err != nil {
				return err
			}
			return done(w, "/system", action)
		}))
	}
}

// systemData is what the template of the room of the program shows.
type systemData struct {
	*api.System
	Stats *api.Stats
	Jobs  []api.Job
	Days  int  // until the authority expires
	All   bool // all settings, not only those that differ from the defaults
	Set   int  // settings that are left out
	Done  string
	Token string
}

// system shows how the program is configured and what it keeps. Settings at their defaults are left out unless the
// request wants all.
func (d *dashboard) system(w http.ResponseWriter, r *http.Request) {
	ctx, q := r.Context(), r.URL.Query()
	data := systemData{Done: doneTexts[q.Get("done")], Token: d.token, All: q.Get("all") != ""}
	var err error
	if data.System, err = d.o.Client.System(ctx); err != nil {
		d.fail(w, r, "/system", err)
		return
	}
	if data.Stats, err = d.o.Client.Stats(ctx); err != nil {
		d.fail(w, r, "/system", err)
		return
	}
	jobs, err := d.o.Client.Jobs(ctx)
	if err != nil {
		d.fail(w, r, "/system", err)
		return
	}
	data.Jobs = jobs.Jobs
	if data.Authority != nil {
		data.Days = int(time.Until(data.Authority.Until).Hours() / 24)
	}
	if !data.All {
		whole := len(data.Settings)
		data.Settings = slices.DeleteFunc(data.Settings, func(s api.Setting) bool {
			return strings.HasPrefix(s.Source, "default")
		})
		data.Set = whole - len(data.Settings)
	}
	slices.Reverse(data.Log) // the newest first
	d.show(w, r, http.StatusOK, "system", view{Title: "System", At: "/system", Data: data})
}

// valueText writes the value of a setting: a list with commas, a rule in brackets, and "none" for what is empty.
func valueText(v any) string {
	var parts []string
	switch v := v.(type) {
	case nil:
	case []any:
		for _, item := range v {
			parts = append(parts, valueText(item))
		}
	case map[string]any:
		return strings.TrimPrefix(fmt.Sprint(v), "map") // fmt writes map[host:a.test ttl:1h], by key
	default:
		parts = []string{fmt.Sprint(v)}
	}
	return cmp.Or(strings.Join(parts, ", "), "none")
}
