package ui

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/internal/clip"
	"github.com/readthru/readthru/internal/journal"
	"github.com/readthru/readthru/page"
)

// perPage is how many requests of the journal a page of the dashboard lists.
const perPage = 50

// A chip is a link above the list of requests that shows a part of them: a view or a time.
type chip struct {
	Name string
	Link string
	On   bool // it is what is shown
}

// spansOfRequests are the times of requests that are often wanted, as terms of a filter.
var spansOfRequests = []struct{ name, terms string }{
	{"any time", ""},
	{"last hour", "since:1h"},
	{"last 24 hours", "since:24h"},
	{"last 7 days", "since:7d"},
}

// linkTo returns the address of the list of requests that a filter matches, all of them without one.
func linkTo(filter string) string {
	if filter == "" {
		return "/requests"
	}
	return "/requests?" + url.Values{"q": {filter}}.Encode()
}

// chipsOf returns links to views, which keep the time of the present filter, and to times, which keep the rest of it. A
// view whose own filter names a time replaces the present one. own is the view of the reader's own that is shown, or
// nil: only such a view can be removed.
func chipsOf(filter string, list []api.RequestView) (views, times []chip, own *api.RequestView) {
	rest, within := journal.InTime(filter)
	views = []chip{{Name: "all", Link: linkTo(within), On: rest == ""}}
	for i, v := range list {
		of, when := journal.InTime(v.Filter)
		c := chip{Name: v.Name, Link: linkTo(v.Filter)}
		if when != "" {
			c.On = v.Filter == filter
		} else {
			c.Link, c.On = linkTo(strings.TrimSpace(of+" "+within)), of == rest
		}
		if c.On && v.ID != "" {
			own = &list[i]
		}
		views = append(views, c)
	}
	for _, t := range spansOfRequests {
		terms := strings.TrimSpace(rest + " " + t.terms)
		times = append(times, chip{Name: t.name, Link: linkTo(terms), On: within == t.terms})
	}
	return views, times, own
}

// requestsData is what the template of the list of requests shows.
type requestsData struct {
	Views    []chip
	Times    []chip
	Own      *api.RequestView // that is shown and can be removed
	New      bool             // what is shown can be saved as a view
	Filter   string
	Problem  string // of the filter
	Help     string
	Requests []journal.Entry
	Next     string // the link to older ones
	Older    bool   // the page shows older ones
	Instead  *chip  // a filter that finds some, where this one finds none
	Damage   []string
	Done     string
	Token    string
	HAR      string
	JSONL    string
}

// requests shows the list of requests that a filter matches, from a cursor on. A filter that is wrong is shown with
// what is wrong in it, and no requests. Only the newest requests are refreshed by scripts, because the others do not
// change.
func (d *dashboard) requests(w http.ResponseWriter, r *http.Request) {
	filter, cursor := r.URL.Query().Get("q"), r.URL.Query().Get("cursor")
	data := requestsData{
		Filter: filter, Help: journal.FilterHelp, Older: cursor != "", Token: d.token,
		Done: doneTexts[r.URL.Query().Get("done")],
	}
	saved, err := d.o.Client.Views(r.Context())
	if err != nil {
		d.fail(w, r, "/requests", err)
		return
	}
	data.Views, data.Times, data.Own = chipsOf(filter, saved.Views)
	shown := slices.IndexFunc(data.Views, func(c chip) bool { return c.On })
	query := url.Values{"q": {filter}}
	status := http.StatusOK
	list, err := d.o.Client.Requests(r.Context(), api.RequestQuery{Filter: filter, Cursor: cursor, Limit: perPage})
	switch {
	case api.CodeOf(err) == api.CodeInvalid:
		data.Problem, status = err.Error(), http.StatusBadRequest
	case err != nil:
		d.fail(w, r, "/requests", err)
		return
	default:
		data.Requests, data.Damage = list.Requests, list.Warnings
		if list.Next != "" {
			data.Next = "/requests?" + url.Values{"q": {filter}, "cursor": {list.Next}}.Encode()
		}
		if list.Instead != "" {
			data.Instead = &chip{Name: list.Instead, Link: linkTo(list.Instead)}
		}
		data.HAR = "/api/v1/requests/export?format=har&" + query.Encode()
		data.JSONL = "/api/v1/requests/export?format=jsonl&" + query.Encode()
	}
	title := "Requests"
	if shown > 0 {
		title = "Requests: " + plain(data.Views[shown].Name)
	}
	// A view is a filter that the reader has seen to work, and that has no name yet.
	data.New = data.Problem == "" && shown < 0
	v := view{Title: title, At: "/requests", Data: data}
	if data.Problem == "" && cursor == "" {
		v.Live = "/api/v1/events?limit=1&" + query.Encode()
	}
	d.show(w, r, status, "requests", v)
}

