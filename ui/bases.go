package ui

import (
	"cmp"
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/readthru/readthru/api"
)

// documentsPerPage is how many documents the page of a base lists at once; a cursor leads to the rest.
const documentsPerPage = 60

// mountBases adds the paths of the room of knowledge bases to the dashboard.
func (d *dashboard) mountBases(mux *http.ServeMux) {
	mux.HandleFunc("GET /bases", d.bases)
	mux.HandleFunc("POST /bases", d.form("/bases", d.newBase))
	mux.HandleFunc("POST /bases/import", d.importBase)
	mux.HandleFunc("GET /bases/{name}", d.base)
	for action, do := range map[string]func(http.ResponseWriter, *http.Request) error{
		"refresh": d.refreshBase, "cancel": d.cancelBase, "delete": d.deleteBase,
	} {
		mux.HandleFunc("POST /bases/{name}/"+action, d.form("/bases", do))
	}
}

// basesData is what the template of the list of bases shows.
type basesData struct {
	Done  string
	Token string
	Bases []baseRow
}

// baseRow is a knowledge base in the list, with its last job, which may be nil.
type baseRow struct {
	Base any // as the API has it
	Job  *jobView
}

// jobView is a job that fills a base, with what people want to know of it.
type jobView struct {
	api.Job
	Running bool
	Percent int           // of what is known so far
	Left    time.Duration // until it is done, if it goes on so; 0: unknown
	Failed  []failedPage
}

// failedPage is a page that a job could not read.
type failedPage struct{ URL, Reason string }

// jobOf returns the last job of a base, or nil. The API lists jobs with the newest first, each page that failed as
// "URL: reason".
func jobOf(list *api.JobList, name string, now time.Time) *jobView {
	for _, j := range list.Jobs {
		if j.KB != name {
			continue
		}
		v := &jobView{Job: j, Running: j.State == api.JobRunning}
		if j.Total > 0 {
			v.Percent = min(100, j.I*100/j.Total)
		}
		// The time that the first pages took says little of the others.
		if v.Running && j.I >= 3 && j.Total > j.I {
			v.Left = time.Duration(float64(now.Sub(j.Began)) / float64(j.I) * float64(j.Total-j.I)).Round(time.Second)
		}
		for _, f := range j.Failures {
			at, reason, _ := strings.Cut(f, ": ")
			v.Failed = append(v.Failed, failedPage{at, strings.TrimSuffix(reason, " fetching "+at)})
		}
		return v
	}
	return nil
}

// bases shows the list of the knowledge bases. The page fetches itself again while a job runs.
func (d *dashboard) bases(w http.ResponseWriter, r *http.Request) {
	list, err := d.o.Client.Bases(r.Context())
	if err != nil {
		d.fail(w, r, "/bases", err)
		return
	}
	jobs, err := d.o.Client.Jobs(r.Context())
	if err != nil {
		d.fail(w, r, "/bases", err)
		return
	}
	data := basesData{Done: doneTexts[r.URL.Query().Get("done")], Token: d.token}
	running := false
	for _, b := range list.KBs {
		row := baseRow{b, jobOf(jobs, b.Name, time.Now())}
		running = running || row.Job != nil && row.Job.Running
		data.Bases = append(data.Bases, row)
	}
	d.show(w, r, http.StatusOK, "bases", view{Title: "Bases", At: "/bases", Poll: running, Data: data})
}

// baseData is what the template of one knowledge base shows.
type baseData struct {
	Done, Token string
	Base        any // as the API has it
	Refreshes   bool
	Job         *jobView
	Documents   *api.DocumentList
	Next        string
	Later       bool
	Subjects    *api.SubjectList
}

// base shows a knowledge base: its job, its subjects, and its documents from a cursor on.
func (d *dashboard) base(w http.ResponseWriter, r *http.Request) {
	ctx, name, asked := r.Context(), r.PathValue("name"), r.URL.Query()
	b, err := d.o.Client.Base(ctx, name)
	if err != nil {
		d.fail(w, r, "/bases", err)
		return
	}
	data := baseData{
		Done: doneTexts[asked.Get("done")], Token: d.token, Base: b, Later: asked.Get("cursor") != "",
		Refreshes: b.Source == "crawl" || b.Source == "scrape",
	}
	jobs, err := d.o.Client.Jobs(ctx)
	if err == nil {
		data.Job = jobOf(jobs, name, time.Now())
		data.Documents, err = d.o.Client.BaseDocuments(ctx, name, asked.Get("cursor"), documentsPerPage)
	}
	if err == nil {
		data.Subjects, err = d.o.Client.Subjects(ctx, name, 24)
	}
	if err != nil {
		d.fail(w, r, "/bases", err)
		return
	}
	if data.Documents.Next != "" {
		data.Next = "/bases/" + name + "?cursor=" + url.QueryEscape(data.Documents.Next)
	}
	d.show(w, r, http.StatusOK, "kb", view{
		Title: name, At: "/bases", Poll: data.Job != nil && data.Job.Running, Data: data,
	})
}

