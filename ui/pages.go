package ui

import (
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/internal/markdown"
	"github.com/readthru/readthru/page"
)

// Bounds of a list of pages. Filters by kind, source and the like have no index: one request looks at lookAt pages and
// says so.
const (
	pagesPerPage = 60
	lookAt       = 1500 // pages that one list with filters looks at
)

// pagesData is what the template of the list of pages shows.
type pagesData struct {
	Query            url.Values // of the filters
	Problem          string
	Done             string
	List             *api.PageList
	Next             string
	Later            bool // the list is not the first
	Filtered, Looked bool
	LookAt           int
	Kinds, Sources   []string
	Sorts            []string
}

// mountPages adds the paths of the room of stored pages to the dashboard: the list, one page in its views, and the
// forms that do something with it.
func (d *dashboard) mountPages(mux *http.ServeMux) {
	mux.HandleFunc("GET /pages", d.pageList)
	mux.HandleFunc("GET /pages/{doc}", d.page)
	mux.HandleFunc("GET /pages/{doc}/screenshots/{name}", d.shots.serve)
	for action, do := range map[string]func(http.ResponseWriter, *http.Request) error{
		"fetch": d.refetch("", "fetched"), "render": d.refetch("always", "rendered"), "removed": d.removedText,
		"convert": d.convertPage, "screenshot": d.screenshot, "delete": d.deletePage, "add": d.addToBase,
	} {
		mux.HandleFunc("POST /pages/{doc}/"+action, d.form("/pages", do))
	}
}

// The filters of the list of pages that can be chosen: kinds as package page names them, and where the markdown of a
// page came from.
var (
	pageKinds = []string{
		"web", "documentation", "github_repo", "github_file", "github_issue", "github_pr", "repository", "repository_file",
		"issue", "pull_request", "unknown",
	}
	pageSources = []string{"negotiated", "alternate", "local", "browser", "markdown_new", "llm"}
)

// pageFilters are the parameters of the list of pages, which its links keep.
var pageFilters = []string{"q", "host", "kind", "source", "warning", "since", "sort"}

// pageList shows the list of stored pages that the filters match, from a cursor on. A filter that the API refuses is a
// mistake of the reader: the list says so, with the filters as they were given.
func (d *dashboard) pageList(w http.ResponseWriter, r *http.Request) {
	asked := r.URL.Query()
	data := pagesData{Query: url.Values{}, Done: doneTexts[asked.Get("done")], Kinds: pageKinds, Sources: pageSources}
	data.Sorts = api.PageSorts[1:] // the first is the usual one
	for _, name := range pageFilters {
		if v := strings.TrimSpace(asked.Get(name)); v != "" {
			data.Query.Set(name, v)
			data.Filtered = true
		}
	}
	status := http.StatusOK
	q := api.PageQuery{
		Text: data.Query.Get("q"), Host: data.Query.Get("host"), Kind: data.Query.Get("kind"),
		Source: data.Query.Get("source"), Warning: data.Query.Get("warning"),
		Sort: data.Query.Get("sort"), Limit: pagesPerPage, Cursor: asked.Get("cursor"), Look: lookAt,
	}
	var err error
	if q.Since, err = api.Since(data.Query.Get("since"), time.Now()); err == nil {
		data.List, err = d.o.Client.Pages(r.Context(), q)
	}
	switch {
	case api.CodeOf(err) == api.CodeInvalid:
		data.Problem, status = errorText(err), http.StatusBadRequest
	case err != nil:
		d.fail(w, r, "/pages", err)
		return
	default:
		data.Later, data.LookAt = q.Cursor != "", lookAt
		if data.List.Next != "" {
			next := url.Values{"cursor": {data.List.Next}}
			maps.Copy(next, data.Query)
			data.Next = "/pages?" + next.Encode()
			// Fewer pages than a list holds, and yet there are others: the look ended first.
			data.Looked = len(data.List.Pages) < pagesPerPage
		}
	}
	d.show(w, r, status, "pages", view{Title: "Pages", At: "/pages", Data: data})
}

// pageViews are the views of a stored page, by the parameter view.
var pageViews = []struct{ Name, Text string }{
	{"", "Read"},
	{"raw", "Markdown"},
	{"original", "Original"},
	{"outline", "Outline"},
	{"versions", "Versions"},
	{"visits", "Visits"},
	{"links", "Links"},
}

// pageData is what the template of a stored page shows. What a view does not need is left empty.
type pageData struct {
	*page.Page
	View  string
	Views []struct{ Name, Text string }
	Done  string
	Token string
	Texts []string // names of bases that a page can be added to

	// Read, Markdown and Original
	Text   template.HTML
	Raw    string
	Part   int // from 1
	Parts  int
	Images bool // are loaded
	Imaged int  // how many there are
	Link   string
	About  string // of the original
	Costs  *costs // nil: the page is small

	Outline []heading // the first ones
	More    int       // headings that are not among them

	Versions *api.VersionList
	Diff     *api.Diff
	Changes  []change
	Cut      bool // the difference is not whole

	Visits *api.VisitList
	Links  []pageLink
	Next   string

	Pieces     bool   // what was removed is shown
	Screenshot string // its path
	Problem    string
}

