package wiring

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/cmd/readthru/internal/daemon"
	"github.com/readthru/readthru/cmd/readthru/internal/settings"
	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/knowledge"
	"github.com/readthru/readthru/store"
)

// Secrets of every kind, in every place of a request, leave no trace in the store: not in a page, a visit, the index,
// a stored response, nor anywhere else in a backup whose records are decompressed.
func TestNoSecretIsStored(t *testing.T) {
	const canary = "k7Qx2mZp9Rt4Vw6Y" // random, as secrets are; each place has its own suffix
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		if strings.HasSuffix(r.URL.Path, ".json") {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Cache-Control", "max-age=60")
			w.Header().Set("Vary", "X-Api-Key, Cookie, Authorization")
			w.Header().Set("Set-Cookie", "sid="+canary+"setcookie")
			_, _ = io.WriteString(w, `{"plain": "data"}`)
			return
		}
		_, _ = io.WriteString(w, "<title>Account</title><h1>Account</h1><p>Balance of the one who asks: plenty.</p>")
	}))
	t.Cleanup(origin.Close)
	c, client := startCore(t)
	places := []struct{ target, field string }{
		{"/plain", ""},
		{"/data.json", "X-Api-Key: " + canary + "jsonkey"},
		{"/data.json", "Cookie: s=" + canary + "jsoncookie"},
		{"/data.json", ""},
		{"/?token=" + canary + "query", ""},
		{"/?q=1;sig=" + canary + "semicolon", ""},
		{"/a;jsessionid=" + canary + "matrix/b", ""},
		{"/a/(S(" + canary + "asp))/b", ""},
		{"/v/eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0." + canary + "jwt", ""},
		{"/reset/" + canary + "reset", ""},
		{"/share/" + canary + "share/view", ""},
		{"/document/d/" + canary + "3Fg7Hj1Kx/edit", ""},
		{"/x/ghp_" + canary + "github", ""},
	}
	for _, name := range []string{
		"Authorization", "Cookie", "X-Api-Key", "X-Auth-Token", "Private-Token", "Cf-Access-Client-Secret",
		"X-Amz-Security-Token", "Proxy-Authorization", "Unheard-Of",
	} {
		places = append(places, struct{ target, field string }{"/with-" + strings.ToLower(name), name + ": " + canary + name})
	}
	for _, p := range places {
		for _, accept := range []string{"*/*", "text/html", "text/markdown"} {
			read(t, client, origin.URL+p.target, "Accept: "+accept, p.field)
		}
		u, err := url.Parse(strings.Replace(origin.URL, "://", "://me:"+canary+"userinfo@", 1) + p.target + "#token=" +
			canary + "fragment")
		if err != nil {
			t.Fatal(err)
		}
		answer, err := c.fetcher.Page(t.Context(), fetch.Request{URL: u, Own: true, Session: "work"})
		if err != nil {
			t.Fatal(err)
		}
		if answer.Response != nil {
			_ = answer.Response.Body.Close() // the content does not matter
		}
	}
	if err := c.store.Flush(); err != nil {
		t.Fatal(err)
	}
	for target, text := range pagesOf(t, c.store) {
		if strings.Contains(target+text, canary) {
			t.Errorf("a page: %s\n%s", target, text)
		}
	}
	visits, _, err := c.store.Visits(store.VisitQuery{Limit: 1000})
	if err != nil || len(visits) == 0 {
		t.Errorf("%d visits, %v", len(visits), err)
	}
	if all := fmt.Sprint(visits); strings.Contains(all, canary) {
		t.Errorf("visits: %s", all)
	}
	found, err := c.knowledge.Search(t.Context(), knowledge.Query{Text: "balance account plenty", Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	if all := fmt.Sprintf("%+v", found); strings.Contains(all, canary) {
		t.Errorf("search: %s", all)
	}
	var backup bytes.Buffer
	if err := c.store.Backup(&backup); err != nil {
		t.Fatal(err)
	}
	text := unpacked(t, backup.Bytes())
	if !bytes.Contains(text, []byte("Balance of the one")) || !bytes.Contains(text, []byte(origin.URL+"/plain")) {
		t.Error("the backup is not read as it should be: it lacks the plain page")
	}
	for {
		_, after, ok := bytes.Cut(text, []byte(canary))
		if !ok {
			break
		}
		t.Errorf("in the backup: %q", after[:min(len(after), 30)])
		text = after
	}
}

// leadingTo are addresses with secrets to which an origin leads.
var leadingTo = map[string]string{
	"path": "/reset/CANARYpath", "matrix": "/login;jsessionid=CANARY",
	"fragment": "http://ORIGIN/page#access_token=CANARY",
	"nested":   "/login?next=%2Freset%2FCANARYnested", "user": "http://ann:CANARY@ORIGIN/page",
	"loop":     "/to/loop?token=CANARY",
	"metadata": "http://169.254.169.254/reset/CANARYmeta", "scheme": "gopher://ORIGIN/?token=CANARY",
	"nowhere": "http://none.invalid/reset/CANARYnowhere", "malformed": "http://ORIGIN:x/reset/CANARYmalformed",
	"signed": "http://ORIGIN/file.pdf?X-Amz-Signature=CANARY", "asp": "/(S(CANARY))/page",
}

// asking returns a request for a URL.
func asking(t *testing.T, target, accept string) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, target, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", accept)
	return req
}

