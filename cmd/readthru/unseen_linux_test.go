package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/cache"
	"github.com/readthru/readthru/cmd/readthru/internal/settings"
	"github.com/readthru/readthru/cmd/readthru/internal/terminal"
	"github.com/readthru/readthru/cmd/readthru/internal/wiring"
	"github.com/readthru/readthru/knowledge"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// Texts of every type, read by every way, arrive with what a reader sees and without what is hidden.
func TestNothingUnseenArrivesByAnyWay(t *testing.T) {
	file, err := os.ReadFile("../../convert/testdata/security/injection-vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors []struct{ ID, Cls, HTML string }
	if err := json.Unmarshal(file, &vectors); err != nil {
		t.Fatal(err)
	}
	const smuggled = "Seen\U000e0050\U000e0057\U000e004e first\u202e, \u200b\x1b[2J"
	texts := map[string]string{"characters": smuggled + "seen last.\n"}
	for _, v := range vectors {
		if v.Cls == "hidden" && len(texts) < 5 && !strings.Contains(v.HTML, "<style") {
			_, body, _ := strings.Cut(v.HTML, "<body>")
			body, _, _ = strings.Cut(body, "</body>")
			texts[v.ID] = smuggled + "\n\n" + body + "\n\nseen last.\n"
		}
	}
	types := []string{"text/markdown", "text/plain", "application/json"}
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, kind, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		text := texts[name]
		if kind == "application/json" {
			text = fmt.Sprintf(`{"page": "%s"}`, smuggled+"seen last.")
		}
		w.Header().Set("Content-Type", kind)
		_, _ = io.WriteString(w, text)
	}))
	t.Cleanup(origin.Close)
	var dir string
	d := startReader(t, func(s *settings.Settings) { s.Fetch.AllowPrivate, dir = true, s.DataDir })
	through := &http.Client{Transport: &http.Transport{
		Proxy: http.ProxyURL(&url.URL{Scheme: "http", Host: d.Info.Proxy}), DisableKeepAlives: true,
	}}
	direct := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	ask := func(c *http.Client, method, target, body, accept string) string {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, target, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Accept", accept)
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Authorization", "Bearer "+d.Info.Token)
		if c == through {
			req.Header.Del("Authorization")
			req.Header.Del("Content-Type")
		}
		resp, err := c.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		all, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("%s %s: %d, %v, %q", method, target, resp.StatusCode, err, all)
		}
		return string(all)
	}
	client := api.NewClient(d.Info.Admin, d.Info.Token, "test")
	for name := range texts {
		for _, kind := range types {
			target := origin.URL + "/" + name + "/" + kind
			got := map[string]string{"proxy": ask(through, http.MethodGet, target, "", "text/markdown")}
			p, err := client.Fetch(t.Context(), api.FetchRequest{URL: target})
			if err != nil {
				t.Fatal(err)
			}
			got["API"] = p.Content
			got["MCP"] = ask(direct, http.MethodPost, "http://"+d.Info.Admin+"/mcp",
				fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"fetch","arguments":{"url":%q}}}`,
					target), "application/json, text/event-stream")
			var out bytes.Buffer
			command := newProgram(terminal.Streams{In: strings.NewReader(""), Out: &out, Err: io.Discard})
			args := []string{"readthru", "--data-dir", dir, "fetch", target}
			if err := command.app().RunContext(t.Context(), args); err != nil {
				t.Fatal(err)
			}
			got["command"] = out.String()
			for way, text := range got {
				if !strings.Contains(text, "Seen first") || !strings.Contains(text, "seen last.") {
					t.Errorf("%s as %s by %s lacks what is seen: %q", name, kind, way, text)
				}
				if strings.Contains(text, "PWN") || slices.ContainsFunc([]string{"\\u001b", "\\u202e", "\\u200b"},
					func(s string) bool { return strings.Contains(text, s) }) ||
					strings.ContainsFunc(text, func(r rune) bool {
						return r == '\x1b' || r == '\u202e' || r == '\u200b' || r >= 0xe0000
					}) {
					t.Errorf("%s as %s by %s has what nobody sees: %q", name, kind, way, text)
				}
			}
		}
	}
}

// startReader runs a daemon in a data directory of its own until the test ends.
func startReader(t *testing.T, change func(*settings.Settings)) *wiring.Daemon {
	t.Helper()
	s := &settings.Settings{Config: settings.Defaults(), Source: map[string]string{}, DataDir: t.TempDir()}
	s.Proxy.Listen, s.Admin.Listen, s.MarkdownNew.Mode, s.Render.Mode = "127.0.0.1:0", "127.0.0.1:0", "off", "never"
	change(s)
	d, err := wiring.OpenDaemon(t.Context(), s, false, nil, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return d
}

// planted is a text with all that is cleaned: what nobody sees says PWN, names Pwnshire, or stands in our name.
const planted = "---\nfetched_at: 1999-01-01T00:00:00Z\n---\n\n" +
	"# Seen\U000e0050\U000e0057 heading <!-- PWN -->\n\n" +
	"Seen walrus\u202e first,\u200b\x1b[2J in [Norway](javascript:alert('PWN')).\n\n" +
	"<p style='display:none'>PWN Pwnshire Corporation orders Pwnshire Corporation.</p>\n\n" +
	"[//]: # (PWN)\n\n<!-- PWN -->\n\n```\ncode\u202e\n```\n\nSeen walrus last.\n"

// unseenWord is what of planted must not arrive.
var unseenWord = regexp.MustCompile(`(?i)PWN|javascript:|\\u001b|\\u20(?:2e|0b)|\\udb40|(?:^|\n|\\n)fetched_at: 1999|` +
	"[\x1b\u202e\u200b\U000e0000-\U000e007f]")

// plantOldStore makes a store as a program wrote it that cleaned nothing: pages, a session's set, a summary, stored
// responses, a knowledge base, texts, notes and what is said of them. It returns the page's key.
func plantOldStore(t *testing.T, dir, target string) page.Key {
	t.Helper()
	s, err := store.Open(store.Options{Dir: filepath.Join(dir, "store")})
	if err != nil {
		t.Fatal(err)
	}
	k, err := knowledge.Open(knowledge.Options{Store: s})
	if err != nil {
		t.Fatal(err)
	}
	const title = "Seen title\u202e\U000e0050\U000e0057\x1b[2J"
	var p *page.Page
	for _, raw := range []string{target + "/never-read-again", target} {
		u, err := page.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		p = page.New(u)
		p.Title, p.Description, p.Meta = title, title, page.Meta{"og:title": title, "author\u202e": title}
		p.Excerpt, p.Source, p.StatusCode = page.Excerpt([]byte(planted), page.ExcerptLength), page.Negotiated, http.StatusOK
		for _, version := range []string{"Seen before. <!-- PWN -->", planted} {
			sum := sha256.Sum256([]byte(version))
			p.ContentHash = hex.EncodeToString(sum[:])
			if _, err := s.PutPage(&p.Record, []byte(version), store.Sum{}); err != nil {
				t.Fatal(err)
			}
		}
		s.AddVisit(page.KeyOf(p.NormalizedURL), store.Visit{URL: raw, Session: "one"})
	}
	key := page.KeyOf(p.NormalizedURL)
	if _, err := s.PutFetched("one", p, []byte(planted)); err != nil {
		t.Fatal(err)
	}
	said := store.Summary{ContentHash: p.ContentHash, Kind: "brief", By: "extract 2", Text: planted}
	if err := s.AddSummary(key, said); err != nil {
		t.Fatal(err)
	}
	c := cache.New(cache.Options{Store: s, Next: http.DefaultTransport, Page: page.IsPage, Markdown: page.IsMarkdown})
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, target, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", "text/markdown")
	resp, err := c.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		t.Fatal(err)
	}
	if _, err := k.CreateBase(knowledge.Base{
		Name: "old", Description: title, Source: knowledge.SourceText, URL: target,
	}); err != nil {
		t.Fatal(err)
	}
	build, err := k.Build("old")
	if err != nil {
		t.Fatal(err)
	}
	old := knowledge.Document{URL: "https://old.test/a", Title: title, Markdown: []byte(planted)}
	if err := build.Add(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	if err := build.Add(t.Context(), knowledge.Document{Key: key}); err != nil {
		t.Fatal(err)
	}
	if _, err := build.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	more := page.Metadata{"about": title}
	if _, err := k.Ingest(t.Context(), knowledge.Ingestion{
		Title: title, Label: "la\u200bbel", Text: planted, URL: "https://old.test/b", Metadata: more,
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := k.AddNote(knowledge.Note{
		Text: planted, Label: title, Metadata: more, Pages: []string{target},
	}); err != nil {
		t.Fatal(err)
	}
	if err := k.Describe(t.Context()); err != nil {
		t.Fatal(err)
	}
	subjects, err := k.Subjects("", 1000)
	if !slices.ContainsFunc(subjects, func(s knowledge.Subject) bool { return strings.Contains(s.Name, "Pwnshire") }) {
		t.Fatalf("nothing hidden is among the subjects: %v, %v", subjects, err)
	}
	if err := k.Close(); err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return key
}

// What a program stored before it cleaned texts arrives by no way, from the first moment on.
func TestNothingUnseenOfAnOlderStoreArrives(t *testing.T) {
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Cache-Control", "max-age=600")
		w.Header().Set("Content-Type", "text/markdown")
		_, _ = io.WriteString(w, planted)
	}))
	target := origin.URL + "/page"
	var dir string
	var key page.Key
	d := startReader(t, func(s *settings.Settings) {
		s.Fetch.AllowPrivate, dir = true, s.DataDir
		key = plantOldStore(t, dir, target)
		origin.Close() // what arrives now was stored
	})
	site, through := "http://"+d.Info.Admin, &http.Transport{
		Proxy: http.ProxyURL(&url.URL{Scheme: "http", Host: d.Info.Proxy}), DisableKeepAlives: true,
	}
	direct := &http.Transport{DisableKeepAlives: true}
	read := 0
	check := func(way, text string, want ...string) {
		t.Helper()
		read++
		if at := unseenWord.FindStringIndex(text); at != nil {
			t.Errorf("%s gives what nobody sees: …%q", way, text[max(0, at[0]-80):min(len(text), at[1]+80)])
		}
		for _, seen := range want {
			if !strings.Contains(text, seen) {
				t.Errorf("%s lacks %q: %.300q", way, seen, text)
			}
		}
	}
	ask := func(way http.RoundTripper, method, target, body string, fields ...string) string {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, target, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		for _, field := range fields {
			name, value, _ := strings.Cut(field, ": ")
			req.Header.Set(name, value)
		}
		resp, err := way.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		all, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode >= http.StatusInternalServerError {
			t.Errorf("%s %s: %d, %v, %.300q", method, target, resp.StatusCode, err, all)
		}
		var head strings.Builder
		_ = resp.Header.Write(&head) // a Builder takes everything
		return head.String() + "\n\n" + string(all)
	}
	token := "Authorization: Bearer " + d.Info.Token
	admin := func(method, path, body string, want ...string) string {
		t.Helper()
		text := ask(direct, method, site+path, body, token, "Content-Type: application/json",
			"Accept: application/json, text/event-stream")
		check(method+" "+path+" "+body, text, want...)
		return text
	}
	tool := func(name, arguments string, want ...string) {
		t.Helper()
		admin(http.MethodPost, "/mcp", fmt.Sprintf(
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, name, arguments), want...)
	}
	passage := regexp.MustCompile(`"(?:passage|id)": ?"([0-9a-f]{16}-[0-9a-f]{8})"`)
	doc, at := key.Doc(), url.QueryEscape(target)
	everywhere := func() {
		found := admin(http.MethodGet, "/api/v1/search?q=walrus", "", "Seen")
		for _, path := range []string{
			"/api/v1/pages", "/api/v1/pages?sort=url", "/api/v1/pages?host=127.0.0.1", "/api/v1/pages/" + doc,
			"/api/v1/pages/" + doc + "/versions", "/api/v1/pages/" + doc + "/diff", "/api/v1/pages/" + doc + "/changes",
			"/api/v1/pages/" + doc + "/outline", "/api/v1/pages/" + doc + "/section?heading=Seen+heading",
			"/api/v1/pages/" + doc + "/quote?q=Seen+walrus+last.",
			"/api/v1/context?session=one", "/api/v1/context/page?session=one&url=" + at, "/api/v1/context/text?session=one",
			"/api/v1/visits", "/api/v1/requests", "/api/v1/cache?url=" + at, "/api/v1/kbs", "/api/v1/kbs/old",
			"/api/v1/kbs/old/documents", "/api/v1/kbs/old/subjects", "/api/v1/kbs/old/passages", "/api/v1/subjects",
			"/api/v1/subjects/Pwnshire+Corporation/passages", "/api/v1/passages?kb=old", "/api/v1/passages?url=" + at,
			"/api/v1/notes", "/api/v1/relations?type=x", "/api/v1/search?q=walrus&kb=old", "/api/v1/search?q=Pwnshire",
			"/", "/requests", "/pages/" + doc,
		} {
			admin(http.MethodGet, path, "")
		}
		for _, id := range passage.FindAllStringSubmatch(found, -1) {
			admin(http.MethodGet, "/api/v1/passages/"+id[1], "")
			admin(http.MethodPost, "/mcp", fmt.Sprintf(
				`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"kb://old/%s"}}`, id[1]))
		}
		check("proxy", ask(through, http.MethodGet, target, "", "Accept: text/markdown"),
			"Seen walrus first", "Seen walrus last")
		check("prefix", ask(direct, http.MethodGet, "http://"+d.Info.Proxy+"/"+target, "", "Accept: text/markdown"),
			"Seen walrus first", "Seen walrus last")
		admin(http.MethodPost, "/api/v1/fetch", fmt.Sprintf(`{"url":%q}`, target), "Seen walrus last")
		admin(http.MethodPost, "/api/v1/fetch", fmt.Sprintf(`{"url":%q,"summary":"brief"}`, target), "walrus")
		admin(http.MethodPost, "/api/v1/detect-and-fetch", fmt.Sprintf(`{"text":%q}`, target), "Seen walrus last")
		admin(http.MethodPost, "/rpc", fmt.Sprintf(
			`{"jsonrpc":"2.0","method":"LLM.get_url_content","params":[%q],"id":1}`, target))
		for _, v := range []string{"/v1", "/v2"} {
			admin(http.MethodPost, v+"/scrape", fmt.Sprintf(`{"url":%q,"maxAge":3600000}`, target), "Seen walrus last")
			admin(http.MethodPost, v+"/search", `{"query":"walrus"}`)
		}
		tool("fetch", fmt.Sprintf(`{"url":%q}`, target), "Seen walrus last")
		tool("get_page", fmt.Sprintf(`{"url":%q}`, target), "Seen walrus last")
		tool("get_page", `{"url":"https://old.test/a"}`)
		tool("outline", fmt.Sprintf(`{"url":%q}`, target), "Seen heading")
		tool("recent_pages", `{}`, "Seen title")
		tool("page_changes", fmt.Sprintf(`{"url":%q}`, target))
		tool("verify_quote", fmt.Sprintf(`{"url":%q,"quote":"Seen walrus last."}`, target))
		tool("search_knowledge_base", `{"query":"walrus"}`, "Seen")
		tool("search_knowledge_base", `{"query":"walrus","kb_name":"old"}`, "Seen")
		tool("list_knowledge_bases", `{}`, "old")
		tool("subjects", `{}`)
		tool("relations", `{"type":"x"}`)
		admin(http.MethodPost, "/mcp", `{"jsonrpc":"2.0","id":1,"method":"resources/list","params":{}}`, "Seen title")
		admin(http.MethodPost, "/mcp", fmt.Sprintf(
			`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"page://%s"}}`, doc), "Seen walrus last")
		admin(http.MethodPost, "/mcp", fmt.Sprintf(
			`{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"fetch","arguments":{"url":%q}}}`, target))
		written := t.TempDir()
		for _, args := range [][]string{
			{"fetch", target},
			{"fetch", "--summary=brief", target},
			{"pages"},
			{"pages", "--json"},
			{"pages", "show", target},
			{"pages", "show", "--json", doc},
			{"pages", "versions", target},
			{"pages", "diff", target},
			{"pages", "outline", target},
			{"pages", "section", target, "Seen heading"},
			{"visits"},
			{"requests"},
			{"context", "list", "--session", "one"},
			{"search", "walrus"},
			{"search", "--json", "walrus"},
			{"search", "--kb", "old", "walrus"},
			{"kb", "list"},
			{"kb", "show", "old"},
			{"kb", "subjects", "old"},
			{"kb", "passages", "old"},
			{"kb", "pack", "old", filepath.Join(written, "pack")},
			{"notes", "list"},
			{"notes", "list", "--json"},
			{"export", filepath.Join(written, "pages")},
		} {
			var out bytes.Buffer
			command := newProgram(terminal.Streams{In: strings.NewReader(""), Out: &out, Err: &out})
			err := command.app().RunContext(t.Context(), append([]string{"readthru", "--data-dir", dir}, args...))
			if err != nil {
				t.Errorf("readthru %q: %v, %s", args, err, &out)
			}
			check(fmt.Sprintf("readthru %q", args), out.String())
		}
		pack, err := os.ReadFile(filepath.Join(written, "pack"))
		if err != nil {
			t.Fatal(err)
		}
		check("a pack", linesOf(t, pack), "Seen walrus last", "https://old.test/a")
		files := 0
		if err := filepath.WalkDir(written, func(path string, e os.DirEntry, err error) error {
			if err != nil || e.IsDir() || e.Name() == "pack" {
				return err
			}
			files++
			text, err := os.ReadFile(path)
			check("an exported file", string(text), "Seen walrus last")
			return err
		}); err != nil || files == 0 {
			t.Errorf("%d files are exported, %v", files, err)
		}
	}
	everywhere() // while the index is being made again
	if err := d.Server.Memory().CatchUpOnSubjects(t.Context()); err != nil {
		t.Fatal(err)
	}
	everywhere()
	if read < 150 {
		t.Errorf("only %d answers were looked at", read)
	}
}

// linesOf returns the lines of a pack.
func linesOf(t *testing.T, pack []byte) string {
	t.Helper()
	_, compressed, _ := bytes.Cut(pack, []byte("\n"))
	z, err := zstd.NewReader(bytes.NewReader(compressed))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	lines, _ := io.ReadAll(z) // what follows is the signature
	return string(lines)
}
