package cache

import (
	"net/http"
	"net/url"
	"testing"
	"time"
)

func TestStorable(t *testing.T) {
	const fresh = "Cache-Control: max-age=60\n"
	for _, tt := range []struct {
		name    string
		method  string // GET if empty
		req     string
		code    int // 200 if 0
		resp    string
		shared  bool
		private bool
	}{
		{"explicit lifetime, §3", "", "", 0, fresh, true, true},
		{"any final status with an explicit lifetime, §3", "", "", 599, fresh, true, true},
		{"validator only", "", "", 0, `ETag: "a"`, true, true},
		{"validator, status without a heuristic, §4.2.2", "", "", 403, `ETag: "a"`, false, false},
		{"… but public, §5.2.2.9", "", "", 403, "Cache-Control: public\n" + `ETag: "a"`, true, true},
		{"nothing to reuse it by", "", "", 0, "Content-Type: text/plain", false, false},
		{"no-store, §5.2.2.5", "", "", 0, "Cache-Control: max-age=60, no-store", false, false},
		{"no-store on the second line", "", "", 0, fresh + "Cache-Control: NO-STORE", false, false},
		{"request no-store, §5.2.1.5", "", "Cache-Control: no-store", 0, fresh, false, false},
		{
			"must-understand lifts no-store for a status we know, §5.2.2.3", "", "", 0,
			"Cache-Control: max-age=60, no-store, must-understand", true, true,
		},
		{"… not for one we do not", "", "", 599, "Cache-Control: max-age=60, no-store, must-understand", false, false},
		{"must-understand, unknown status", "", "", 599, "Cache-Control: max-age=60, must-understand", false, false},
		{"private, §5.2.2.7", "", "", 0, "Cache-Control: max-age=60, private", false, true},
		{"private of a field only", "", "", 0, `Cache-Control: max-age=60, private="x"`, true, true},
		{"Vary: *, §4.1", "", "", 0, fresh + "Vary: *", false, false},
		{"Vary: a, *", "", "", 0, fresh + "Vary: a\nVary: b, *", false, false},
		{"Authorization, §3.5", "", "Authorization: x", 0, fresh, false, true},
		{"Authorization with public, §3.5", "", "Authorization: x", 0, "Cache-Control: max-age=60, public", true, true},
		{
			"Authorization with must-revalidate, §3.5", "", "Authorization: x", 0, "Cache-Control: max-age=60, must-revalidate",
			true, true,
		},
		{
			"Authorization with s-maxage, §3.5", "", "Authorization: x", 0, "Cache-Control: s-maxage=60, max-age=60", true,
			true,
		},
		{
			"a page asked with Authorization", "", "Authorization: x", 0,
			"Cache-Control: max-age=60, public\nContent-Type: text/html", false, true,
		},
		{"a page asked with a cookie", "", "Cookie: x", 0, fresh + "Content-Type: Text/HTML; charset=x", false, true},
		{"another type asked with a cookie", "", "Cookie: x", 0, fresh + "Content-Type: text/css", false, true},
		{"… with must-revalidate", "", "Cookie: x", 0, "Cache-Control: max-age=60, must-revalidate", false, true},
		{"… with public", "", "Cookie: x", 0, "Cache-Control: max-age=60, public", true, true},
		{"… with s-maxage", "", "Cookie: x", 0, "Cache-Control: s-maxage=60, max-age=60", true, true},
		{"… that varies by it", "", "Cookie: x", 0, fresh + "Vary: Accept, Cookie", true, true},
		{
			"a page asked with a cookie that varies by it", "", "Cookie: x", 0, fresh + "Vary: Cookie\nContent-Type: text/html",
			false, true,
		},
		{
			"a page asked with a key", "", "X-Api-Key: x", 0, "Cache-Control: max-age=60, public\nContent-Type: text/html",
			false, true,
		},
		{"another type asked with a key", "", "X-Api-Key: x", 0, fresh + "Content-Type: application/json", false, true},
		{"… without a type", "", "X-Api-Key: x", 0, fresh, false, true},
		{"… with must-revalidate", "", "X-Api-Key: x", 0, "Cache-Control: max-age=60, must-revalidate", false, true},
		{"… with immutable", "", "X-Api-Key: x", 0, "Cache-Control: max-age=60, immutable", false, true},
		{"… with public", "", "X-Api-Key: x", 0, "Cache-Control: max-age=60, public", true, true},
		{"… with s-maxage", "", "X-Api-Key: x", 0, "Cache-Control: s-maxage=60, max-age=60", true, true},
		{"… that varies by it", "", "X-Api-Key: x", 0, fresh + "Vary: Accept, x-api-key", true, true},
		{"… that varies by one of two", "", "X-Api-Key: x\nX-Session-Token: y", 0, fresh + "Vary: X-Api-Key", false, true},
		{"… that varies by both", "", "X-Api-Key: x\nCookie: y", 0, fresh + "Vary: X-Api-Key, Cookie", true, true},
		{"Authorization, and Vary names it, §3.5", "", "Authorization: x", 0, fresh + "Vary: Authorization", false, true},
		{
			"Authorization with must-revalidate, and a key", "", "Authorization: x\nX-Api-Key: x", 0,
			"Cache-Control: max-age=60, must-revalidate", false, true,
		},
		{"a page that sets a cookie", "", "", 0, fresh + "Content-Type: text/html\nSet-Cookie: a=b", true, true},
		{"428, RFC 6585 §3", "", "", 428, fresh, false, false},
		{"429, RFC 6585 §4", "", "", 429, "Cache-Control: public, max-age=60", false, false},
		{"431, RFC 6585 §5", "", "", 431, fresh, false, false},
		{"511, RFC 6585 §6", "", "", 511, fresh, false, false},
		{"451 with a validator, RFC 7725 §3", "", "", 451, `ETag: "a"`, true, true},
		{"private before a semicolon", "", "", 0, "Cache-Control: private; max-age=600\n" + `ETag: "a"`, false, true},
		{"private behind one", "", "", 0, "Cache-Control: max-age=600; private", false, false},
		{"no-store behind an unclosed quote", "", "", 0, `Cache-Control: max-age=600, private="a, no-store`, false, false},
		{"an unclosed quote", "", "", 0, `Cache-Control: max-age=600, x="a`, false, true},
		{"event stream", "", "", 0, fresh + "Content-Type: text/event-stream", false, false},
		{"POST, §9.3.3 of RFC 9110", "POST", "", 0, fresh + "Content-Location: /", true, true},
		{"POST of another resource", "POST", "", 0, fresh + "Content-Location: /x", false, false},
		{"POST without Content-Location", "POST", "", 0, fresh, false, false},
		{"POST without lifetime", "POST", "", 0, "ETag: \"a\"\nContent-Location: /", false, false},
		{"PUT", "PUT", "", 0, fresh, false, false},
		{"304 without a condition of ours", "", "", 304, fresh, false, false},
		{"part", "", "Range: bytes=0-4", 206, fresh + "Content-Range: bytes 0-4/10", true, true},
		{"part, total unknown", "", "Range: bytes=0-4", 206, fresh + "Content-Range: bytes 0-4/*", true, true},
		{
			"part of another length than stated", "", "Range: bytes=0-9", 206, fresh + "Content-Range: bytes 0-9/10", false,
			false,
		},
		{"part without Content-Range", "", "Range: bytes=0-8", 206, fresh, false, false},
		{"part nobody asked for", "", "", 206, fresh + "Content-Range: bytes 0-4/10", false, false},
		{
			"several parts", "", "Range: bytes=0-1,3-4", 206, fresh + "Content-Type: multipart/byteranges; boundary=x", false,
			false,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for p, want := range map[*policy]bool{&shared: tt.shared, &private: tt.private} {
				q := get(p, tt.req)
				q.Method = tt.method
				if q.Method == "" {
					q.Method = http.MethodGet
				}
				code := tt.code
				if code == 0 {
					code = 200
				}
				if got := p.storable(q, answered(p, q, code, tt.resp)); got != want {
					t.Errorf("storable, shared %v: %v, want %v", p.shared, got, want)
				}
			}
		})
	}
}

