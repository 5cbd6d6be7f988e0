package server_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/api/server"
	"github.com/readthru/readthru/knowledge"
	"github.com/readthru/readthru/store"
)

// reply is an answer that was read to its end.
type reply struct {
	StatusCode int
	Header     http.Header
	Body       io.Reader
}

// ask sends one request to a server, with fields as "Name: value"; Host is taken from them.
func ask(t *testing.T, addr, method, path, body string, fields ...string) reply {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, "http://"+addr+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range fields {
		name, value, _ := strings.Cut(f, ": ")
		if name == "Host" {
			req.Host = value
			continue
		}
		req.Header.Add(name, value)
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(http.DefaultTransport.(*http.Transport).CloseIdleConnections)
	return reply{resp.StatusCode, resp.Header, strings.NewReader(string(b))}
}

// TestEveryPathRefusesStrangers tries every route with every way in that must be closed (AD5).
func TestEveryPathRefusesStrangers(t *testing.T) {
	w := newWorld(t, func(o *server.Options) { o.Hosts = []string{"box.lan"} })
	addr := w.listen(t)
	cases := 0
	for _, rt := range w.server.Routes() {
		for _, tt := range []struct {
			name   string
			fields []string
		}{
			{"foreign Host", []string{"Host: evil.test"}},
			{"rebound name that ends like ours", []string{"Host: localhost.evil.test"}},
			{"address in another form", []string{"Host: 2130706433"}},
			{"another loopback address", []string{"Host: 127.0.0.2"}},
			{"user info in Host", []string{"Host: localhost@evil.test"}},
			{"foreign Origin with our Host", []string{"Origin: https://evil.test"}},
			{"opaque Origin", []string{"Origin: null"}},
			{"Origin of another port", []string{"Origin: http://127.0.0.1:1"}},
			{"Origin that begins like ours", []string{"Origin: http://" + addr + ".evil.test"}},
			{"two Origins", []string{"Origin: http://" + addr, "Origin: https://evil.test"}},
			{"cross-site", []string{"Sec-Fetch-Site: cross-site"}},
			{"same-site: another port of this machine", []string{"Sec-Fetch-Site: same-site"}},
		} {
			cases++
			resp := ask(t, addr, rt[0], strings.ReplaceAll(rt[1], "{doc}", "0123456789abcdef"), "", tt.fields...)
			if resp.StatusCode != http.StatusForbidden {
				t.Errorf("%s %s, %s: status %d, want 403", rt[0], rt[1], tt.name, resp.StatusCode)
			}
			if got := resp.Header.Get("Access-Control-Allow-Origin"); got != "" {
				t.Errorf("%s %s: Access-Control-Allow-Origin: %s", rt[0], rt[1], got)
			}
		}
	}
	if cases < 80 {
		t.Errorf("only %d cases", cases)
	}
}

func TestOurOwnNamesAreAnswered(t *testing.T) {
	w := newWorld(t, func(o *server.Options) { o.Hosts = []string{"Box.lan."} })
	addr := w.listen(t)
	_, port, _ := net.SplitHostPort(addr)
	for _, fields := range [][]string{
		nil,
		{"Host: localhost"},
		{"Host: LOCALHOST:" + port},
		{"Host: [::1]:9"},
		{"Host: 127.0.0.1"},
		{"Host: box.lan"},
		{"Host: box.lan.:80"},
		{"Origin: http://" + addr},
		{"Sec-Fetch-Site: none"},
		{"Sec-Fetch-Site: same-origin", "Origin: http://" + addr},
	} {
		if resp := ask(t, addr, "GET", "/stats", "", fields...); resp.StatusCode != http.StatusOK {
			t.Errorf("%q: status %d, want 200", fields, resp.StatusCode)
		}
	}
}

func TestAbsoluteFormIsNotAProxy(t *testing.T) {
	addr := newWorld(t, nil).listen(t)
	for _, head := range []string{
		"GET http://evil.test/stats HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"GET /stats HTTP/1.1\r\nHost: \r\n\r\n",
		"GET /stats HTTP/1.0\r\n\r\n",
		"GET /stats HTTP/1.1\r\nHost: localhost\r\nHost: evil.test\r\n\r\n",
		"CONNECT evil.test:443 HTTP/1.1\r\nHost: evil.test:443\r\n\r\n",
	} {
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(conn, head); err != nil {
			t.Fatal(err)
		}
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatalf("%q: %v", head, err)
		}
		if resp.StatusCode != http.StatusForbidden && resp.StatusCode != http.StatusBadRequest {
			t.Errorf("%q: status %d, want 403 or 400", head, resp.StatusCode)
		}
		resp.Body.Close()
		_ = conn.Close() // it was only read
	}
}