// heading is a heading in the outline of a page, with the link to it in the dashboard.
type heading struct {
	Level       int
	Title, Link string
	Tokens      int
}

// pageLink is a link or an image of a page, as the view of its links lists it.
type pageLink struct{ Kind, Text, URL string }

// Bounds of what a page shows beside or instead of its text, as browsers lay out long lists slowly.
const (
	maxOutline  = 120 // headings beside a text
	maxHeadings = 2000
	maxLinks    = 500 // links of a page that are listed at once
)

// pageRef returns what names the stored page of a request, as it stands in paths: its id.
func pageRef(r *http.Request) string { return r.PathValue("doc") }

// page shows a stored page in the view that a request names. With the parameter section it leads to the part of the
// text that has the section, if there is one.
func (d *dashboard) page(w http.ResponseWriter, r *http.Request) {
	if name := r.URL.Query().Get("section"); name != "" && d.toSection(w, r, name) {
		return
	}
	data, err := d.pageData(r.Context(), pageRef(r))
	if err == nil {
		err = d.fillPage(r, data)
	}
	if err != nil {
		d.fail(w, r, "/pages", err)
		return
	}
	d.showPage(w, r, data)
}

// toSection leads to a section of a stored page, and reports whether the page has one of that name. The page that
// search hits lead to may have changed; then the caller shows it from its beginning.
func (d *dashboard) toSection(w http.ResponseWriter, r *http.Request, name string) bool {
	s, err := d.o.Client.Section(r.Context(), pageRef(r), name)
	if err != nil {
		return false
	}
	p, err := d.o.Client.Page(r.Context(), s.Doc)
	if err != nil {
		return false
	}
	// The section is in the last part that begins before it.
	part := 0
	for i, cut := range cutText([]byte(p.Content)) {
		if cut.Start <= s.Heading.Start {
			part = i + 1
		}
	}
	w.Header().Set("Location", fmt.Sprintf("/pages/%s?part=%d#h-%s", s.Doc, part, url.PathEscape(s.Heading.Fragment)))
	w.WriteHeader(http.StatusSeeOther)
	return true
}

// showPage shows a stored page with what its view needs, under its title.
func (d *dashboard) showPage(w http.ResponseWriter, r *http.Request, data *pageData) {
	d.show(w, r, http.StatusOK, "page", view{Title: plain(cmp.Or(data.Title, data.URL)), At: "/pages", Data: data})
}

// pageData returns what all views of a stored page show. The names of the bases are of texts alone, since a crawl would
// replace what is added by hand; without them the page is shown all the same.
func (d *dashboard) pageData(ctx context.Context, doc string) (*pageData, error) {
	p, err := d.o.Client.Page(ctx, doc)
	if err != nil {
		return nil, err
	}
	data := &pageData{Page: p, Views: pageViews, Token: d.token}
	data.Link = "/pages/" + p.Doc
	if list, err := d.o.Client.Bases(ctx); err == nil {
		for _, b := range list.KBs {
			if b.Source == "text" {
				data.Texts = append(data.Texts, b.Name)
			}
		}
	}
	return data, nil
}

// fillPage adds what the view of a request shows of a stored page. A view that there is not is the first one.
func (d *dashboard) fillPage(r *http.Request, data *pageData) (err error) {
	ctx, c, asked, md := r.Context(), d.o.Client, r.URL.Query(), []byte(data.Content)
	data.View, data.Done = asked.Get("view"), doneTexts[asked.Get("done")]
	data.Images = asked.Get("images") == "1"
	switch data.View {
	case "", "raw":
		parts := cutText(md)
		data.Parts = len(parts)
		data.Part = min(max(number(asked.Get("part")), 1), data.Parts)
		p := parts[data.Part-1]
		cut := md[p.Start:p.End]
		if data.View == "raw" {
			data.Raw = string(withoutControls(cut))
			break
		}
		err = d.read(ctx, data, parts, p, cut)
	case "original":
		o, err := c.Original(ctx, data.Doc)
		// The page itself is there: this is a sentence in its view, no error.
		if api.CodeOf(err) == api.CodeNotFound {
			data.Problem = "The origin's answer is not kept: it was removed from the cache, or might not be stored."
			return nil
		}
		if err != nil {
			return err
		}
		data.About = plain(o.ContentType)
		all := []byte(o.Content)
		data.Parts = max(1, (len(all)+partSize-1)/partSize)
		data.Part = min(max(number(asked.Get("part")), 1), data.Parts)
		data.Raw = string(withoutControls(all[(data.Part-1)*partSize : min(len(all), data.Part*partSize)]))
	case "outline":
		return d.outline(ctx, data, cutText(md), maxHeadings)
	case "versions":
		if data.Versions, err = c.Versions(ctx, data.Doc); err != nil || len(data.Versions.Versions) < 2 {
			return err
		}
		if data.Diff, err = c.Diff(ctx, data.Doc, asked.Get("a"), asked.Get("b")); err == nil {
			data.Changes, data.Cut = wordDiff(data.Diff.Unified)
		}
	case "visits":
		q := api.VisitQuery{URL: data.NormalizedURL, Limit: 100, Cursor: asked.Get("cursor")}
		if data.Visits, err = c.Visits(ctx, q); err == nil && data.Visits.Next != "" {
			data.Next = data.Link + "?" + url.Values{"view": {"visits"}, "cursor": {data.Visits.Next}}.Encode()
		}
	case "links":
		data.Links, data.Next = linksOf(md, data, number(asked.Get("from")))
	default:
		data.View = ""
		return d.fillPage(&http.Request{URL: &url.URL{}}, data)
	}
	return err
}

