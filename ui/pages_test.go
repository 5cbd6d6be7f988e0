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

	"readthru/api"
	own "readthru/page"
	"readthru/store"
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
		Meta: own.Meta{text: text}, Excerpt: text, FetchedAt: time.Now(), Tokens: 7, Error: &own.Error{Message: text},
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
		fmt.Fprintf(&md, "# %s\n\n%s\n\n[link](<%s>) ![image](<%s>) <%s>\n\n```%s\n%s\n```\n\n| %s |\n|---|\n| %s |\n\n- [x] %s\n\n"+
			"[ref%d]\n\n[ref%d]: <%s> \"%s\"\n\n", v, v, v, v, v, v, v, v, v, v, i, i, v, v)
	}
	everything := w.put(t, "everything", strings.Join(all, " "), md.String())
	long := w.put(t, "long", strings.Repeat("long", 2500), "# "+strings.Repeat("long", 2500)+"\n\n`"+strings.Repeat("x", 9000)+"`\n")
	escaped := html.EscapeString(strings.Join(all, " "))
	converted := w.read(t, w.serve("/hostile", "text/html", `<!doctype html><title>`+escaped+`</title><meta name=author content="`+
		escaped+`"><script type="application/ld+json">{"@type":"Article","headline":"</script><script>hit()</script>"}</script>
		<main><h1>`+escaped+`</h1><p>`+strings.Repeat("Words of a page that are enough. ", 30)+escaped+strings.Join(all, "\n")+`</main>`,
		"Content-Disposition", `inline; filename="`+strings.ReplaceAll(all[0], `"`, "")+`.html"`))
	w.read(t, w.serve("/hostile", "text/html", `<title>x</title><main><p>`+strings.Repeat("Another version. ", 60)+escaped+`</main>`))
	paths := []string{"/pages", "/pages?host=a.test", "/pages?q=" + url.QueryEscape(all[0])}
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
	md := "# Calm\n\nA page with a [link](/x), an image ![a dot](/dot.png), an empty link [](/y), `code`.\n\n- [x] done\n\n" +
		"```go\nfunc main() { " + strings.Repeat("wide ", 80) + "}\n```\n\n| a | b |\n|---|---|\n| " + strings.Repeat("wide", 80) +
		" | 2 |\n\n<div>\nHTML " + strings.Repeat("wide ", 80) + "\n</div>\n\n> A quote.\n\n## Next\n\nText.\n"
	w.read(t, w.serve("/calm", "text/markdown", md))
	doc := w.read(t, w.serve("/calm", "text/markdown", strings.Replace(md, "Text", "Other text", 1)))
	path := "/pages/" + doc
	return []string{
		"/pages", path, path + "?view=raw", path + "?view=original", path + "?view=outline", path + "?view=versions",
		path + "?view=visits", path + "?view=links",
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
	for action, want := range map[string]string{"fetch": "?done=fetched", "add": "?done=added"} {
		if got := w.send(t, path+"/"+action, values, nil); got.status != 303 || got.header.Get("Location") != path+want {
			t.Errorf("%s: status %d, to %s", action, got.status, got.header.Get("Location"))
		}
	}
	if got := w.send(t, path+"/removed", values, nil); !strings.Contains(got.body, "Nothing was removed") {
		t.Errorf("what was removed: %d %s", got.status, got.body)
	}
	for view, want := range map[string][]string{
		"":               {`<h3 id="h-cooking">Cooking</h3>`, `#h-cooking"`, "image: a dot", w.origin + "/more", "1 image is not loaded"},
		"?images=1":      {`<img loading="lazy" src="/api/v1/pages/` + doc + "/image?url=" + url.QueryEscape(w.origin+"/dot.png")},
		"?view=raw":      {"## Cooking"},
		"?view=original": {"&lt;h2 id=x&gt;"},
		"?view=versions": {"<del>an</del><ins>two</ins>"},
		"?view=visits":   {"agent &lt;b&gt;"},
		"?view=links":    {"/more", "/dot.png"},
		"?done=added":    {"Added to the base."},
		"?done=nonsense": {"Quinces"},
	} {
		got := w.do(t, http.MethodGet, path+view, nil)
		for _, text := range want {
			if !strings.Contains(got.body, text) {
				t.Errorf("%s%s lacks %q", path, view, text)
			}
		}
	}
	list, err := w.server.Client("test").BaseDocuments(t.Context(), "fruit", "", 10)
	if err != nil || len(list.Documents) != 1 {
		t.Errorf("the base has %+v, %v", list, err)
	}
}

func TestALongPageIsReadInParts(t *testing.T) {
	w := newWorld(t)
	var md strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&md, "## Heading %d\n\nText %d. %s\n\n", i, i, strings.Repeat("word ", 100))
	}
	fmt.Fprintf(&md, "```go\n%s```\n\n%s\n\nThe end.\n", strings.Repeat("line of code\n", 20000), strings.Repeat("ü", 200_000))
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
	if all != 2000+20000+200_000+1 {
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