// newBase creates a knowledge base by the form of the list, which has fields for all kinds. Those of other kinds than
// the chosen one are not read: a browser sends them, too.
func (d *dashboard) newBase(w http.ResponseWriter, r *http.Request) error {
	f := r.PostForm
	n := api.NewBase{Name: strings.TrimSpace(f.Get("name")), Description: strings.TrimSpace(f.Get("description"))}
	switch target := strings.TrimSpace(f.Get("url")); f.Get("kind") {
	case "crawl":
		n.Crawl, n.Limit, n.Depth = target, number(f.Get("limit")), number(f.Get("depth"))
		n.Include, n.Exclude = strings.Fields(f.Get("include")), strings.Fields(f.Get("exclude"))
	case "scrape":
		n.Scrape = target
	}
	if n.Crawl == "" && n.Scrape == "" && f.Get("kind") != "text" {
		return api.NewError(http.StatusBadRequest, api.CodeInvalid, "a base that is crawled needs a URL")
	}
	_, err := d.o.Client.CreateBase(r.Context(), n)
	return doneUnless(err, w, "/bases/"+n.Name, "created")
}

// refreshBase fills a base again, or goes on where it was cancelled, by a form of the dashboard.
func (d *dashboard) refreshBase(w http.ResponseWriter, r *http.Request) error {
	name := r.PathValue("name")
	_, err := d.o.Client.RefreshBase(r.Context(), name, 0)
	return doneUnless(err, w, "/bases/"+name, "refreshed")
}

// cancelBase cancels the job of a base. A new base of which nothing was read goes with its job, so that the list is
// shown and not a page about an error.
func (d *dashboard) cancelBase(w http.ResponseWriter, r *http.Request) error {
	name := r.PathValue("name")
	jobs, err := d.o.Client.Jobs(r.Context())
	if err != nil {
		return err
	}
	if j := jobOf(jobs, name, time.Now()); j != nil && j.Running {
		if _, err := d.o.Client.CancelJob(r.Context(), j.ID); err != nil {
			return err
		}
	}
	if _, err := d.o.Client.Base(r.Context(), name); err != nil { // nothing was read, so it is gone
		return done(w, "/bases", "cancelled")
	}
	return done(w, "/bases/"+name, "cancelled")
}

func (d *dashboard) deleteBase(w http.ResponseWriter, r *http.Request) error {
	_, err := d.o.Client.DeleteBase(r.Context(), r.PathValue("name"))
	return doneUnless(err, w, "/bases", "gone")
}

// importBase unpacks a base from a file that a form sends. It reads the parts of the form one by one, since a file may
// be larger than any form: d.form would read it whole. The file is not read before the token, which stands before it in
// the form.
func (d *dashboard) importBase(w http.ResponseWriter, r *http.Request) {
	parts, err := r.MultipartReader()
	if err != nil {
		d.fail(w, r, "/bases", api.NewError(http.StatusBadRequest, api.CodeInvalid, "the form has no file"))
		return
	}
	name, err := d.unpack(r, parts)
	switch {
	case errors.Is(err, errOldForm):
		d.old(w, r, "/bases")
	case err != nil:
		d.fail(w, r, "/bases", err)
	default:
		_ = done(w, "/bases/"+name, "imported") // it never fails
	}
}

// errOldForm reports that a form with a file has no token of this run of the program.
var errOldForm = errors.New("the form is not ours")

// unpack reads a form up to its file and has the API make a base of that, which streams it. A value of the form has a
// kibibyte at most.
func (d *dashboard) unpack(r *http.Request, parts *multipart.Reader) (name string, err error) {
	values := map[string]string{}
	for {
		part, err := parts.NextPart()
		if err != nil {
			return "", api.NewError(http.StatusBadRequest, api.CodeInvalid, "the form has no file")
		}
		if part.FormName() == "file" {
			if !d.ours(values["token"]) {
				return "", errOldForm
			}
			b, err := d.o.Client.Unpack(r.Context(), part, api.Unpacking{
				Name: strings.TrimSpace(values["name"]), AnySigner: values["any_signer"] == "1",
			})
			if err != nil {
				return "", err
			}
			return b.Name, nil
		}
		value, err := io.ReadAll(io.LimitReader(part, 1<<10))
		if err != nil {
			return "", err
		}
		values[part.FormName()] = string(value)
	}
}

// statusOf returns the HTTP status of a page of the dashboard that shows an error beside a form.
func statusOf(err error) int {
	if e, ok := errors.AsType[*api.Error](err); ok {
		return cmp.Or(e.Status, http.StatusInternalServerError)
	}
	return http.StatusInternalServerError
}

// leftText writes for how long a job will still run.
func leftText(d time.Duration) string {
	if d < time.Minute {
		return strconv.Itoa(int(d.Seconds())) + " s"
	}
	return uptimeText(int64(d.Seconds()))
}