// read renders a part of a page's text as HTML, with the outline beside it. cut is the text of the part p, one of
// parts.
func (d *dashboard) read(ctx context.Context, data *pageData, parts []textPart, p textPart, cut []byte) error {
	if err := d.outline(ctx, data, parts, maxOutline); err != nil {
		return err
	}
	o, err := d.o.Client.Outline(ctx, data.Doc)
	if err != nil {
		return err
	}
	// The renderer sees the part with its fence put before it; offsets of headings count from the beginning of the whole
	// text.
	v := pageView{offset: p.Start - len(p.Before)}
	if data.Part == 1 {
		v.title = strings.TrimSpace(data.Title)
	}
	for _, h := range o.Headings {
		v.headings, v.starts = append(v.headings, h.Fragment), append(v.starts, h.Start)
	}
	if v.base, err = url.Parse(cmp.Or(data.FinalURL, data.URL)); err != nil {
		v.base = nil
	}
	if data.Images {
		v.images = "/api/v1/pages/" + data.Doc + "/image?url="
	}
	data.Text = v.render([]byte(p.Before + string(cut) + p.After))
	data.Imaged = v.Images
	return nil
}

// outline sets the first headings of a page, limit at most, with links to the parts of the text that they stand in, and
// where the page's tokens are. Headings and parts are both in the order of the text.
func (d *dashboard) outline(ctx context.Context, data *pageData, parts []textPart, limit int) error {
	o, err := d.o.Client.Outline(ctx, data.Doc)
	if err != nil {
		return err
	}
	at := 0
	var all []heading
	for _, h := range o.Headings {
		for at < len(parts)-1 && h.Start >= parts[at].End {
			at++
		}
		link := data.Link
		if at > 0 {
			link += "?part=" + strconv.Itoa(at+1)
		}
		link += "#h-" + url.PathEscape(h.Fragment)
		all = append(all, heading{h.Level, cmp.Or(plain(h.Title), "(no title)"), link, h.Tokens})
	}
	data.Costs = costsOf(o, all)
	data.Outline, data.More = all[:min(len(all), limit)], max(0, len(all)-limit)
	return nil
}

// linksOf lists the links and images of a page from number from on, maxLinks at most, and returns the path of the list
// that follows; empty at the end. Addresses are absolute where they lead to the web, and else as they are written.
func linksOf(md []byte, data *pageData, from int) (list []pageLink, next string) {
	v := pageView{}
	v.base, _ = url.Parse(cmp.Or(data.FinalURL, data.URL))
	n := 0
	for l := range markdown.Links(md) {
		if n++; n <= from {
			continue
		}
		if len(list) == maxLinks {
			return list, data.Link + "?view=links&from=" + strconv.Itoa(n-1)
		}
		kind := "link"
		if l.Kind == markdown.InlineImage || l.Kind == markdown.Src {
			kind = "image"
		}
		address := l.Address(md)
		if href, ok := v.target(address); ok && !strings.HasPrefix(href, "#") {
			address = href
		}
		name := md[l.TextStart:max(l.TextStart, min(l.TextEnd, l.TextStart+300))]
		list = append(list, pageLink{kind, plain(markdown.Plain(name)), plain(address)})
	}
	return list, ""
}

// number returns the number that a parameter or a field of a form is, 0 for anything else.
func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// refetch returns what the forms of a stored page do that ask the origin again, or have a browser render the page.
func (d *dashboard) refetch(render, what string) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		p, err := d.again(r, api.FetchRequest{Force: true, Render: render})
		if err != nil {
			return err
		}
		return done(w, "/pages/"+p.Doc, what)
	}
}