func TestEntryKeepsNoConnectionFields(t *testing.T) {
	r := stored(&shared,
		"Connection: a, Keep-Alive\nA: 1\nB: 2\nKeep-Alive: x\nProxy-Authenticate: Basic\nTE: x\nUpgrade: h2c\nProxy-Connection: close")
	for _, name := range []string{
		"Connection", "A", "Keep-Alive", "Proxy-Authenticate", "Te", "Upgrade",
		"Proxy-Connection",
	} {
		if len(r.Header[name]) > 0 {
			t.Errorf("stored %s: %q (RFC 9111 §3.1)", name, r.Header[name])
		}
	}
	if r.Header.Get("B") != "2" {
		t.Errorf("B = %q, want it kept", r.Header.Get("B"))
	}
}

func TestPagesLoseTheirCookies(t *testing.T) {
	if r := stored(&shared, "Content-Type: text/html\nSet-Cookie: a=b"); len(r.Header["Set-Cookie"]) > 0 ||
		!setsCookie(r) {
		t.Errorf("page stored with %q, remembered %v; want no cookie, remembered", r.Header["Set-Cookie"], setsCookie(r))
	}
	if r := stored(&shared, "Content-Type: text/plain\nSet-Cookie: a=b"); len(r.Header["Set-Cookie"]) != 1 {
		t.Error("another type lost its Set-Cookie: a stored response is reused with all its fields (RFC 9111 §4)")
	}
}

