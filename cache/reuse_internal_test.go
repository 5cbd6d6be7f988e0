package cache

import (
	"context"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

var (
	epoch  = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	shared = policy{
		shared: true, staleLimit: 7 * 24 * time.Hour, heuristicMax: 7 * 24 * time.Hour, key: []byte("k"), page: page.IsPage,
		markdown: page.IsMarkdown,
	}
	private = policy{
		staleLimit: 7 * 24 * time.Hour, heuristicMax: 7 * 24 * time.Hour, key: []byte("k"), page: page.IsPage,
		markdown: page.IsMarkdown,
	}
)

// get makes a GET of https://a.test/ with the given fields.
func get(p *policy, text string) *request {
	req, _ := http.NewRequestWithContext(context.Background(), http.MethodGet, "https://a.test/", http.NoBody)
	req.Header = fields(text)
	return p.request(req)
}

// answered makes the entry for an answer to q that arrived at epoch, generated then unless its fields say otherwise,
// with five bytes of content.
func answered(p *policy, q *request, code int, text string) *store.Response {
	h := fields("Date: " + epoch.Format(http.TimeFormat) + "\n" + text)
	return p.entry(q, &http.Response{StatusCode: code, Header: h, ContentLength: 5}, epoch, epoch)
}

// stored makes the entry for the answer 200 to a plain GET.
func stored(p *policy, text string) *store.Response {
	return answered(p, get(p, ""), http.StatusOK, text)
}

func TestReuse(t *testing.T) {
	const modified = "\nLast-Modified: Thu, 19 Nov 2026 12:00:00 GMT" // two days before epoch
	for _, tt := range []struct {
		name   string
		stored string // fields of the stored response
		age    time.Duration
		req    string // fields of the request
		want   action
		why    string
	}{
		{"fresh, §4.2", "Cache-Control: max-age=60", 59 * time.Second, "", reuse, ""},
		{"age equals lifetime is stale, §4.2", "Cache-Control: max-age=60", 60 * time.Second, "", validate, "stale"},
		{"s-maxage beats max-age, §5.2.2.10", "Cache-Control: max-age=1, s-maxage=60", 30 * time.Second, "", reuse, ""},
		{
			"max-age beats Expires, §5.3", "Cache-Control: max-age=0\nExpires: Sat, 21 Nov 2026 13:00:00 GMT", time.Second, "",
			validate, "stale",
		},
		{"Expires, §5.3", "Expires: Sat, 21 Nov 2026 13:00:00 GMT", 59 * time.Minute, "", reuse, ""},
		{"damaged Expires is past, §5.3", "Expires: 0" + modified, time.Second, "", validate, "stale"},
		{
			"two different Expires are past", "Expires: Sat, 21 Nov 2026 13:00:00 GMT\nExpires: Sat, 21 Nov 2026 14:00:00 GMT",
			time.Second, "", validate, "stale",
		},
		{
			"two equal Expires are one", "Expires: Sat, 21 Nov 2026 13:00:00 GMT\nExpires: Sat, 21 Nov 2026 13:00:00 GMT",
			time.Second, "", reuse, "",
		},
		{"arrived with an Age, §4.2.3", "Cache-Control: max-age=60\nAge: 50", 11 * time.Second, "", validate, "stale"},
		{"the first of two Ages counts, §5.1", "Cache-Control: max-age=60\nAge: 0, 7200", time.Second, "", reuse, ""},
		{"an Age that is no number is ignored, §5.1", "Cache-Control: max-age=60\nAge: 7200.0", time.Second, "", reuse, ""},
		{"a clock set back by little", "Cache-Control: max-age=60", -time.Second, "", reuse, ""},
		{"a clock set back by an hour", "Cache-Control: max-age=60", -time.Hour, "", validate, "stale"},
		{"a clock set back by years", "Cache-Control: max-age=60", -87600 * time.Hour, "", validate, "stale"},
		{"a clock set back, and a lifetime of years", "Cache-Control: max-age=99999999", -time.Hour, "", validate, "stale"},
		{"a clock set back, and consent", "Cache-Control: max-age=60", -time.Hour, "Cache-Control: max-stale=5", reuse, ""},
		{"a clock set on by years", "Cache-Control: max-age=60", 87600 * time.Hour, "", validate, "stale"},
		{"a tenth of the time since the last change, §4.2.2", "X: y" + modified, 4 * time.Hour, "", reuse, ""},
		{"… and no more", "X: y" + modified, 5 * time.Hour, "", validate, "stale"},
		{"no guess with Set-Cookie", "Set-Cookie: a=b" + modified, time.Second, "", validate, "stale"},
		{"no lifetime, no validator, no reuse", "X: y", 0, "", validate, "stale"},
		{"no-cache, §5.2.2.4", "Cache-Control: max-age=60, no-cache", time.Second, "", validate, "stale"},
		{"no-cache of a field only, §5.2.2.4", `Cache-Control: max-age=60, no-cache="x"`, time.Second, "", reuse, ""},

		{
			"request no-cache, §5.2.1.4", "Cache-Control: max-age=60", time.Second, "Cache-Control: no-cache", validate,
			"request",
		},
		{"request Pragma, §5.4", "Cache-Control: max-age=60", time.Second, "Pragma: no-cache", validate, "request"},
		{
			"request max-age, §5.2.1.1", "Cache-Control: max-age=60", 31 * time.Second, "Cache-Control: max-age=30", validate,
			"request",
		},
		{"request max-age suffices", "Cache-Control: max-age=60", 29 * time.Second, "Cache-Control: max-age=30", reuse, ""},
		{
			"request min-fresh, §5.2.1.3", "Cache-Control: max-age=60", 31 * time.Second, "Cache-Control: min-fresh=30",
			validate, "request",
		},
		{
			"unknown request directive", "Cache-Control: max-age=60", time.Second,
			"Cache-Control: nothing-to-see-here\nPragma: foo", reuse, "",
		},

		{
			"max-stale covers it, §5.2.1.2", "Cache-Control: max-age=60", 90 * time.Second, "Cache-Control: max-stale=30", reuse,
			"",
		},
		{
			"max-stale does not cover it", "Cache-Control: max-age=60", 91 * time.Second, "Cache-Control: max-stale=30",
			validate, "stale",
		},
		{
			"must-revalidate beats max-stale, §5.2.2.2", "Cache-Control: max-age=60, must-revalidate", 61 * time.Second,
			"Cache-Control: max-stale", validate, "stale",
		},
		{
			"proxy-revalidate beats max-stale, §5.2.2.8", "Cache-Control: max-age=60, proxy-revalidate", 61 * time.Second,
			"Cache-Control: max-stale", validate, "stale",
		},
		{
			"s-maxage beats max-stale, §5.2.2.10", "Cache-Control: s-maxage=60", 61 * time.Second, "Cache-Control: max-stale",
			validate, "stale",
		},
		{
			"stale-while-revalidate, RFC 5861 §3", "Cache-Control: max-age=60, stale-while-revalidate=30", 89 * time.Second, "",
			reuseRefreshing, "",
		},
		{"… and no longer", "Cache-Control: max-age=60, stale-while-revalidate=30", 90 * time.Second, "", validate, "stale"},
		{
			"must-revalidate beats stale-while-revalidate",
			"Cache-Control: max-age=60, must-revalidate, stale-while-revalidate=30", 61 * time.Second, "", validate, "stale",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v := shared.judge(get(&shared, tt.req), stored(&shared, tt.stored), epoch.Add(tt.age))
			if v.action != tt.want || v.why != tt.why {
				t.Errorf("judge = %v (why %q, ttl %v), want %v (why %q)", v.action, v.why, v.ttl, tt.want, tt.why)
			}
		})
	}
}