// requestData is what the template of one request shows.
type requestData struct {
	*journal.Entry
	Curl     string
	Host     string
	Gone     bool   // the page that was answered is no longer stored
	Text     string // how that page begins
	Kept     int    // how many versions of it are stored
	Saved    int    // tokens
	Dear     bool   // how to get fewer tokens is said
	Like     string // the host and path of requests like it
	Unlisted bool   // these are not listed, because of a rule
	Token    string
	Done     string
	Bars     []bar
	Both     map[string][]journal.Field // the fields of both messages, by their headings; nil if there are none
}

// previewed is how many characters of a page the page of a request shows.
const previewed = 1500

// clearRequests forgets all requests of the journal, by a form.
func (d *dashboard) clearRequests(w http.ResponseWriter, r *http.Request) error {
	return doneUnless(d.o.Client.ClearRequests(r.Context()), w, "/requests", "untold")
}

// saveView gives the present filter of requests a name, and shows what it matches.
func (d *dashboard) saveView(w http.ResponseWriter, r *http.Request) error {
	v, err := d.o.Client.SaveView(r.Context(), api.NewView{
		Name: r.PostForm.Get("name"), Filter: r.PostForm.Get("filter"),
	})
	if err != nil {
		return err
	}
	return done(w, linkTo(v.Filter), "saved")
}

// removeView removes a view of requests that somebody saved. The requests stay.
func (d *dashboard) removeView(w http.ResponseWriter, r *http.Request) error {
	_, err := d.o.Client.DeleteView(r.Context(), r.PostForm.Get("view"))
	return doneUnless(err, w, "/requests", "unsaved")
}