func TestWhatHasExpired(t *testing.T) {
	const html = "Content-Type: text/html\n"
	ruled, paged := shared, shared
	ruled.rule = func(*url.URL) Rule { return Rule{Lifetime: time.Hour} }
	paged.pageLifetime = time.Hour
	for _, tt := range []struct {
		name   string
		p      *policy
		fields string
		age    time.Duration
		want   bool
	}{
		{"fresh", &shared, "Cache-Control: max-age=60", 59 * time.Second, false},
		{"stale", &shared, "Cache-Control: max-age=60", 60 * time.Second, true},
		{"stale with a validator", &shared, "Cache-Control: max-age=60\nETag: \"a\"", time.Minute, true},
		{"always validated", &shared, "Cache-Control: max-age=60, no-cache", 0, true},
		{"old on arrival", &shared, "Cache-Control: max-age=60\nAge: 70", 0, true},
		{"without a lifetime", &shared, "ETag: \"a\"", 0, true},
		{"a page", &paged, html, 59 * time.Minute, false},
		{"an old page", &paged, html, time.Hour, true},
		{"a rule", &ruled, "Cache-Control: max-age=60", 59 * time.Minute, false},
		{"past a rule", &ruled, "Cache-Control: max-age=60", time.Hour, true},
	} {
		if got := tt.p.expired(stored(tt.p, tt.fields), epoch.Add(tt.age)); got != tt.want {
			t.Errorf("%s: expired %v, want %v", tt.name, got, tt.want)
		}
	}
	r := answered(&paged, get(&paged, "Cookie: a=b"), http.StatusOK, html+"Cache-Control: public")
	if !paged.expired(r, epoch) {
		t.Error("a page asked for with credentials lives on as others do")
	}
}

func TestRetainIsPastFreshness(t *testing.T) {
	for _, tt := range []struct {
		fields string
		want   time.Duration
	}{
		{"Cache-Control: max-age=3600", time.Hour + 7*24*time.Hour},
		{"Cache-Control: max-age=3600\nETag: \"a\"", time.Hour + 30*24*time.Hour},
		{"Cache-Control: max-age=99999999999", 365*24*time.Hour + 7*24*time.Hour},
	} {
		if got := stored(&shared, tt.fields).Retain.Sub(epoch); got != tt.want {
			t.Errorf("%s: retained for %v, want %v", tt.fields, got, tt.want)
		}
	}
}
