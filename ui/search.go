package ui

import (
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/readthru/readthru/api"
)

// How many hits a search of the dashboard lists, at first and at most; a link shows three times as many each time.
const (
	firstHits = 20
	mostHits  = 500
)

// mountSearch adds the paths of the room of search to the dashboard, with those of quotes and passages.
func (d *dashboard) mountSearch(mux *http.ServeMux) {
	mux.HandleFunc("GET /search", d.search)
	mux.HandleFunc("GET /search/quote", d.quote)
	mux.HandleFunc("GET /passages/{id}", d.passage)
}

// searchData is what the templates of a search and of a quote show.
type searchData struct {
	Query    url.Values
	Problem  string
	Asked    bool
	Degraded string   // why a model that is configured took no part
	Notes    []string // on the query
	AsTyped  string   // leads to the search for the words as they are, where some were changed
	Hits     []hit
	More     string
	Kinds    []string
	KBs      []string
	Quote    *api.QuoteCheck
}

// A hit is a hit of a search as the dashboard shows it, with its snippet in pieces.
type hit struct {
	Of      any    // as the API has it
	Section string // the last heading
	Pieces  []piece
}

// piece is a piece of a snippet: a word of the query, or what stands between.
type piece struct {
	Text   string
	Marked bool
}

// search shows a search and what was found. Without words and a subject it shows the form alone. What fails is said
// above the form, with what was asked in it.
func (d *dashboard) search(w http.ResponseWriter, r *http.Request) {
	asked, ctx := r.URL.Query(), r.Context()
	data := searchData{Query: url.Values{}, Kinds: append([]string{"file", "text", "note"}, pageKinds...)}
	for _, name := range []string{"q", "host", "kind", "kb", "since", "subject"} {
		if v := strings.TrimSpace(asked.Get(name)); v != "" {
			data.Query.Set(name, v)
		}
	}
	if list, err := d.o.Client.Bases(ctx); err == nil {
		for _, b := range list.KBs {
			data.KBs = append(data.KBs, b.Name)
		}
	}
	status := http.StatusOK
	if data.Asked = data.Query.Has("q") || data.Query.Has("subject"); data.Asked {
		limit := min(max(number(asked.Get("limit")), firstHits), mostHits)
		if err := d.find(r, &data, limit); err != nil {
			data.Problem, status = errorText(err), statusOf(err)
		}
	}
	d.show(w, r, status, "search", view{Title: "Search", At: "/search", Data: &data})
}

// find runs the search that a request asks for and fills in its hits and notes. Where words were corrected there is a
// link to the search for them as they were typed.
func (d *dashboard) find(r *http.Request, data *searchData, limit int) error {
	since, err := api.Since(data.Query.Get("since"), time.Now())
	if err != nil {
		return err
	}
	q := data.Query
	found, err := d.o.Client.Search(r.Context(), api.SearchQuery{
		Text: q.Get("q"), KB: q.Get("kb"), Subject: q.Get("subject"), Host: q.Get("host"), Kind: q.Get("kind"),
		Since: since, Limit: limit,
	})
	if err != nil {
		return err
	}
	data.Degraded = found.Reason
	for _, note := range found.Notes() {
		data.Notes = append(data.Notes, strings.ToUpper(note[:1])+note[1:])
	}
	if len(found.Corrected) > 0 {
		typed := url.Values{}
		maps.Copy(typed, q)
		typed.Set("q", found.AsTyped(q.Get("q")))
		data.AsTyped = "/search?" + typed.Encode()
	}
	for i := range found.Hits {
		h := &found.Hits[i]
		path := strings.Split(h.Heading, " › ")
		data.Hits = append(data.Hits, hit{h, path[len(path)-1], pieces(h.Snippet, h.Highlights)})
	}
	// There may be more than a search returns: the link asks for more of the same.
	if len(found.Hits) == limit && limit < mostHits {
		more := url.Values{"limit": {strconv.Itoa(min(3*limit, mostHits))}}
		maps.Copy(more, q)
		data.More = "/search?" + more.Encode()
	}
	return nil
}

// pieces cuts the snippet of a hit at its highlights, which are ranges of code points. Ranges that overlap or exceed
// the text are cut, so that every character is shown once.
func pieces(snippet string, highlights [][2]int) (list []piece) {
	text, at := []rune(snippet), 0
	for _, h := range highlights {
		from, to := min(max(h[0], at), len(text)), min(max(h[1], at), len(text))
		if from > at {
			list = append(list, piece{Text: string(text[at:from])})
		}
		if to > from {
			list = append(list, piece{string(text[from:to]), true})
		}
		at = max(from, to)
	}
	return append(list, piece{Text: string(text[at:])})
}

// quote shows whether a sentence is in a stored page, and where.
func (d *dashboard) quote(w http.ResponseWriter, r *http.Request) {
	data := searchData{Query: url.Values{"page": {r.URL.Query().Get("page")}, "quote": {r.URL.Query().Get("quote")}}}
	status := http.StatusOK
	if data.Query.Get("page") != "" {
		var err error
		page, quote := strings.TrimSpace(data.Query.Get("page")), data.Query.Get("quote")
		if data.Quote, err = d.o.Client.VerifyQuote(r.Context(), page, quote); err != nil {
			data.Problem, status = errorText(err), statusOf(err)
		}
	}
	d.show(w, r, status, "quote", view{Title: "Verify a quote", At: "/search", Data: &data})
}

// passageData is what the template of a passage shows.
type passageData struct {
	ID, Heading, Text string
	Info              any // a passage as the API has it
	Relations         any
}

// passage shows a passage of the index with its sources, subjects and relations.
func (d *dashboard) passage(w http.ResponseWriter, r *http.Request) {
	info, err := d.o.Client.Passage(r.Context(), r.PathValue("id"))
	if err != nil {
		d.fail(w, r, "/search", err)
		return
	}
	relations, err := d.o.Client.Relations(r.Context(), api.RelationQuery{Passage: info.ID, Limit: 100})
	if err != nil {
		d.fail(w, r, "/search", err)
		return
	}
	d.show(w, r, http.StatusOK, "passage", view{Title: "Passage", At: "/search", Data: passageData{
		info.ID, info.Heading, info.Text, info, relations.Relations,
	}})
}