func TestPrivateCacheIgnoresDirectivesOfSharedOnes(t *testing.T) {
	for _, tt := range []struct {
		stored, req string
		age         time.Duration
		want        action
	}{
		{"Cache-Control: max-age=10, s-maxage=60", "", 30 * time.Second, validate},
		{"Cache-Control: max-age=60, s-maxage=10", "", 30 * time.Second, reuse},
		{"Cache-Control: max-age=60, proxy-revalidate", "Cache-Control: max-stale", 61 * time.Second, reuse},
	} {
		if v := private.judge(get(&private, tt.req), stored(&private, tt.stored), epoch.Add(tt.age)); v.action != tt.want {
			t.Errorf("%s after %v: action %v, want %v", tt.stored, tt.age, v.action, tt.want)
		}
	}
}

func TestStaleOnError(t *testing.T) {
	for _, tt := range []struct {
		name        string
		stored, req string
		stale       time.Duration // past a lifetime of 60 s
		code        int           // 0: the origin cannot be reached
		want        bool
	}{
		{"disconnected, §4.2.4", "", "", time.Hour, 0, true},
		{"disconnected, past the limit", "", "", 8 * 24 * time.Hour, 0, false},
		{"… unless stale-if-error goes further, RFC 5861 §4", ", stale-if-error=99999999", "", 8 * 24 * time.Hour, 0, true},
		{"must-revalidate, §5.2.2.2", ", must-revalidate", "", time.Second, 0, false},
		{"proxy-revalidate, §5.2.2.8", ", proxy-revalidate", "", time.Second, 0, false},
		{"s-maxage, §5.2.2.10", ", s-maxage=60", "", time.Second, 0, false},
		{"the client wants validation", "", "Cache-Control: no-cache", time.Second, 0, false},
		{"a server error is an answer", "", "", time.Second, 503, false},
		{"stale-if-error covers server errors, RFC 5861 §4", ", stale-if-error=30", "", 30 * time.Second, 503, true},
		{"… for so long", ", stale-if-error=30", "", 31 * time.Second, 503, false},
		{"stale-if-error in the request", "", "Cache-Control: stale-if-error=30", 30 * time.Second, 500, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := stored(&shared, "Cache-Control: max-age=60"+tt.stored)
			if _, ok := shared.reusableOnError(get(&shared, tt.req), r, tt.code,
				epoch.Add(time.Minute+tt.stale)); ok != tt.want {
				t.Errorf("reusableOnError = %v, want %v", ok, tt.want)
			}
		})
	}
}

