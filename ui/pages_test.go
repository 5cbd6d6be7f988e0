package ui_test

import (
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/readthru/readthru/api"
	own "github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// serve has the origin answer a path.
func (w *world) serve(path, contentType, body string, fields ...string) string {
	w.pages[path] = func(rw http.ResponseWriter) {
		rw.Header().Set("Content-Type", contentType)
		rw.Header().Set("Cache-Control", "max-age=60")
		for i := 0; i < len(fields); i += 2 {
			rw.Header().Set(fields[i], fields[i+1])
		}
		_, _ = io.WriteString(rw, body)
	}
	return w.origin + path
}

// read has an agent read a URL, and returns the page's id.
func (w *world) read(t *testing.T, raw string) string {
	t.Helper()
	p, err := w.server.Client("agent <b>").Fetch(t.Context(), api.FetchRequest{URL: raw, Force: true})
	if err != nil || p.Error != nil {
		t.Fatalf("read %s: %v, %+v", raw, err, p)
	}
	return p.Doc
}

// put stores a page whose record says text wherever an origin has a say.
func (w *world) put(t *testing.T, name, text, md string) string {
	t.Helper()
	target := "https://a.test/" + url.PathEscape(name)
	p := own.Record{
		URL: target + "?" + text, NormalizedURL: target, FinalURL: target, Title: text, Display: text, Description: text,
		Type: own.Type(text), Source: own.Source(text), Warnings: []string{text, text}, ContentType: text,
		Preferences: own.Preferences{{Use: own.Use(text), Says: text, In: text}},
		Meta:        own.Meta{text: text}, Excerpt: text, FetchedAt: time.Now(), Tokens: 7, Error: &own.Error{Message: text},
	}
	if _, err := w.store.PutPage(&p, []byte(md), store.Sum{}); err != nil {
		t.Fatal(err)
	}
	w.store.AddVisit(own.KeyOf(target), store.Visit{
		URL: p.URL, Agent: text, Session: "s", User: text, Source: own.Source(text), Tokens: 7,
	})
	return own.KeyOf(target).Doc()
}

// hostilePages stores pages that want to run scripts, and returns the paths that show them.
func hostilePages(t *testing.T, w *world) []string {
	t.Helper()
	all := vectors()
	var md strings.Builder
	for i, v := range all {
		w.put(t, fmt.Sprint("vector", i), v, v)
		fmt.Fprintf(&md, "# %s\n\n%s\n\n[link](<%s>) ![image](<%s>) <%s>\n\n```%s\n%s\n```\n\n"+
			"| %s |\n|---|\n| %s |\n\n- [x] %s\n\n"+
			"> [!NOTE]\n> %s\n\n> [!%s]\n> x\n\n"+
			"[ref%d]\n\n[ref%d]: <%s> \"%s\"\n\n", v, v, v, v, v, v, v, v, v, v, v, v, i, i, v, v)
	}
	everything := w.put(t, "everything", strings.Join(all, " "), md.String())
	long := w.put(t, "long", strings.Repeat("long", 2500), "# "+strings.Repeat("long", 2500)+
		"\n\n`"+strings.Repeat("x", 9000)+"`\n")
	escaped := html.EscapeString(strings.Join(all, " "))
	converted := w.read(t, w.serve("/hostile", "text/html", `<!doctype html><title>`+escaped+
		`</title><meta name=author content="`+
		escaped+`"><script type="application/ld+json">{"@type":"Article","headline":`+
		`"</script><script>hit()</script>"}</script>
		<main><h1>`+escaped+`</h1><p>`+strings.Repeat("Words of a page that are enough. ", 30)+escaped+
		strings.Join(all, "\n")+`</main>`,
		"Content-Disposition", `inline; filename="`+strings.ReplaceAll(all[0], `"`, "")+`.html"`))
	w.read(t, w.serve("/hostile", "text/html", `<title>x</title><main><p>`+
		strings.Repeat("Another version. ", 60)+escaped+`</main>`))
	client := w.server.Client("test")
	base := api.NewBase{Name: "hostile", Description: strings.Join(all[:20], " ")}
	if _, err := client.CreateBase(t.Context(), base); err != nil {
		t.Fatal(err)
	}
	for _, v := range append(all, strings.Repeat("long", 2500)) {
		in := api.Ingestion{
			Title: v, Label: "x" + v[:min(len(v), 90)], Text: "# " + v + "\n\nhit " + v + "\n", KB: "hostile",
			URL: "https://a.test/" + v[:min(len(v), 900)],
		}
		if _, err := client.Ingest(t.Context(), in); err != nil && api.CodeOf(err) != api.CodeInvalid {
			t.Fatal(err)
		}
	}
	if err := w.know.Describe(t.Context()); err != nil {
		t.Fatal(err)
	}
	found, err := client.Search(t.Context(), api.SearchQuery{Text: "hit", Limit: 1})
	if err != nil || len(found.Hits) == 0 {
		t.Fatal(err, found)
	}
	paths := []string{
		"/pages", "/pages?host=a.test", "/pages?q=" + url.QueryEscape(all[0]), "/search?q=hit&limit=200", "/bases",
		"/bases/hostile", "/passages/" + found.Hits[0].Passage,
		"/search/quote?page=" + found.Hits[0].Doc + "&quote=hit",
	}
	for _, doc := range []string{everything, long, converted} {
		paths = append(paths, "/pages/"+doc)
	}
	for _, view := range []string{"raw", "original", "outline", "versions", "visits", "links"} {
		paths = append(paths, "/pages/"+converted+"?view="+view)
	}
	return paths
}

// calmPages stores a page as most are, and returns the paths that show it.
func calmPages(t *testing.T, w *world) []string {
	t.Helper()
	md := "# Calm\n\nA page with a [link](/x), an image ![a dot](/dot.png), an empty link [](/y), `code`.\n\n" +
		"- [x] done\n\n" +
		"```go\nfunc main() { " + strings.Repeat("wide ", 80) + "}\n```\n\n| a | b |\n|---|---|\n| " +
		strings.Repeat("wide", 80) +
		" | 2 |\n\n<div>\nHTML " + strings.Repeat("wide ", 80) + "\n</div>\n\n> A quote.\n\n" +
		"> [!NOTE]\n> One.\n\n> [!TIP]\n> Two.\n\n> [!IMPORTANT]\n> Three.\n\n> [!WARNING]\n> Four.\n\n" +
		"> [!CAUTION]\n> Five.\n\n## Next\n\nText.\n"
	w.read(t, w.serve("/calm", "text/markdown", md))
	doc := w.read(t, w.serve("/calm", "text/markdown", strings.Replace(md, "Text", "Other text", 1)))
	client := w.server.Client("test")
	if _, err := client.CreateBase(t.Context(), api.NewBase{Name: "calm"}); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Ingest(t.Context(), api.Ingestion{Title: "Calm", Text: md, KB: "calm"}); err != nil {
		t.Fatal(err)
	}
	path := "/pages/" + doc
	return []string{
		"/pages?q=calm", path, path + "?view=raw", path + "?view=versions", path + "?view=visits", path + "?view=links",
		"/search?q=calm", "/search/quote?page=" + doc + "&quote=Text", "/bases", "/bases/calm",
	}
}

const token = `name="token" value="`

// tokenOf returns the token of the forms of a page.
func (w *world) tokenOf(t *testing.T, path string) string {
	t.Helper()
	_, rest, ok := strings.Cut(w.do(t, http.MethodGet, path, nil).body, token)
	value, _, _ := strings.Cut(rest, `"`)
	if !ok || len(value) < 20 {
		t.Fatalf("%s: no token", path)
	}
	return value
}

// send sends a form as a page of ours does, unless change makes it something else.
func (w *world) send(t *testing.T, path string, values url.Values, change func(*http.Request)) reply {
	t.Helper()
	return w.do(t, http.MethodPost, path, func(r *http.Request) {
		body := values.Encode()
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", w.base)
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		r.Body, r.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
		if change != nil {
			change(r)
		}
	})
}

func TestFormsAreTakenFromOurPagesAlone(t *testing.T) {
	w := newWorld(t)
	doc := w.put(t, "kept", "Kept", "# Kept\n")
	path := "/pages/" + doc + "/delete"
	good := url.Values{"token": {w.tokenOf(t, "/pages/"+doc)}}
	for name, tt := range map[string]struct {
		values url.Values
		change func(*http.Request)
		want   int
	}{
		"no token":           {nil, nil, 403},
		"an earlier token":   {url.Values{"token": {"ABCDEFGHIJKLMNOPQRSTUVWXYZ"}}, nil, 403},
		"no origin":          {good, func(r *http.Request) { r.Header.Del("Origin") }, 415},
		"a null origin":      {good, func(r *http.Request) { r.Header.Set("Origin", "null") }, 403},
		"another origin":     {good, func(r *http.Request) { r.Header.Set("Origin", "https://evil.test") }, 403},
		"another port":       {good, func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-site") }, 403},
		"DNS rebinding":      {good, func(r *http.Request) { r.Host = "evil.test" }, 403},
		"a stranger":         {good, func(r *http.Request) { r.Header.Del("Authorization") }, 401},
		"plain text":         {good, func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") }, 415},
		"a token in the URL": {nil, func(r *http.Request) { r.URL.RawQuery = good.Encode() }, 403},
	} {
		if got := w.send(t, path, tt.values, tt.change); got.status != tt.want {
			t.Errorf("%s: status %d, want %d", name, got.status, tt.want)
		}
	}
	if got := w.send(t, "/api/v1/cache/clear", good, nil); got.status != http.StatusUnsupportedMediaType {
		t.Errorf("a form to an operation: status %d", got.status)
	}
	if got := w.do(t, http.MethodGet, path, nil); got.status == http.StatusOK {
		t.Errorf("GET %s: status %d", path, got.status)
	}
	if old := w.send(t, path, nil, nil); !strings.Contains(old.body, "reload the page") {
		t.Errorf("an old page says %q", old.body)
	}
	if got := w.do(t, http.MethodGet, "/pages/"+doc, nil); got.status != http.StatusOK {
		t.Fatalf("the page is gone: %d", got.status)
	}
	if got := w.send(t, path, good, nil); got.status != http.StatusSeeOther {
		t.Errorf("our own form: status %d", got.status)
	}
	if got := w.do(t, http.MethodGet, "/pages/"+doc, nil); got.status != http.StatusNotFound {
		t.Errorf("the deleted page: status %d", got.status)
	}
}

func TestAPageIsReadAndWorkedOn(t *testing.T) {
	w := newWorld(t)
	article := "<title>Quinces</title><main><h1>Quinces</h1><p>" + strings.Repeat("A quince is hard and yellow. ", 20) +
		"<h2 id=x>Cooking</h2><p>%s <a href=/more>more</a> <img src=/dot.png alt='a dot'></main>"
	raw := w.serve("/quince", "text/html", fmt.Sprintf(article, "Boil them for an hour."))
	doc := w.read(t, raw)
	w.serve("/quince", "text/html", fmt.Sprintf(article, "Boil them for two hours."))
	w.serve("/dot.png", "image/png", "\x89PNG")
	path := "/pages/" + doc
	values := url.Values{"token": {w.tokenOf(t, path)}, "base": {"fruit"}}
	for action, want := range map[string]string{
		"fetch": "?done=fetched", "convert": "?done=converted", "add": "?done=added",
	} {
		if got := w.send(t, path+"/"+action, values, nil); got.status != 303 || got.header.Get("Location") != path+want {
			t.Errorf("%s: status %d, to %s", action, got.status, got.header.Get("Location"))
		}
	}
	if got := w.send(t, path+"/removed", values, nil); !strings.Contains(got.body, "Nothing was removed") {
		t.Errorf("what was removed: %d %s", got.status, got.body)
	}
	for view, want := range map[string][]string{
		"": {
			`>Convert again</button>`, `<h3 id="h-cooking">Cooking</h3>`, `#h-cooking"`, "image: a dot", w.origin + "/more",
			"1 image is not loaded",
		},
		"?images=1": {`<img loading="lazy" src="/api/v1/pages/` + doc + "/image?url=" +
			url.QueryEscape(w.origin+"/dot.png")},
		"?view=raw":      {"## Cooking"},
		"?view=original": {"&lt;h2 id=x&gt;"},
		"?view=versions": {"<del>an</del><ins>two</ins>"},
		"?view=visits":   {"agent &lt;b&gt;"},
		"?view=links":    {"/more", "/dot.png"},
		"?done=added":    {"Added to the base."},
		"?done=nonsense": {"Quinces"}, "?done=converted": {"Converted again from what is stored."},
	} {
		got := w.do(t, http.MethodGet, path+view, nil)
		for _, text := range want {
			if !strings.Contains(got.body, text) {
				t.Errorf("%s%s lacks %q", path, view, text)
			}
		}
	}
	kept := "/pages/" + w.put(t, "kept", "Kept", "# Kept\n")
	if got := w.send(t, kept+"/convert", values, nil); got.status != 409 || !strings.Contains(got.body, "fetch it again") {
		t.Errorf("a page that was not converted here: status %d %s", got.status, got.body)
	}
	list, err := w.server.Client("test").BaseDocuments(t.Context(), "fruit", "", 10)
	if err != nil || len(list.Documents) != 1 {
		t.Errorf("the base has %+v, %v", list, err)
	}
}

func TestALongPageIsReadInParts(t *testing.T) {
	w := newWorld(t)
	var md strings.Builder
	const headings, lines, letters = 400, 10_000, 100_000 // each two parts and more
	for i := range headings {
		fmt.Fprintf(&md, "## Heading %d\n\nText %d. %s\n\n", i, i, strings.Repeat("word ", 100))
	}
	fmt.Fprintf(&md, "```go\n%s```\n\n%s\n\nThe end.\n", strings.Repeat("line of code\n", lines),
		strings.Repeat("ü", letters))
	doc := w.put(t, "long", "Long", md.String())
	path, all := "/pages/"+doc, 0
	for n := 0; path != ""; n++ {
		body := w.do(t, http.MethodGet, path, nil).body
		if len(body) > 300_000 || n > 100 {
			t.Fatalf("%s has %d bytes", path, len(body))
		}
		_, text, _ := strings.Cut(body, `<article class="md" dir="auto">`)
		text, _, _ = strings.Cut(text, "</article>")
		all += strings.Count(text, "<h3 ") + strings.Count(text, "line of code") + strings.Count(text, "ü") +
			strings.Count(text, "The end.")
		if strings.Contains(text, "\ufffd") || strings.Contains(text, "```") {
			t.Errorf("%s: text is cut within a character or a fence", path)
		}
		_, rest, more := strings.Cut(body, `<a rel="next" href="`)
		next, _, _ := strings.Cut(rest, `"`)
		if path = ""; more {
			path = html.UnescapeString(next)
		}
	}
	if all != headings+lines+letters+1 {
		t.Errorf("%d pieces are shown", all)
	}
}

func TestPagesAreListedByFilters(t *testing.T) {
	w := newWorld(t)
	for i := range 130 {
		w.put(t, fmt.Sprint("p", i), fmt.Sprint("Title ", i), "text")
	}
	seen := map[string]bool{}
	for path := "/pages?host=a.test"; path != ""; {
		body := w.do(t, http.MethodGet, path, nil).body
		for _, row := range strings.Split(body, `<td class="url"><a href="`)[1:] {
			doc, _, _ := strings.Cut(row, `"`)
			seen[doc] = true
		}
		_, rest, more := strings.Cut(body, `rel="next"`)
		before, _, _ := strings.Cut(body, `" rel="next"`)
		if path = ""; more && rest != "" {
			path = html.UnescapeString(before[strings.LastIndex(before, `"`)+1:])
		}
	}
	if len(seen) != 130 {
		t.Errorf("%d pages are listed, want 130", len(seen))
	}
	for query, want := range map[string]string{
		"q=Title+99": "Title 99<", "q=none": "No page matches", "since=whenever": "is not a time",
		"kind=" + url.QueryEscape("Title 5"): "Title 5<", "warning=any&source=Title+7": "Title 7<",
	} {
		if body := w.do(t, http.MethodGet, "/pages?"+query, nil).body; !strings.Contains(body, want) {
			t.Errorf("%s lacks %q", query, want)
		}
	}
}

func TestSearchFindsAndVerifies(t *testing.T) {
	w := newWorld(t)
	w.put(t, "quince", "Quinces <b>", "# Quinces\n\n## Cooking <i>\n\nA quince is boiled for an hour.\n\n"+
		"## Eating\n\nIt is eaten.\n")
	for i := range 30 {
		text := fmt.Sprintf("# Other %d\n\nA text about apples, the %dth.\n", i, i)
		w.put(t, fmt.Sprint("other", i), fmt.Sprint("Other ", i), text)
	}
	if err := w.know.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"/search":          "Everything that was read is searched",
		"/search?q=quince": "A <mark>quince</mark> is boiled", "/search?q=nothing": "Nothing was found",
		"/search?q=apples": "limit=60", "/search?q=quince&since=x": "is not a time",
		"/search?q=quince&host=b.test": "Nothing was found",
		"/search?q=quicne&host=a.test": `<a href="/search?host=a.test&amp;q=%22quicne%22">Search for the words as typed</a>`,
		"/search/quote?page=https://a.test/quince&quote=A+quince+is+boiled+for+an+hour": "The page says this",
		"/search/quote?page=https://a.test/quince&quote=A+quince+is+eaten+raw":          "does not say this",
		"/search/quote?page=https://a.test/none&quote=A":                                "note bad",
	} {
		if got := w.do(t, http.MethodGet, path, nil); !strings.Contains(got.body, want) {
			t.Errorf("%s lacks %q: %s", path, want, got.body)
		}
	}
	body := w.do(t, http.MethodGet, "/search?q=quince", nil).body
	for _, part := range []string{`class="url"><a href="`, `· <a href="`} {
		_, rest, _ := strings.Cut(body, part)
		link, _, _ := strings.Cut(rest, `"`)
		got := w.do(t, http.MethodGet, html.UnescapeString(link), nil)
		if got.status == http.StatusSeeOther && !strings.HasSuffix(got.header.Get("Location"), "?part=1#h-cooking-") ||
			got.status != http.StatusSeeOther && !strings.Contains(got.body, "boiled for an hour") {
			t.Errorf("%s: status %d, to %s", link, got.status, got.header.Get("Location"))
		}
	}
}

func TestBasesAreMadeAndMoved(t *testing.T) {
	w := newWorld(t)
	values := url.Values{"token": {w.tokenOf(t, "/bases")}, "name": {"fruit"}, "kind": {"text"}, "description": {"Of <b>"}}
	if got := w.send(t, "/bases", values, nil); got.header.Get("Location") != "/bases/fruit?done=created" {
		t.Fatalf("a new base: %d %s", got.status, got.body)
	}
	client := w.server.Client("test")
	text := api.Ingestion{Title: "Quince <b>", Text: "# Quince\n\nIt is yellow.\n", KB: "fruit"}
	if _, err := client.Ingest(t.Context(), text); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"/bases": "Of &lt;b&gt;", "/bases/fruit": "Quince &lt;b&gt;", "/bases/none": "none",
		"/bases/fruit?done=created": "was created",
	} {
		if got := w.do(t, http.MethodGet, path, nil); !strings.Contains(got.body, want) {
			t.Errorf("%s lacks %q", path, want)
		}
	}
	for name, change := range map[string]url.Values{
		"a name that exists": values, "a crawl without a URL": {"token": values["token"], "name": {"x"}, "kind": {"crawl"}},
		"a bad name": {"token": values["token"], "name": {"X Y"}, "kind": {"text"}},
	} {
		if got := w.send(t, "/bases", change, nil); got.status < 400 || !strings.Contains(got.body, "note bad") {
			t.Errorf("%s: status %d", name, got.status)
		}
	}
	pack := w.do(t, http.MethodGet, "/api/v1/kbs/fruit/pack", nil).body
	for formToken, want := range map[string]int{"old": http.StatusForbidden, values.Get("token"): http.StatusSeeOther} {
		body := "--x\r\nContent-Disposition: form-data; name=\"token\"\r\n\r\n" + formToken +
			"\r\n--x\r\nContent-Disposition: form-data; name=\"name\"\r\n\r\ncopy\r\n--x\r\n" +
			"Content-Disposition: form-data; name=\"file\"; filename=\"f.kb\"\r\n\r\n" + pack + "\r\n--x--\r\n"
		got := w.send(t, "/bases/import", nil, func(r *http.Request) {
			r.Header.Set("Content-Type", "multipart/form-data; boundary=x")
			r.Body, r.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
		})
		if got.status != want {
			t.Errorf("import with the token %q: status %d, want %d: %s", formToken, got.status, want, got.body)
		}
	}
	if got := w.send(t, "/bases/fruit/refresh", values, nil); got.status != http.StatusConflict {
		t.Errorf("refresh a base of texts: status %d", got.status)
	}
	if got := w.send(t, "/bases/fruit/delete", values, nil); got.status != http.StatusSeeOther {
		t.Errorf("delete: status %d", got.status)
	}
	if list, err := client.Bases(t.Context()); err != nil || len(list.KBs) != 1 || list.KBs[0].Name != "copy" {
		t.Errorf("bases %+v, %v", list, err)
	}
}

// TestWhatAnOriginStatesAboutUseIsShown beside the page.
func TestWhatAnOriginStatesAboutUseIsShown(t *testing.T) {
	w := newWorld(t)
	doc := w.read(t, w.serve("/stated", "text/html", "<title>Stated</title><main><h1>Stated</h1><p>"+
		strings.Repeat("Words of a page that are enough. ", 30)+"</main>", "Content-Signal", "search=yes, ai-train=no"))
	page := w.do(t, http.MethodGet, "/pages/"+doc, nil)
	for _, want := range []string{
		"listing in a search: yes", "training of a model: no", "&#34;Content-Signal: ai-train=no&#34; in",
	} {
		if !strings.Contains(page.body, want) {
			t.Errorf("no %q on the page", want)
		}
	}
}
