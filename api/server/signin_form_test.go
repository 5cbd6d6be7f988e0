package server_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/readthru/readthru/api/server"
)

// typeToken sends the form with a token from a page of ours, unless change makes it something else.
func typeToken(t *testing.T, w *world, token, page string, change func(*http.Request)) *http.Response {
	t.Helper()
	form := url.Values{"token": {token}, "page": {page}}
	body := strings.NewReader(form.Encode())
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://localhost/signin", body)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", "http://localhost")
	r.RemoteAddr = "192.0.2.1:1"
	if change != nil {
		change(r)
	}
	rec := httptest.NewRecorder()
	w.server.ServeHTTP(rec, r)
	resp := rec.Result()
	t.Cleanup(func() { resp.Body.Close() })
	return resp
}

func TestATokenSignsABrowserIn(t *testing.T) {
	w := newWorld(t, func(o *server.Options) { o.Token = "sesame" })
	for page, want := range map[string]string{
		"/pages?q=a": "/pages?q=a", "//evil.test/": "/", "https://evil.test/": "/", `/\evil.test`: "/", "": "/",
	} {
		resp := typeToken(t, w, " sesame ", page, nil) //nolint:bodyclose // the helper closes it
		cookies := resp.Cookies()
		if resp.StatusCode != http.StatusSeeOther || resp.Header.Get("Location") != want || len(cookies) != 1 {
			t.Fatalf("to %q: status %d, to %q, %d cookies", page, resp.StatusCode, resp.Header.Get("Location"), len(cookies))
		}
		if c := cookies[0]; !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || strings.Contains(c.Value, "sesame") {
			t.Errorf("cookie %v", c)
		}
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost/stats", http.NoBody)
		r.AddCookie(cookies[0])
		rec := httptest.NewRecorder()
		if w.server.ServeHTTP(rec, r); rec.Code != http.StatusOK {
			t.Errorf("with the cookie: status %d", rec.Code)
		}
	}
	for name, tt := range map[string]struct {
		change func(*http.Request)
		want   int
	}{
		"another origin": {func(r *http.Request) { r.Header.Set("Origin", "https://evil.test") }, 403},
		"no origin":      {func(r *http.Request) { r.Header.Del("Origin") }, 415},
		"DNS rebinding":  {func(r *http.Request) { r.Host = "evil.test" }, 403},
		"cross-site":     {func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }, 403},
	} {
		if resp := typeToken(t, w, "sesame", "/", tt.change); resp.StatusCode != tt.want || len(resp.Cookies()) > 0 { //nolint:bodyclose // likewise
			t.Errorf("%s: status %d, %d cookies, want %d", name, resp.StatusCode, len(resp.Cookies()), tt.want)
		}
	}
}

func TestGuessingATokenInTheFormLocks(t *testing.T) {
	w := newWorld(t, func(o *server.Options) { o.Token = "sesame" })
	last := 0
	for range 8 {
		resp := typeToken(t, w, "guess", "/", nil) //nolint:bodyclose // the helper closes it
		b, err := io.ReadAll(resp.Body)
		if last = resp.StatusCode; err != nil || len(resp.Cookies()) > 0 || !strings.Contains(string(b), `role="alert"`) {
			t.Fatalf("a wrong token: status %d: %s, %v", last, b, err)
		}
	}
	if last != http.StatusTooManyRequests {
		t.Errorf("after many wrong tokens: status %d, want 429", last)
	}
	if resp := typeToken(t, w, "sesame", "/", nil); resp.StatusCode != http.StatusTooManyRequests { //nolint:bodyclose // likewise
		t.Errorf("the right token while guesses lock: status %d, want 429", resp.StatusCode)
	}
}

func TestWhoWasSignedOutIsToldSo(t *testing.T) {
	w := newWorld(t, func(o *server.Options) { o.Token = "sesame" })
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost/stats?x=1", http.NoBody)
	r.Header.Set("Accept", "text/html")
	r.AddCookie(&http.Cookie{Name: "readthru-80", Value: "of an earlier run"})
	rec := httptest.NewRecorder()
	w.server.ServeHTTP(rec, r)
	for _, want := range []string{"the daemon was started again", `value="/stats?x=1"`, "readthru open"} {
		if rec.Code != http.StatusUnauthorized || !strings.Contains(rec.Body.String(), want) {
			t.Errorf("status %d, lacks %q: %s", rec.Code, want, rec.Body)
		}
	}
}