// replayRequest sends a request of the journal again and shows the new one.
func (d *dashboard) replayRequest(w http.ResponseWriter, r *http.Request) error {
	e, err := d.o.Client.ReplayRequest(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	return done(w, "/requests/"+url.PathEscape(e.ID), "replayed")
}

// hiding returns the rule that keeps requests of the host and path of a request out of lists. It says what the rule
// says that applies to them now, too. now reports whether that one keeps them out already.
func (d *dashboard) hiding(ctx context.Context, e *journal.Entry) (rule api.RuleFields, now bool, err error) {
	rule = api.RuleFields{Host: e.Host()}
	if u, err := url.Parse(e.URL); err == nil && e.Method != http.MethodConnect {
		rule.Path = strings.ReplaceAll(u.Path, page.SecretMask, "*")
	}
	list, err := d.o.Client.Rules(ctx, api.RuleQuery{Host: rule.Host})
	if err != nil {
		return rule, false, err
	}
	host, path := rule.Host, rule.Path
	for _, known := range list.Rules {
		if page.MatchPath(known.Path, path) {
			rule, now = known.RuleFields, known.Log == "off"
			break
		}
	}
	if path != "" && rule.Action == "intercept" { // which is said of whole hosts
		rule.Action = ""
	}
	rule.Host, rule.Path, rule.Log = host, path, "off"
	return rule, now, nil
}

// hideRequests makes a rule by which requests like one of the journal are no longer listed.
func (d *dashboard) hideRequests(w http.ResponseWriter, r *http.Request) error {
	e, err := d.o.Client.Request(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	rule, now, err := d.hiding(r.Context(), e)
	if err == nil && !now {
		_, err = d.o.Client.AddRule(r.Context(), rule)
	}
	return doneUnless(err, w, "/requests/"+url.PathEscape(e.ID), "unlisted")
}

// A bar is a step of a request in its waterfall: how long the origin took, and what was tried with its answer.
// Positions are thousandths of the whole time.
type bar struct {
	Name, Outcome, Reason string
	MS                    int64
	X, W                  int
}

// request shows one request of the journal, with the command that repeats it.
func (d *dashboard) request(w http.ResponseWriter, r *http.Request) {
	e, err := d.o.Client.Request(r.Context(), r.PathValue("id"))
	if err != nil {
		d.fail(w, r, "/requests", err)
		return
	}
	data := requestData{Entry: e, Curl: d.curl(e), Host: e.Host(), Bars: waterfall(e)}
	if rule, now, err := d.hiding(r.Context(), e); err == nil {
		data.Like, data.Unlisted = rule.Host+rule.Path, now
	}
	data.Token, data.Done = d.token, doneTexts[r.URL.Query().Get("done")]
	if e.Doc != "" {
		versions, err := d.o.Client.Versions(r.Context(), e.Doc)
		data.Gone = api.CodeOf(err) == api.CodeNotFound
		if err == nil {
			data.Kept = len(versions.Versions)
			if p, err := d.o.Client.Page(r.Context(), e.Doc); err == nil {
				data.Text = string(withoutControls([]byte(clip.Ellipsis(p.Content, previewed))))
			}
		}
	}
	data.Saved, data.Dear = max(0, e.HTMLTokens-e.Tokens), e.Tokens >= dearPage
	if asked, answered := e.Asked.List(), e.Answered.List(); len(asked)+len(answered) > 0 {
		data.Both = map[string][]journal.Field{"Request fields": asked, "Response fields": answered}
	}
	d.show(w, r, http.StatusOK, "request", view{Title: e.Method + " " + plain(e.URL), At: "/requests", Data: data})
}

// waterfall returns the steps of a request in their order: the origin's answer, and then what was tried with it. It is
// nil for an answer that took neither. The steps may be longer than the request, which then is not the measure; a short
// one is three thousandths wide, to be seen.
func waterfall(e *journal.Entry) []bar {
	var bars []bar
	if e.OriginMS > 0 {
		bars = append(bars, bar{Name: "origin", Outcome: "answered", MS: e.OriginMS})
	}
	for _, a := range e.Attempts {
		bars = append(bars, bar{Name: a.Step, Outcome: a.Outcome, Reason: a.Reason, MS: a.MS})
	}
	var at, sum int64
	for _, b := range bars {
		sum += b.MS
	}
	whole := max(e.MS, sum, 1)
	for i := range bars {
		b := &bars[i]
		b.X, b.W = int(at*1000/whole), max(3, int(b.MS*1000/whole))
		at += b.MS
		b.X = min(b.X, 1000-b.W)
	}
	return bars
}

// curl returns a command that repeats a request of the journal by the door that it came by. What only programs can ask
// for is a command of ours. Fields that are masked are left out, since the journal does not have their values.
func (d *dashboard) curl(e *journal.Entry) string {
	switch e.Door {
	case journal.DoorPrefix:
		return "curl " + quote("http://"+d.o.Proxy()+"/"+e.URL)
	case journal.DoorMCP, journal.DoorHook, journal.DoorCommand, journal.DoorAPI, journal.DoorFirecrawl,
		journal.DoorCrawl, journal.DoorDashboard:
		return "readthru fetch " + quote(e.URL)
	}
	var b strings.Builder
	b.WriteString("curl -x http://" + d.o.Proxy())
	if strings.HasPrefix(e.URL, "https:") {
		b.WriteString(" --cacert " + quote(d.o.Authority))
	}
	if e.Method == http.MethodHead {
		b.WriteString(" --head")
	} else if e.Method != http.MethodGet {
		b.WriteString(" -X " + quote(e.Method))
	}
	for _, f := range e.Repeatable() {
		b.WriteString(" -H " + quote(f.Name+": "+f.Value))
	}
	target := e.URL
	// A CONNECT asks for a tunnel: curl makes one for https by itself.
	if e.Method == http.MethodConnect {
		return "curl -x http://" + d.o.Proxy() + " -sv -o /dev/null " + quote("https://"+target+"/")
	}
	return b.String() + " " + quote(target)
}

// quote quotes a word for a shell of Unix, so that an address from the web cannot run a command of whoever pastes it.
func quote(word string) string { return "'" + strings.ReplaceAll(plain(word), "'", `'\''`) + "'" }
