package ui

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/internal/users"
)

// sitesData is what the template of the list of hosts shows.
type sitesData struct {
	Filter string
	Done   string
	Apart  []*siteRow // treated differently
	Others []*siteRow
	More   bool // some are left out
	Rules  []api.Rule
	Token  string
}

// siteRow is a host in the list of hosts, with the token of the forms in its row, and the role of who looks at it.
type siteRow struct {
	api.Site
	Token string
	Role  users.Role
}

// Own returns the rule of the store for this host and all its paths, which a form can change, or nil.
func (s siteRow) Own() *api.Rule { return ownRule(&s.Site) }

// Closed reports whether a rule to intercept changes something for a host: its connections are tunnelled or refused.
func (s siteRow) Closed() bool {
	return s.Exception == api.SiteTunnelled || s.Exception == api.SiteBlocked && s.Treatment == "block"
}

// Class is the CSS class of the tag that names the exception of a host, for its colour: the same as of the requests'
// outcomes.
func (s siteRow) Class() string {
	return map[string]string{
		api.SiteBlocked: "o-refused", api.SiteTunnelled: "o-tunnel", api.SiteFailing: "o-failed",
	}[s.Exception]
}

// Reason says why a host is treated as it is, in words for the list. What is done with all hosts is not said.
func (s siteRow) Reason() string {
	switch {
	case s.Why != "" && s.Why != "default" && s.Why != "rule": // which stands beside it
		return whyText(s.Why)
	case s.Tunnels > 0:
		return strconv.Itoa(s.Tunnels) + " tunnelled lately"
	case s.Failed > 0:
		return strconv.Itoa(s.Failed) + " failed lately"
	}
	return ""
}

// mountSites adds the room of hosts to the dashboard, with the forms for rules, and the switches of the first page.
func (d *dashboard) mountSites(mux *http.ServeMux) {
	mux.HandleFunc("GET /sites", d.sites)
	mux.HandleFunc("GET /sites/{host}", d.site)
	for action, do := range map[string]func(http.ResponseWriter, *http.Request) error{
		"rule": d.setRule, "forget": d.forget, "remove": d.removeSite,
	} {
		mux.HandleFunc("POST /sites/{host}/"+action, d.form("/sites", do))
	}
	mux.HandleFunc("POST /sites/rules", d.form("/sites", d.addRule))
	mux.HandleFunc("POST /sites/unrule", d.form("/sites", d.unrule))
	mux.HandleFunc("POST /switches", d.form("/", d.setSwitch))
}

// sites shows the list of hosts, those first that are treated differently, and all rules.
func (d *dashboard) sites(w http.ResponseWriter, r *http.Request) {
	data := sitesData{Filter: r.URL.Query().Get("q"), Done: doneTexts[r.URL.Query().Get("done")], Token: d.token}
	list, err := d.o.Client.Sites(r.Context(), api.SiteQuery{Text: data.Filter})
	if err != nil {
		d.fail(w, r, "/sites", err)
		return
	}
	rules, err := d.o.Client.Rules(r.Context(), api.RuleQuery{})
	if err != nil {
		d.fail(w, r, "/sites", err)
		return
	}
	data.More, data.Rules = list.More, rules.Rules
	for _, s := range list.Sites {
		row := &siteRow{s, d.token, roleOf(r)}
		if s.Exception != "" {
			data.Apart = append(data.Apart, row)
		} else {
			data.Others = append(data.Others, row)
		}
	}
	d.show(w, r, http.StatusOK, "sites", view{Title: "Sites", At: "/sites", Data: data})
}

// siteData is what the template of one host shows.
type siteData struct {
	siteRow
	Done   string
	Robots *api.Robots // nil: not asked for
	Now    api.RuleFields
	Link   string
}

// site shows one host: how it is treated, what was learnt of it, its rules. robots.txt is asked for only if the reader
// wants it, since that is a request to the host.
func (d *dashboard) site(w http.ResponseWriter, r *http.Request) {
	s, err := d.o.Client.Site(r.Context(), r.PathValue("host"))
	if err != nil {
		d.fail(w, r, "/sites", err)
		return
	}
	data := siteData{
		siteRow: siteRow{*s, d.token, roleOf(r)}, Done: doneTexts[r.URL.Query().Get("done")],
		Link: "/sites/" + url.PathEscape(s.Host), Now: ruleNow(s),
	}
	if r.URL.Query().Get("robots") != "" {
		if data.Robots, err = d.o.Client.Robots(r.Context(), "https://"+s.Host+"/"); err != nil {
			d.fail(w, r, "/sites", err)
			return
		}
	}
	d.show(w, r, http.StatusOK, "site", view{Title: plain(s.Host), At: "/sites", Data: data})
}

// ownRule returns the rule of the store for a host and all its paths, or nil. Rules of the file are not the dashboard's
// to change.
func ownRule(s *api.Site) *api.Rule {
	own := func(r api.Rule) bool { return r.Source == "store" && strings.EqualFold(r.Host, s.Host) && r.Path == "" }
	if i := slices.IndexFunc(s.Rules, own); i >= 0 {
		return &s.Rules[i]
	}
	return nil
}