func TestPagesAndRulesGetLifetimesOfOurs(t *testing.T) {
	day := func(force bool) *policy {
		p := shared
		if p.pageLifetime = 24 * time.Hour; force {
			p.rule = func(*url.URL) Rule { return Rule{Lifetime: 24 * time.Hour} }
		}
		return &p
	}
	for _, tt := range []struct {
		name   string
		force  bool
		stored string
		req    string
		want   action
		detail string
	}{
		{"where none is stated", false, "Content-Type: text/html", "", reuse, "override"},
		{"not against what is stated", false, "Cache-Control: max-age=60", "", validate, ""},
		{"not where no page is", false, "Content-Type: text/plain", "", validate, ""},
		{"with force against what is stated", true, "Cache-Control: max-age=60", "", reuse, "override"},
		{"never for Authorization", true, "Content-Type: text/html", "Authorization: Bearer x", validate, ""},
		{"never for Cookie", true, "Content-Type: text/html", "Cookie: a=b", validate, ""},
		{"never with Set-Cookie", true, "Content-Type: text/plain\nSet-Cookie: a=b", "", validate, ""},
		{"never with a Set-Cookie that was not kept", true, "Content-Type: text/html\nSet-Cookie: a=b", "", validate, ""},
		{
			"no-cache holds against a lifetime for want of one", false, "Content-Type: text/html\nCache-Control: no-cache", "",
			validate, "override",
		},
		{"with force against no-cache", true, "Cache-Control: no-cache", "", reuse, "override"},
		{"no-store holds", true, "Cache-Control: no-store", "", validate, "override"},
		{"private holds in a shared cache", true, "Cache-Control: private", "", validate, "override"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := day(tt.force)
			v := p.judge(get(p, tt.req), stored(p, tt.stored), epoch.Add(time.Hour))
			if v.action != tt.want || v.detail != tt.detail {
				t.Errorf("judge = %v, detail %q; want %v, %q", v.action, v.detail, tt.want, tt.detail)
			}
		})
	}
}

