package server_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/api/server"
)

// signinWorld is a server that asks everybody for the token, without the parts that signing in does not use.
func signinWorld() *server.Server {
	return server.New(server.Options{Token: "token", Proxy: func() string { return "" }})
}

// visit sends a request and returns the answer.
func visit(t *testing.T, s http.Handler, method, path, body string, fields ...string) reply {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, "http://localhost:7888"+path, strings.NewReader(body))
	for _, f := range fields {
		name, value, _ := strings.Cut(f, ": ")
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return reply{w.Code, w.Header(), w.Body}
}

// Cookies returns the cookies that an answer sets.
func (r reply) Cookies() []*http.Cookie { return (&http.Response{Header: r.Header}).Cookies() }

// newLink asks for a link to a page.
func newLink(t *testing.T, s http.Handler, page string) string {
	t.Helper()
	resp := visit(t, s, "POST", "/api/v1/signin", `{"page":"`+page+`"}`,
		"Authorization: Bearer token", "Content-Type: application/json")
	var link api.SigninLink
	if err := json.NewDecoder(resp.Body).Decode(&link); err != nil || link.ExpiresS != 60 {
		t.Fatalf("status %d, link %+v, %v", resp.StatusCode, link, err)
	}
	return link.Path
}

func TestALinkSignsOneBrowserIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := signinWorld()
		if resp := visit(t, s, "GET", "/openapi.json", ""); resp.StatusCode != http.StatusUnauthorized {
			t.Fatalf("a stranger: status %d, want 401", resp.StatusCode)
		}
		link := newLink(t, s, "/metrics?x=1")
		for name, ahead := range map[string]reply{
			"HEAD":       visit(t, s, "HEAD", link, ""),
			"looks only": visit(t, s, "GET", link, "", "Sec-Purpose: prefetch"),
		} {
			if ahead.StatusCode != http.StatusOK || len(ahead.Cookies()) != 0 {
				t.Errorf("%s: status %d, cookies %v, want 200 and none", name, ahead.StatusCode, ahead.Cookies())
			}
		}
		resp := visit(t, s, "GET", link, "")
		cookies := resp.Cookies()
		if resp.StatusCode != http.StatusSeeOther || resp.Header.Get("Location") != "/metrics?x=1" || len(cookies) != 1 {
			t.Fatalf("status %d, Location %q, cookies %v", resp.StatusCode, resp.Header.Get("Location"), cookies)
		}
		c := cookies[0]
		if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Domain != "" || c.Name != "readthru-7888" ||
			c.MaxAge != 12*60*60 || strings.Contains(link, c.Value) {
			t.Errorf("cookie %q", c)
		}
		signed := "Cookie: " + c.Name + "=" + c.Value
		if resp := visit(t, s, "GET", "/openapi.json", "", signed); resp.StatusCode != http.StatusOK {
			t.Errorf("the browser that signed in: status %d, want 200", resp.StatusCode)
		}
		for _, fields := range [][]string{
			{signed, "Origin: https://evil.test"},
			{signed, "Sec-Fetch-Site: cross-site"},
			{signed + "x"},
			{signed + "; " + c.Name + "=x"},
			{"Cookie: " + c.Name + "=" + strings.TrimPrefix(link, "/signin?code=")},
		} {
			if resp := visit(t, s, "GET", "/openapi.json", "", fields...); resp.StatusCode == http.StatusOK {
				t.Errorf("%q is answered", fields)
			}
		}
		if resp := visit(t, s, "GET", link, ""); resp.StatusCode != http.StatusForbidden || len(resp.Cookies()) != 0 {
			t.Errorf("the link for the second time: status %d, cookies %v, want 403", resp.StatusCode, resp.Cookies())
		}
		time.Sleep(12*time.Hour - time.Second)
		if resp := visit(t, s, "GET", "/openapi.json", "", signed); resp.StatusCode != http.StatusOK {
			t.Errorf("before twelve hours: status %d, want 200", resp.StatusCode)
		}
		time.Sleep(time.Second)
		if resp := visit(t, s, "GET", "/openapi.json", "", signed); resp.StatusCode != http.StatusUnauthorized {
			t.Errorf("after twelve hours: status %d, want 401", resp.StatusCode)
		}
	})
}