// again fetches the stored page of a request from its origin, as q says, under the dashboard's own name. A failure that
// the fetch describes in the page is an error here.
func (d *dashboard) again(r *http.Request, q api.FetchRequest) (*page.Page, error) {
	p, err := d.o.Client.Page(r.Context(), pageRef(r))
	if err != nil {
		return nil, err
	}
	q.URL, q.Agent = p.URL, "readthru dashboard"
	if p, err = d.o.Client.Fetch(r.Context(), q); err != nil {
		return nil, err
	}
	if p.Error != nil {
		return nil, &api.Error{Status: http.StatusBadGateway, Detail: p.Error.Message}
	}
	return p, nil
}

// removedText shows a page with what was removed of its text because no reader sees it. It fetches the page again,
// since these pieces are not stored.
func (d *dashboard) removedText(w http.ResponseWriter, r *http.Request) error {
	return d.withMore(w, r, api.FetchRequest{Receipts: true}, func(data *pageData, p *page.Page) {
		data.Pieces, data.Removed = true, p.Removed
		if p.Removed == nil {
			data.Removed = new(page.Removed)
		}
	})
}

// screenshot shows a page as a browser does, by a picture that is kept in memory for the request that follows.
func (d *dashboard) screenshot(w http.ResponseWriter, r *http.Request) error {
	q := api.FetchRequest{Format: "screenshot", Render: "always"}
	return d.withMore(w, r, q, func(data *pageData, p *page.Page) {
		data.Screenshot = data.Link + "/screenshots/" + d.shots.keep(p.Screenshot)
	})
}

// withMore fetches a stored page again and shows it with what add takes of the fetched one, instead of leading to a
// page: that is nowhere stored, and a reload asks the reader first.
func (d *dashboard) withMore(w http.ResponseWriter, r *http.Request, q api.FetchRequest,
	add func(*pageData, *page.Page),
) error {
	p, err := d.again(r, q)
	if err != nil {
		return err
	}
	data, err := d.pageData(r.Context(), pageRef(r))
	if err != nil {
		return err
	}
	data.View = "more"
	add(data, p)
	d.showPage(w, r, data)
	return nil
}

// convertPage makes the markdown of a page again from what is stored, without a request to its origin.
func (d *dashboard) convertPage(w http.ResponseWriter, r *http.Request) error {
	p, err := d.o.Client.ConvertPage(r.Context(), pageRef(r))
	if err != nil {
		return err
	}
	return done(w, "/pages/"+p.Doc, "converted")
}

// deletePage deletes a stored page, and leads to the list.
func (d *dashboard) deletePage(w http.ResponseWriter, r *http.Request) error {
	return doneUnless(d.o.Client.DeletePage(r.Context(), pageRef(r)), w, "/pages", "deleted")
}

// addToBase puts a copy of a page's text into a base of texts, which is made if there is none of that name.
func (d *dashboard) addToBase(w http.ResponseWriter, r *http.Request) error {
	p, err := d.o.Client.Page(r.Context(), pageRef(r))
	if err != nil {
		return err
	}
	name := strings.TrimSpace(r.PostForm.Get("base"))
	if name == "" {
		return &api.Error{Status: http.StatusBadRequest, Code: api.CodeInvalid, Detail: "name a base"}
	}
	_, err = d.o.Client.CreateBase(r.Context(), api.NewBase{Name: name})
	if err != nil && api.CodeOf(err) != api.CodeBaseExists {
		return err
	}
	_, err = d.o.Client.Ingest(r.Context(), api.Ingestion{
		Title: cmp.Or(p.Title, p.URL), Text: p.Content, URL: p.URL, Label: "page", KB: name,
	})
	if err != nil {
		return err
	}
	return done(w, "/pages/"+p.Doc, "added")
}

// shots keeps the last screenshots in memory, which the store does not keep. Their names are numbers that begin anew
// after 255; by then a picture has long been dropped.
type shots struct {
	mu   sync.Mutex
	list []shot
	n    byte
}

// shot is a screenshot, as a PNG, by its name in the path.
type shot struct {
	name string
	png  []byte
}

// maxShots bounds the memory of screenshots, of which each may have several megabytes.
const maxShots = 8

// keep keeps a screenshot, drops the oldest one if there are too many, and returns its name.
func (s *shots) keep(png []byte) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.n++
	name := hex.EncodeToString([]byte{s.n})
	if s.list = append(s.list, shot{name, png}); len(s.list) > maxShots {
		s.list = s.list[1:]
	}
	return name
}

// serve answers the path of a screenshot, with 404 if it was dropped.
func (s *shots) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, shot := range s.list {
		if shot.name == r.PathValue("name") {
			w.Header().Set("Content-Type", "image/png")
			_, _ = w.Write(shot.png) // an error is a client that has gone
			return
		}
	}
	http.NotFound(w, r)
}