func TestPagesThatStateNoLifetimeGetOne(t *testing.T) {
	p := shared
	p.pageLifetime = 24 * time.Hour
	p.rule = func(u *url.URL) Rule {
		if u.Path == "/ruled" {
			return Rule{Lifetime: time.Hour}
		}
		return Rule{}
	}
	for _, tt := range []struct {
		name, method, path string
		status             int
		contentType        string
		want               time.Duration
		from               basis
	}{
		{"HTML (AD4)", "GET", "/", 200, "text/html; charset=utf-8", 24 * time.Hour, ofPages},
		{"XHTML", "GET", "/", 200, "application/xhtml+xml", 24 * time.Hour, ofPages},
		{"markdown", "GET", "/", 200, "text/markdown", 24 * time.Hour, ofPages},
		{"markdown by its other name", "GET", "/", 200, "text/x-markdown", 24 * time.Hour, ofPages},
		{"PDF", "GET", "/", 200, "application/pdf", 24 * time.Hour, ofPages},
		{"a feed", "GET", "/", 200, "application/atom+xml", 24 * time.Hour, ofPages},
		{"never text/plain", "GET", "/", 200, "text/plain", 0, unstated},
		{"an image", "GET", "/", 200, "image/png", 0, unstated},
		{"no type", "GET", "/", 200, "", 0, unstated},
		{"not found", "GET", "/", 404, "text/html", 0, unstated},
		{"HEAD", "HEAD", "/", 200, "text/html", 0, unstated},
		{"POST", "POST", "/", 200, "text/html", 0, unstated},
		{"a rule stands against what the origin says", "GET", "/ruled", 200, "image/png", time.Hour, forced},
		{"a rule is for 200", "GET", "/ruled", 404, "image/png", 0, unstated},
	} {
		req, err := http.NewRequestWithContext(t.Context(), tt.method, "https://a.test"+tt.path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		q := p.request(req)
		r := answered(&p, q, tt.status, "Content-Type: "+tt.contentType)
		cc := p.control(r.Header)
		if got, from := p.lifetime(q, r, &cc); got != tt.want || from != tt.from {
			t.Errorf("%s: %v, basis %d; want %v, %d", tt.name, got, from, tt.want, tt.from)
		}
	}
}

// TestWhyAHitIsFresh: a lifetime that the origin did not state is said to be ours, with what asks for a newer answer.
func TestWhyAHitIsFresh(t *testing.T) {
	p := shared
	p.pageLifetime = 24 * time.Hour
	ruled := p
	ruled.rule = func(*url.URL) Rule { return Rule{Lifetime: time.Hour} }
	const newer = " For a new one: readthru fetch --force, or Cache-Control: no-cache in the request."
	for _, tt := range []struct {
		p            *policy
		stored, want string
	}{
		{&p, "Content-Type: text/html\nCache-Control: max-age=60", "A stored response is fresh."},
		{
			&p, "Content-Type: text/html", "A stored response is fresh. Its origin does not say for how long: pages are kept " +
				"for 24h then (cache.page_ttl)." + newer,
		},
		{
			&ruled, "Content-Type: text/html\nCache-Control: max-age=60",
			"A stored response is fresh. A rule keeps it for 1h, whatever its origin says." + newer,
		},
	} {
		v := tt.p.judge(get(tt.p, ""), stored(tt.p, tt.stored), epoch.Add(time.Second))
		if got, _ := v.hit().Why(); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.stored, got, tt.want)
		}
	}
}