// ruleNow is what the rule that applies to a host says, for the form: a change of one value keeps the rest. The rules
// come in the order of precedence.
func ruleNow(s *api.Site) api.RuleFields {
	for _, r := range s.Rules {
		if r.Path == "" {
			return r.RuleFields
		}
	}
	return api.RuleFields{}
}

// actions are what a rule can have done with a host.
var actions = []string{"intercept", "tunnel", "block"}

// setRule changes what is done with a host by a rule of the store, made of the one that applies and what the form says:
// a form may have a part of the values.
func (d *dashboard) setRule(w http.ResponseWriter, r *http.Request) error {
	s, err := d.o.Client.Site(r.Context(), r.PathValue("host"))
	if err != nil {
		return err
	}
	form, what, enough := r.PostForm, "", false
	action := form.Get("action")
	if own := ownRule(s); own != nil && own.Action != "" && own.Action != action && slices.Contains(actions, action) {
		if s, what, err = d.withoutAction(r.Context(), s, own); err != nil {
			return err
		}
		enough = s.Treatment == action
	}
	rule := ruleNow(s)
	rule.Host, rule.Path = s.Host, ""
	for field, value := range map[string]*string{"action": &rule.Action, "ttl": &rule.TTL, "log": &rule.Log} {
		if form.Has(field) {
			*value = form.Get(field)
		}
	}
	if !enough {
		if what, err = d.putRule(r.Context(), s, rule); err != nil {
			return err
		}
	}
	if form.Get("back") == "list" {
		return done(w, "/sites", what)
	}
	return done(w, "/sites/"+url.PathEscape(s.Host), what)
}

// withoutAction takes the action from a host's own rule, and returns how the host is treated then, and what was done:
// without the rule it may be treated as is asked for, and needs none.
func (d *dashboard) withoutAction(ctx context.Context, s *api.Site, own *api.Rule) (*api.Site, string, error) {
	rest := own.RuleFields
	rest.Action = ""
	what, err := d.putRule(ctx, s, rest)
	if err != nil {
		return nil, "", err
	}
	s, err = d.o.Client.Site(ctx, s.Host)
	return s, what, err
}

// putRule keeps a rule for a host, or removes the host's own one if the rule says nothing. It returns what was done.
func (d *dashboard) putRule(ctx context.Context, s *api.Site, rule api.RuleFields) (what string, err error) {
	if own := ownRule(s); own != nil && rule.Says() == "" {
		_, err = d.o.Client.DeleteRule(ctx, own.ID)
		return "unruled", err
	}
	_, err = d.o.Client.AddRule(ctx, rule)
	return "ruled", err
}

// addRule makes a rule of the store for the hosts and paths that a form names, which may be patterns.
func (d *dashboard) addRule(w http.ResponseWriter, r *http.Request) error {
	form := r.PostForm
	host, path := strings.TrimSpace(form.Get("host")), strings.TrimSpace(form.Get("path"))
	rule := api.RuleFields{Host: cmp.Or(host, "*"), Path: path, Action: form.Get("action"), Log: form.Get("log")}
	if host == "" && path == "" {
		return api.Problem(http.StatusBadRequest, "the rule would be for everything: name a host or a path")
	}
	_, err := d.o.Client.AddRule(r.Context(), rule)
	return doneUnless(err, w, "/sites", "ruled")
}

// unrule removes a rule of the store.
func (d *dashboard) unrule(w http.ResponseWriter, r *http.Request) error {
	_, err := d.o.Client.DeleteRule(r.Context(), r.PostForm.Get("rule"))
	return doneUnless(err, w, "/sites", "unruled")
}

// forget forgets what was learnt about a host, such as that it rejects our certificate or needs a browser.
func (d *dashboard) forget(w http.ResponseWriter, r *http.Request) error {
	_, err := d.o.Client.ForgetHost(r.Context(), r.PathValue("host"))
	return doneUnless(err, w, "/sites/"+url.PathEscape(r.PathValue("host")), "forgotten")
}

// removeSite removes all that is kept of a host: pages, responses and what was learnt.
func (d *dashboard) removeSite(w http.ResponseWriter, r *http.Request) error {
	_, err := d.o.Client.RemoveSite(r.Context(), r.PathValue("host"), false)
	return doneUnless(err, w, "/sites", "hostgone")
}

// setSwitch pauses the proxy, has it ask nobody (offline), or ends that, by a form of the first page. A switch that the
// form does not name stays.
func (d *dashboard) setSwitch(w http.ResponseWriter, r *http.Request) error {
	var change api.SwitchChange
	for name, of := range map[string]**bool{"paused": &change.Paused, "offline": &change.Offline} {
		if r.PostForm.Has(name) {
			*of = new(r.PostForm.Get(name) == "1")
		}
	}
	_, err := d.o.Client.Switch(r.Context(), change)
	return doneUnless(err, w, "/", "")
}
