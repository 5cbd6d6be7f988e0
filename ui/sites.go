package ui

import (
	"net/http"
	"net/url"
	"slices"

	"github.com/readthru/readthru/api"
)

type sitesData struct {
	Filter string
	Done   string
	List   *api.SiteList
	Token  string
}

// mountSites adds the room of hosts.
func (d *dashboard) mountSites(mux *http.ServeMux) {
	mux.HandleFunc("GET /sites", d.sites)
	mux.HandleFunc("GET /sites/{host}", d.site)
	for action, do := range map[string]func(http.ResponseWriter, *http.Request) error{
		"rule": d.setRule, "unrule": d.unrule, "forget": d.forget,
	} {
		mux.HandleFunc("POST /sites/{host}/"+action, d.form("/sites", do))
	}
	mux.HandleFunc("POST /switches", d.form("/", d.setSwitch))
}

// sites lists hosts.
func (d *dashboard) sites(w http.ResponseWriter, r *http.Request) {
	data := sitesData{Filter: r.URL.Query().Get("q"), Done: doneTexts[r.URL.Query().Get("done")], Token: d.token}
	var err error
	if data.List, err = d.o.Client.Sites(r.Context(), api.SiteQuery{Text: data.Filter}); err != nil {
		d.fail(w, "/sites", err)
		return
	}
	d.show(w, http.StatusOK, "sites", view{Title: "Sites", At: "/sites", Data: data})
}

type siteData struct {
	*api.Site
	Done   string
	Robots *api.Robots // nil: not asked for
	Own    *api.Rule   // the rule of the store for this host; may be nil
	Now    api.RuleFields
	Token  string
	Link   string
}

// site shows one host.
func (d *dashboard) site(w http.ResponseWriter, r *http.Request) {
	s, err := d.o.Client.Site(r.Context(), r.PathValue("host"))
	if err != nil {
		d.fail(w, "/sites", err)
		return
	}
	data := siteData{
		Site: s, Done: doneTexts[r.URL.Query().Get("done")], Token: d.token, Link: "/sites/" + url.PathEscape(s.Host),
	}
	own := func(r api.Rule) bool { return r.Source == "store" && r.Host == s.Host && r.Path == "" }
	if i := slices.IndexFunc(s.Rules, own); i >= 0 {
		data.Own = &s.Rules[i]
	}
	data.Now = ruleNow(s)
	if r.URL.Query().Get("robots") != "" {
		if data.Robots, err = d.o.Client.Robots(r.Context(), "https://"+s.Host+"/"); err != nil {
			d.fail(w, "/sites", err)
			return
		}
	}
	d.show(w, http.StatusOK, "site", view{Title: plain(s.Host), At: "/sites", Data: data})
}

// ruleNow is what the rule that applies to a host says: a change of it keeps the rest.
func ruleNow(s *api.Site) api.RuleFields {
	for _, r := range s.Rules {
		if r.Path == "" {
			r.Cascade = nil // of the file alone
			return r.RuleFields
		}
	}
	return api.RuleFields{}
}

// setRule makes a rule for a host out of the one that applies and what the form says.
func (d *dashboard) setRule(w http.ResponseWriter, r *http.Request) error {
	s, err := d.o.Client.Site(r.Context(), r.PathValue("host"))
	if err != nil {
		return err
	}
	rule := ruleNow(s)
	rule.Host, rule.Path = s.Host, ""
	if r.PostForm.Has("action") {
		rule.Action = r.PostForm.Get("action")
	}
	if r.PostForm.Has("ttl") {
		rule.TTL = r.PostForm.Get("ttl")
	}
	if _, err := d.o.Client.AddRule(r.Context(), rule); err != nil {
		return err
	}
	return done(w, "/sites/"+url.PathEscape(s.Host), "ruled")
}

// unrule removes a rule of the store.
func (d *dashboard) unrule(w http.ResponseWriter, r *http.Request) error {
	if _, err := d.o.Client.DeleteRule(r.Context(), r.PostForm.Get("rule")); err != nil {
		return err
	}
	return done(w, "/sites/"+url.PathEscape(r.PathValue("host")), "unruled")
}

// forget forgets what was learnt about a host.
func (d *dashboard) forget(w http.ResponseWriter, r *http.Request) error {
	if _, err := d.o.Client.ForgetHost(r.Context(), r.PathValue("host")); err != nil {
		return err
	}
	return done(w, "/sites/"+url.PathEscape(r.PathValue("host")), "forgotten")
}

// setSwitch pauses the proxy, has it ask nobody, or ends that.
func (d *dashboard) setSwitch(w http.ResponseWriter, r *http.Request) error {
	var change api.SwitchChange
	for name, of := range map[string]**bool{"paused": &change.Paused, "offline": &change.Offline} {
		if r.PostForm.Has(name) {
			*of = new(r.PostForm.Get(name) == "1")
		}
	}
	if _, err := d.o.Client.Switch(r.Context(), change); err != nil {
		return err
	}
	return done(w, "/", "")
}
