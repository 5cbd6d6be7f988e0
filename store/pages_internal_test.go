package store

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store/wire"
)

// kept says of each member of the page object where it is kept: p in the page's record, s in the record of a session's
// set. All members are in an answer.
const kept = `
	doc ps, url ps, final_url ps, canonical_url ps, normalized_url ps, url_type ps, display ps,
	title ps, description ps, meta ps, content -, content_format ps, excerpt ps, section -, next -, total_chars -,
	metadata -, kbs -, readme -, symbol_map -, github_info ps, summary -, summary_type -,
	markdown_source ps, markdown_tokens ps, content_hash ps, size_bytes ps, bytes ps, status_code ps, content_type ps,
	created_at ps, updated_at ps, first_visited_at s, last_visited_at s, fetched_at ps, visit_id -, visit_count s,
	from_cache -, stored ps, warnings ps, preferences ps, removed -, attempts -, wall -, info ps, error ps,
	console -, screenshot -`

func TestWhereEachFieldOfAPageIsKept(t *testing.T) {
	p := filledPage(t)
	p.Unknown = "" // it has members of its own
	answer := membersOf(t, p)
	record := membersOf(t, pageRecord{Page: p.Record}.Page) // what PutPage writes
	var session map[string]json.RawMessage
	if err := json.Unmarshal(encodeFetched(&p, 0), &session); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for name := range answer {
		got[name] = "-"
		where := ""
		if _, ok := record[name]; ok {
			where = "p"
		}
		if _, ok := session[name]; ok {
			where += "s"
		}
		if where != "" {
			got[name] = where
		}
	}
	want := map[string]string{}
	for row := range strings.SplitSeq(kept, ",") {
		name, where, _ := strings.Cut(strings.TrimSpace(row), " ")
		want[name] = where
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("members (-want +got):\n%s", diff)
	}
	notMembers := 3 + 2 // embedded types; ReadAt and Unknown
	if n := len(reflect.VisibleFields(reflect.TypeFor[page.Page]())) - notMembers; n != len(answer) {
		t.Errorf("an answer has %d members of a page's %d fields", len(answer), n)
	}
}

func TestRecordsOfEarlierVersionsAreRead(t *testing.T) {
	const earlier = `{"doc":"d1","url":"https://a.test/x","normalized_url":"https://a.test/x","url_type":"web",` +
		`"display":"a.test",` +
		`"title":"T","meta":{"lang":"en"},"content_format":"markdown","github_info":{"owner":"a","repo":"b"},` +
		`"markdown_tokens":3,"created_at":"2024-05-06T07:08:09Z","first_visited_at":"2024-05-06T07:08:09Z",` +
		`"visit_count":2,` +
		`"from_cache":false,"stored":true,"warnings":["thin"],"info":{"fetch_ms":1,"convert_ms":2},` +
		`"error":{"kind":"http","message":"m"}}`
	at := time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)
	want := page.Record{
		Doc: "d1", URL: "https://a.test/x", NormalizedURL: "https://a.test/x", Type: page.Web, Display: "a.test",
		Title: "T",
		Meta:  page.Meta{"lang": "en"}, ContentFormat: "markdown", GitHub: &page.GitHubInfo{Owner: "a", Repo: "b"},
		Tokens:    3,
		CreatedAt: at, Stored: true, Warnings: []string{"thin"}, Info: page.Info{FetchMS: 1, ConvertMS: 2},
		Error: &page.Error{Kind: "http", Message: "m"},
	}
	var record pageRecord
	if err := json.Unmarshal([]byte(`{"Page":`+earlier+`}`), &record); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, record.Page); diff != "" {
		t.Errorf("record (-want +got):\n%s", diff)
	}
	var fetched fetchedRecord
	if err := json.Unmarshal([]byte(earlier), &fetched); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(fetchedRecord{want, page.Visits{FirstVisitedAt: at, VisitCount: 2}, 0}, fetched); diff != "" {
		t.Errorf("record of a set (-want +got):\n%s", diff)
	}
}

// membersOf returns the members of v in JSON.
func membersOf(t *testing.T, v any) (members map[string]json.RawMessage) {
	t.Helper()
	if err := json.Unmarshal(wire.JSON(v), &members); err != nil {
		t.Fatal(err)
	}
	return members
}