func TestOnlyJSONIsTaken(t *testing.T) {
	addr := newWorld(t, nil).listen(t)
	for _, tt := range []struct {
		name, path, body string
		fields           []string
		want             int
	}{
		{"JSON", "/api/v1/fetch", `{"url":"` + pageURL + `"}`, []string{"Content-Type: application/json"}, 200},
		{
			"JSON with charset", "/api/v1/fetch", `{"url":"` + pageURL + `"}`,
			[]string{"Content-Type: application/json; charset=utf-8"},
			200,
		},
		{
			"text, as a page of another site can send it", "/api/v1/fetch", `{"url":"` + pageURL + `"}`,
			[]string{"Content-Type: text/plain"},
			415,
		},
		{"a form", "/api/v1/cache/clear", "a=b", []string{"Content-Type: application/x-www-form-urlencoded"}, 415},
		{
			"a form without fields", "/api/v1/cache/clear", "",
			[]string{"Content-Type: application/x-www-form-urlencoded"},
			415,
		},
		{"no type", "/api/v1/fetch", `{"url":"` + pageURL + `"}`, nil, 415},
		{
			"two types", "/api/v1/fetch", `{"url":"` + pageURL + `"}`,
			[]string{"Content-Type: application/json", "Content-Type: text/plain"},
			415,
		},
		{"nothing at all, where nothing is needed", "/api/v1/cache/clear", "", nil, 200},
		{"nothing where something is needed", "/api/v1/fetch", "", []string{"Content-Type: application/json"}, 400},
		{"two values", "/api/v1/fetch", `{"url":"` + pageURL + `"}{}`, []string{"Content-Type: application/json"}, 400},
		{"no JSON", "/api/v1/fetch", `url`, []string{"Content-Type: application/json"}, 400},
		{
			"an unknown field", "/api/v1/fetch", `{"url":"` + pageURL + `","colour":1}`,
			[]string{"Content-Type: application/json"},
			400,
		},
		{"a wrong type", "/api/v1/fetch", `{"url":1}`, []string{"Content-Type: application/json"}, 400},
		{
			"over a MiB", "/api/v1/fetch", `{"url":"` + strings.Repeat("a", 1<<20) + `"}`,
			[]string{"Content-Type: application/json"},
			413,
		},
	} {
		resp := ask(t, addr, "POST", tt.path, tt.body, tt.fields...)
		if resp.StatusCode != tt.want {
			t.Errorf("%s: status %d, want %d", tt.name, resp.StatusCode, tt.want)
		}
		if tt.want >= 400 && resp.Header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s: Content-Type %s, want application/problem+json", tt.name, resp.Header.Get("Content-Type"))
		}
	}
}

func TestTheTokenIsAskedForEverywhereButOnOpenPaths(t *testing.T) {
	w := newWorld(t, func(o *server.Options) { o.Token, o.TrustUser = "open sesame", true })
	addr := w.listen(t)
	for _, rt := range w.server.Routes() {
		for _, tt := range []struct {
			name   string
			fields []string
			admits bool
		}{
			{"none", nil, false},
			{"wrong", []string{"Authorization: Bearer sesame"}, false},
			{"longer", []string{"Authorization: Bearer open sesamee"}, false},
			{"empty", []string{"Authorization: Bearer "}, false},
			{"another scheme", []string{"Authorization: Basic open sesame"}, false},
			{"twice", []string{"Authorization: Bearer open sesame", "Authorization: Bearer x"}, false},
			{"right", []string{"Authorization: bearer open sesame"}, true},
		} {
			method := rt[0]
			if staysOpen(rt[1]) {
				method = "HEAD" // GET stays open
			}
			resp := ask(t, addr, method, strings.ReplaceAll(rt[1], "{doc}", "0123456789abcdef"), "",
				append(tt.fields, "Via: 1.1 a.test")...) // so that the socket does not tell
			want := !tt.admits && !w.server.Open(rt[1])
			if got := resp.StatusCode == http.StatusUnauthorized; got != want {
				t.Errorf("%s %s, token %s: status %d, refused should be %v", rt[0], rt[1], tt.name, resp.StatusCode, want)
			}
			if want && resp.Header.Get("WWW-Authenticate") == "" {
				t.Errorf("%s %s: 401 without WWW-Authenticate", rt[0], rt[1])
			}
		}
	}
}