// A secret in a URL, by whatever door it comes in, is nowhere in the data directory: not in a record of the store, the
// present one or an older one, nor in the requests that are kept in files, as it is or packed. Nor is it in a backup,
// in what is exported of the requests, or in the log.
func TestNoSecretOfAURLIsOnDisk(t *testing.T) {
	const canary = "k7Qx2mZp9Rt4Vw6Y"
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, "/moved"):
			w.Header().Set("Location", "/page?token="+canary+"location")
			w.WriteHeader(http.StatusFound)
			return
		case strings.HasPrefix(r.URL.Path, "/to/"): // elsewhere, in some form
			where := strings.NewReplacer("ORIGIN", r.Host, "CANARY", canary).Replace(leadingTo[r.URL.Path[len("/to/"):]])
			w.Header().Set("Location", where)
			w.Header().Set("Refresh", "0; url="+where)
			w.Header().Set("X-Original-Url", where)
			w.WriteHeader(http.StatusSeeOther)
			return
		case strings.HasPrefix(r.URL.Path, "/fields"):
			w.Header().Set("Content-Type", "text/html")
			w.Header().Set("Link", "</reset/"+canary+`link9>; rel=alternate; type="text/markdown", </a;jsessionid=`+canary+
				"link>; rel=next")
			for _, name := range []string{
				"X-Subject-Token", "X-Auth-Token", "X-Csrf-Token", "Authorization", "X-Session-Id", "X-Api-Key",
				"X-Amz-Security-Token", "Replay-Nonce", "Set-Cookie2",
			} {
				w.Header().Set(name, canary+name)
			}
			w.Header().Set("X-Whatever", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0."+canary)
			_, _ = io.WriteString(w, `<title>Fields</title><h1>Fields</h1><p>Fields of an answer, plenty.</p>`)
			return
		case strings.HasPrefix(r.URL.Path, "/broken"):
			panic(http.ErrAbortHandler)
		case strings.HasPrefix(r.URL.Path, "/json"):
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Set-Cookie", "sid="+canary+"setcookie")
			if r.Header.Get("Referer") == "" {
				w.Header().Set("Content-Location", "/json?sig="+canary+"contentlocation")
				w.Header().Set("Link", "</a?token="+canary+"link>; rel=next")
			} else {
				w.Header().Set("Cache-Control", "public, max-age=60")
			}
			_, _ = io.WriteString(w, `{"plain": "data"}`)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<title>Account</title><h1>Account</h1><p>Balance of the one who asks: plenty.</p>")
	}))
	t.Cleanup(origin.Close)
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = log.Close() }()
	c, client := startLogged(t, slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		func(s *settings.Settings) { s.Requests.Days = 7 })
	server := c.Server(nil, nil, &daemon.Info{}, nil)
	t.Cleanup(server.Stop)
	b, ctx := server.Client(daemon.UserAgent), t.Context()
	read(t, client, origin.URL+"/plain", "Accept: text/html")
	read(t, client, origin.URL+"/json/stored", "Referer: https://a.test/?token="+canary+"referer")
	read(t, client, origin.URL+"/json")
	read(t, client, origin.URL+"/moved", "Accept: text/html")
	read(t, client, origin.URL+"/style.css", "Referer: "+origin.URL+"/reset/"+canary+"referer")
	read(t, client, origin.URL+"/fields", "Accept: text/html")
	for form := range leadingTo {
		for _, accept := range []string{"*/*", "text/markdown"} {
			if resp, err := client.Transport.RoundTrip(asking(t, origin.URL+"/to/"+form, accept)); err == nil {
				_ = resp.Body.Close()
			}
		}
		_, _ = b.Fetch(ctx, api.FetchRequest{URL: origin.URL + "/to/" + form})
	}
	for _, target := range []string{
		"/page?token=" + canary + "query", "/page?state=" + canary + "state", "/page?" + canary + "bare1",
		"/page?next=%2Freset%3Ftoken%3D" + canary + "next", "/page?u=https%253A%252F%252Fb.test%252F%253Fsig%253D" + canary,
		"/page?d=%7B%22password%22%3A%22" + canary + "json%22%7D", "/reset/" + canary + "reset", "/s/" + canary[:15],
		"/mail/" + canary + "/unsubscribe", "/feeds/calendars/user_" + canary + "calendar.ics",
		"/moved/page?token=" + canary + "moved", "/broken?token=" + canary + "broken", "/file/x#" + canary + "k3Y5fragment7",
		"/page#access_token=" + canary + "fragment", "/json?sig=" + canary + "json",
		"http://127.0.0.1:1/page?token=" + canary + "refused", "http://none.invalid/reset/" + canary + "unresolved",
		"https" + origin.URL[len("http"):] + "/page?token=" + canary + "handshake",
	} {
		raw := target
		if strings.HasPrefix(target, "/") {
			raw = origin.URL + target
		}
		for _, accept := range []string{"*/*", "text/markdown"} {
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, raw, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Accept", accept)
			if resp, err := client.Do(req); err == nil { // some are broken off
				_, _ = io.Copy(io.Discard, resp.Body)
				_ = resp.Body.Close()
			}
		}
		// What each of these answers does not matter: many refuse such a URL.
		_, _ = b.Fetch(ctx, api.FetchRequest{URL: raw, Session: "work", Summary: "brief"})
		_, _ = b.DetectAndFetch(ctx, api.DetectRequest{Text: "Read " + raw + " for me."})
		_, _ = b.Cached(ctx, raw, true)
		_, _ = b.Changes(ctx, raw, "")
		_, _ = b.Robots(ctx, raw)
		_, _ = b.ContextPage(ctx, "work", raw)
		_, _ = b.ProposeRecipe(ctx, raw)
		_, _ = b.CreateBase(ctx, api.NewBase{Name: "scraped", Scrape: raw})
		_, _ = b.AddNote(ctx, api.NewNote{Text: "A note of the account.", Pages: []string{raw}})
		event, err := json.Marshal(map[string]any{
			"hook_event_name": "PostToolUse", "session_id": "hooked", "tool_name": "WebFetch",
			"tool_input": map[string]any{"url": raw}, "tool_response": map[string]any{"result": "Balance", "url": raw},
		})
		if err != nil {
			t.Fatal(err)
		}
		_, _ = b.Hook(ctx, api.HookEvent{Agent: "claude-code", Event: event})
	}
	list, err := b.Requests(ctx, api.RequestQuery{})
	if err != nil || len(list.Requests) < 30 {
		t.Fatalf("requests: %v, %v", list, err)
	}
	for _, e := range list.Requests {
		_, _ = b.ReplayRequest(ctx, e.ID)
	}
	if err := b.Flush(ctx); err != nil {
		t.Fatal(err)
	}
	var exported, backup bytes.Buffer
	for _, format := range []string{"har", "jsonl"} {
		if err := b.ExportRequests(ctx, api.RequestExport{Format: format}, &exported); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Backup(ctx, &backup); err != nil {
		t.Fatal(err)
	}
	for what, text := range map[string][]byte{"the export": exported.Bytes(), "the backup": unpacked(t, backup.Bytes())} {
		if at := bytes.Index(text, []byte(canary[:15])); at >= 0 {
			t.Errorf("in %s: %q", what, text[max(at-80, 0):min(at+60, len(text))])
		}
	}
	client.CloseIdleConnections()
	if err := c.Close(); err != nil { // which writes what is in memory
		t.Error(err)
	}
	logged, err := os.ReadFile(log.Name())
	if at := bytes.Index(logged, []byte(canary[:15])); err != nil || at >= 0 || len(logged) == 0 {
		t.Errorf("log of %d bytes, %v: %q", len(logged), err, logged[max(at-80, 0):min(max(at, 0)+200, len(logged))])
	}
	secret, text, page := strings.ToLower(canary[:15]), "balance of the one", origin.URL+"/plain"
	found := textsOnDisk(t, c.dir, secret, text, page)
	if len(found[text]) == 0 || !slices.Contains(found[page], ".jsonl") {
		t.Errorf("what may be on disk is at %v", found)
	}
	if places := found[secret]; len(places) > 0 {
		t.Errorf("a secret is at %v", places)
	}
}

// unpacked returns the content of a backup, as it is and with every compressed record in it decompressed.
func unpacked(t *testing.T, backup []byte) []byte {
	t.Helper()
	_, framed, ok := bytes.Cut(backup, []byte("\n"))
	if !ok {
		t.Fatal("no backup")
	}
	var content []byte
	for len(framed) >= 12 {
		n := int(binary.BigEndian.Uint32(framed))
		content = append(content, framed[12:12+n]...)
		framed = framed[12+n:]
	}
	text := bytes.Clone(content)
	magic := []byte{0x28, 0xb5, 0x2f, 0xfd}
	for rest := content; ; {
		at := bytes.Index(rest, magic)
		if at < 0 {
			return text
		}
		rest = rest[at:]
		if d, err := zstd.NewReader(bytes.NewReader(rest), zstd.WithDecoderConcurrency(1)); err == nil {
			record, _ := io.ReadAll(d) // what follows the frame is an error
			text = append(text, record...)
			d.Close()
		}
		rest = rest[len(magic):]
	}
}