func TestABrowserStaysSignedInOverARestart(t *testing.T) {
	cookie := func(s *server.Server) string {
		c := visit(t, s, "GET", newLink(t, s, "/"), "").Cookies()[0]
		return "Cookie: " + c.Name + "=" + c.Value
	}
	of := func(token string) *server.Server {
		return server.New(server.Options{Token: token, Proxy: func() string { return "" }})
	}
	signed := cookie(signinWorld())
	for name, tt := range map[string]struct {
		server *server.Server
		want   int
	}{
		"the daemon after a restart":         {signinWorld(), http.StatusOK},
		"one whose token was changed":        {of("another"), http.StatusUnauthorized},
		"one that nobody can show its token": {of(""), http.StatusUnauthorized},
	} {
		if resp := visit(t, tt.server, "GET", "/openapi.json", "", signed); resp.StatusCode != tt.want {
			t.Errorf("%s: status %d, want %d", name, resp.StatusCode, tt.want)
		}
	}
	for i := len("Cookie: readthru-7888="); i < len(signed); i += 5 {
		forged := signed[:i] + string(signed[i]^1) + signed[i+1:]
		if resp := visit(t, signinWorld(), "GET", "/openapi.json", "", forged); resp.StatusCode != http.StatusUnauthorized {
			t.Errorf("%q is answered", forged)
		}
	}
}

func TestALinkLivesForAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := signinWorld()
		early, late := newLink(t, s, "/"), newLink(t, s, "/")
		time.Sleep(time.Minute - time.Nanosecond)
		if resp := visit(t, s, "GET", early, ""); resp.StatusCode != http.StatusSeeOther {
			t.Errorf("within the minute: status %d, want 303", resp.StatusCode)
		}
		time.Sleep(time.Nanosecond)
		if resp := visit(t, s, "GET", late, ""); resp.StatusCode != http.StatusForbidden {
			t.Errorf("after the minute: status %d, want 403", resp.StatusCode)
		}
	})
}

func TestSigninLinksAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := signinWorld()
		first := newLink(t, s, "/")
		time.Sleep(time.Second)
		var last string
		for range 64 {
			last = newLink(t, s, "/")
		}
		if resp := visit(t, s, "GET", first, ""); resp.StatusCode != http.StatusForbidden {
			t.Errorf("the oldest of 65 links: status %d, want 403", resp.StatusCode)
		}
		if resp := visit(t, s, "GET", last, ""); resp.StatusCode != http.StatusSeeOther {
			t.Errorf("the newest: status %d, want 303", resp.StatusCode)
		}
	})
}

func TestALinkLeadsToPagesOfThisServerAlone(t *testing.T) {
	s := signinWorld()
	for _, page := range []string{
		"https://evil.test/", "//evil.test/", `/\\evil.test/`, `\\\\evil.test`, "evil", "javascript:alert(1)", "/%zz",
	} {
		resp := visit(t, s, "POST", "/api/v1/signin", `{"page":"`+page+`"}`,
			"Authorization: Bearer token", "Content-Type: application/json")
		if resp.StatusCode != http.StatusBadRequest {
			t.Errorf("%s: status %d, want 400", page, resp.StatusCode)
		}
	}
}

func TestAPersonWithoutASigninReadsHowToGetOne(t *testing.T) {
	s := signinWorld()
	for path, want := range map[string]int{"/": http.StatusUnauthorized, "/signin": http.StatusOK} {
		resp := visit(t, s, "GET", path, "", "Accept: text/html,application/xhtml+xml;q=0.9")
		b, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != want || !strings.Contains(string(b), "readthru open") {
			t.Errorf("%s: status %d, want %d, %v: %s", path, resp.StatusCode, want, err, b)
		}
	}
}