func TestPackedRecordsKeepEachField(t *testing.T) {
	p := pageRecord{Source: Sum{1, 2}, Job: 1 << 60, Edition: 3}
	p.Page = filledPage(t).Record
	p.Page.FetchedAt = time.Date(9999, 12, 31, 23, 59, 59, 999, time.UTC) // an origin's word
	fillNumbers(&p.Page.Info)
	p.Page.ReadAt = time.Unix(5, 6).UTC()
	p.Page.GitHub.Owner, p.Page.Error.Kind = "owner", "http"
	var got pageRecord
	if !wire.Unmarshal(wire.Pack(&p), &got) {
		t.Fatal("a page's record does not decode")
	}
	if diff := cmp.Diff(p, got); diff != "" {
		t.Errorf("page (-want +got):\n%s", diff)
	}
	if n := reflect.TypeFor[pageRecord]().NumField(); n != 4 {
		t.Errorf("a page's record has %d fields, want 4: is each packed?", n)
	}
	r := renditionRecord{Body: Sum{3}}
	fillNumbers(&r.Rendition)
	r.Source, r.Recipe, r.From, r.Title, r.Description = Sum{4}, "r", page.Local, "t", "d"
	r.CanonicalURL, r.PageType, r.Meta, r.Warnings = "c", "p", page.Meta{"a": "b", "c": ""}, []string{"w", ""}
	r.Expires, r.Fresh, r.FetchedAt = p.Page.CreatedAt, p.Page.FetchedAt, time.Unix(-1, 5).UTC()
	r.FinalURL, r.Rendered, r.Validator, r.ContentHash, r.Excerpt = "f", true, "v", "h", "e"
	r.Readme, r.SymbolMap = Span{1, 2}, Span{3, 4}
	r.Links = &Links{URLs: []string{"l"}, Cut: true}
	for i, f := range reflect.VisibleFields(reflect.TypeFor[Rendition]()) {
		if f.Name != "Markdown" && reflect.ValueOf(r.Rendition).Field(i).IsZero() {
			t.Errorf("field %s is not tried", f.Name)
		}
	}
	var again renditionRecord
	if !wire.Unmarshal(wire.Pack(&r), &again) {
		t.Fatal("a rendition's record does not decode")
	}
	if diff := cmp.Diff(r, again); diff != "" {
		t.Errorf("rendition (-want +got):\n%s", diff)
	}
	r.Links, again = nil, renditionRecord{} // as older programs wrote it
	if !wire.Unmarshal(wire.Pack(&r), &again) || !cmp.Equal(r, again) {
		t.Errorf("a rendition without links becomes %+v", again)
	}
	var empty pageRecord
	if !wire.Unmarshal(wire.Pack(&pageRecord{}), &empty) || !reflect.DeepEqual(empty, pageRecord{}) {
		t.Errorf("an empty record becomes %+v", empty)
	}
	lengths := map[int]bool{} // of what older programs wrote
	for older := range 3 {
		former := p
		if former.Page.Unknown = ""; older > 0 {
			former.Page.ReadAt = time.Time{}
		}
		if older > 1 {
			former.Page.Preferences = nil
		}
		var read pageRecord
		if !wire.Unmarshal(wire.Pack(&former), &read) || !cmp.Equal(former, read) {
			t.Errorf("a page of an older program becomes %+v", read)
		}
		lengths[len(wire.Pack(&former))] = true
	}
	for n := range wire.Pack(&p) {
		if !lengths[n] && wire.Unmarshal(wire.Pack(&p)[:n], &pageRecord{}) {
			t.Errorf("the first %d bytes are a record", n)
		}
	}
}

// fillNumbers gives each number and text of a struct a value of its own.
func fillNumbers(v any) {
	s := reflect.ValueOf(v).Elem()
	for i := range s.NumField() {
		switch f := s.Field(i); {
		case f.CanInt():
			f.SetInt(int64(i) + 1)
		case f.Kind() == reflect.String:
			f.SetString(fmt.Sprint("text ", i))
		}
	}
}

// filledPage returns a page without a zero field.
func filledPage(t *testing.T) (p page.Page) {
	t.Helper()
	for _, f := range reflect.VisibleFields(reflect.TypeFor[page.Page]()) {
		v := reflect.ValueOf(&p).Elem().FieldByIndex(f.Index)
		switch {
		case f.Anonymous:
		case f.Type == reflect.TypeFor[time.Time]():
			v.Set(reflect.ValueOf(time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)))
		case v.Kind() == reflect.String:
			v.SetString("text")
		case v.CanInt():
			v.SetInt(7)
		case v.Kind() == reflect.Bool:
			v.SetBool(true)
		case v.Kind() == reflect.Pointer:
			v.Set(reflect.New(f.Type.Elem()))
		case v.Kind() == reflect.Slice:
			v.Set(reflect.MakeSlice(f.Type, 1, 1))
		case v.Kind() == reflect.Map:
			v.Set(reflect.MakeMap(f.Type))
			v.SetMapIndex(reflect.ValueOf("k"), reflect.ValueOf("v"))
		case f.Name != "Info":
			t.Fatalf("field %s is a %s", f.Name, f.Type)
		}
	}
	p.Unknown = `{"future":1}`
	return p
}