func TestNothingChangesOnGET(t *testing.T) {
	w := newWorld(t, nil)
	addr := w.listen(t)
	allowed := map[string][]string{}
	for _, rt := range w.server.Routes() {
		allowed[rt[1]] = append(allowed[rt[1]], rt[0])
	}
	for path, methods := range allowed {
		for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND"} {
			if slices.Contains(methods, method) {
				continue
			}
			resp := ask(t, addr, method, strings.ReplaceAll(path, "{doc}", "0123456789abcdef"), "")
			if resp.StatusCode != http.StatusMethodNotAllowed {
				t.Errorf("%s %s: status %d, want 405", method, path, resp.StatusCode)
			}
			for _, m := range methods {
				if !strings.Contains(resp.Header.Get("Allow"), m) {
					t.Errorf("%s %s: Allow: %s lacks %s", method, path, resp.Header.Get("Allow"), m)
				}
			}
		}
	}
	p, err := w.client.Fetch(t.Context(), api.FetchRequest{URL: pageURL})
	if err != nil {
		t.Fatal(err)
	}
	kept := func() string {
		drained := errors.Join(w.know.Drain(t.Context()), w.store.Flush())
		pages, _, err := w.store.Pages(store.PageQuery{})
		visits, _, err2 := w.store.Visits(store.VisitQuery{})
		notes, _, err3 := w.know.Notes(knowledge.NoteQuery{})
		if err := errors.Join(drained, err, err2, err3); err != nil {
			t.Fatal(err)
		}
		all, err := json.Marshal([]any{pages, visits, notes, w.know.Bases(), w.store.Rules(), w.store.Totals()})
		if err != nil {
			t.Fatal(err)
		}
		return string(all)
	}
	endless := []string{"/api/v1/events", "/api/v1/lease"}
	before, answered := kept(), 0
	for path, methods := range allowed {
		if !slices.Contains(methods, http.MethodGet) {
			continue
		}
		target := "http://" + addr + strings.NewReplacer("{doc}", p.Doc, "{host}", "example.com").Replace(path)
		for _, query := range []string{
			"", "?url=" + url.QueryEscape(pageURL), "?q=page", "?heading=A+heading", "?session=s",
			"?session=s&url=" + url.QueryEscape(pageURL),
		} {
			resp, err := http.Get(target + query) //nolint:noctx // a request of a test
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Contains(endless, path) {
				_, _ = io.Copy(io.Discard, resp.Body) // until the operation has ended
			}
			resp.Body.Close()
			if kept() != before {
				t.Fatalf("GET %s%s changed %s to %s", path, query, before, kept())
			}
			if resp.StatusCode == http.StatusOK {
				answered++
				break
			}
		}
	}
	if answered < 30 {
		t.Errorf("only %d operations answered", answered)
	}
	for _, path := range []string{
		"/api/v1/nothing", "/etc/passwd", "/..%2f..%2fetc/passwd",
		"/api/v1/pages/..%2f..%2fconfig", "/stats/",
	} {
		if resp := ask(t, addr, "GET", path, ""); resp.StatusCode != http.StatusNotFound &&
			resp.StatusCode != http.StatusBadRequest {
			t.Errorf("GET %s: status %d, want 404 or 400", path, resp.StatusCode)
		}
	}
}

func TestForeignTextIsNeverAPage(t *testing.T) {
	w := newWorld(t, nil)
	addr := w.listen(t)
	ask(t, addr, "POST", "/api/v1/fetch", `{"url":"`+pageURL+`"}`, "Content-Type: application/json")
	for _, rt := range w.server.Routes() {
		if staysOpen(rt[1]) {
			continue // stays open, and has no content
		}
		resp := ask(t, addr, rt[0], strings.ReplaceAll(rt[1], "{doc}", "https%3A%2F%2Fexample.com%2Fpage"), "")
		policy := "default-src 'none'"
		if rt[1] == "/signin" { // a form of ours, in our style
			policy = "default-src 'self'; base-uri 'none'; object-src 'none'; frame-ancestors 'none'; form-action 'self'"
		}
		if resp.Header.Get("X-Content-Type-Options") != "nosniff" ||
			!strings.HasPrefix(resp.Header.Get("Content-Security-Policy"), policy) {
			t.Errorf("%s %s: fields %v lack nosniff or the content policy", rt[0], rt[1], resp.Header)
		}
		b, _ := io.ReadAll(resp.Body)
		if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html") && strings.Contains(string(b), "<script") {
			t.Errorf("%s %s: a script in a page: %s", rt[0], rt[1], b)
		}
	}
}

// staysOpen reports whether the answer of a path ends only with the client or the server.
func staysOpen(path string) bool { return path == "/api/v1/lease" || path == "/api/v1/events" }
