package cache_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/readthru/readthru/cache"
)

// TestReportsOfOtherCaches plays what users of other caches reported as wrong, made small. docs/reports.md says what
// each report is about.
func TestReportsOfOtherCaches(t *testing.T) {
	type step struct {
		ask   string // method, path and fields, with " | " between them; LEAVE is a GET whose client leaves at once
		want  string // status, body and fields, likewise; a field without a value is absent. "error": no whole answer
		asked int64  // requests that reached the origin by then
	}
	version := func(fields ...string) func(int64, http.ResponseWriter, *http.Request) {
		return func(n int64, w http.ResponseWriter, _ *http.Request) {
			respond(w, 200, fmt.Sprintf("version %d", n), fields...)
		}
	}
	onceThen304 := func(first, second []string) func(int64, http.ResponseWriter, *http.Request) {
		return func(_ int64, w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("If-None-Match") == "" {
				respond(w, 200, "content", first...)
				return
			}
			conn, _, err := w.(http.Hijacker).Hijack() // net/http would correct the fields of a 304
			if err != nil {
				panic(err)
			}
			defer func() { _ = conn.Close() }()
			io.WriteString(conn, "HTTP/1.1 304 Not Modified\r\n"+strings.Join(second, "\r\n")+"\r\n\r\n")
		}
	}
	for _, tt := range []struct {
		report string
		origin func(n int64, w http.ResponseWriter, r *http.Request)
		steps  []step
	}{
		{"souin#192, a field", func(_ int64, w http.ResponseWriter, r *http.Request) {
			respond(w, 200, r.Header.Get("Service"), "Vary: Service", "Cache-Control: max-age=60")
		}, []step{
			{"GET / | Service: a", "200 | a", 1}, {"GET / | Service: b", "200 | b", 2}, {"GET / | Service: a", "200 | a", 2},
		}},
		{"souin#192, a star", version("Vary: *", "Cache-Control: max-age=60"), []step{
			{"GET /", "200 | version 1", 1}, {"GET /", "200 | version 2", 2},
		}},
		{"souin#486", onceThen304([]string{"Cache-Control: max-age=1, stale-while-revalidate=0", "Age: 9", `ETag: "a"`},
			[]string{"Cache-Control: max-age=60", `ETag: "a"`}), []step{
			{"GET /", "200 | content", 1}, {"GET /", "200 | content", 2}, {"GET /", "200 | content", 2},
		}},
		{"souin#634", version(`Cache-Control: max-age=60, no-cache="Set-Cookie"`, "Set-Cookie: sid=ALICE"), []step{
			{"GET /", "200 | version 1 | Set-Cookie: sid=ALICE", 1}, {"GET /", "200 | version 1 | Set-Cookie:", 1},
		}},
		{
			"souin#805", version("Cache-Control: public, max-age=60", "Set-Cookie: sid=ALICE", "Content-Type: text/html"),
			[]step{
				{"GET /", "200 | version 1 | Set-Cookie: sid=ALICE", 1}, {"GET /", "200 | version 1 | Set-Cookie:", 1},
			},
		},
		{"souin#846", func(n int64, w http.ResponseWriter, _ *http.Request) {
			if n > 1 {
				respond(w, 503, "sorry")
				return
			}
			respond(w, 200, "content", "Cache-Control: max-age=1, stale-if-error=60", "Age: 2")
		}, []step{{"GET /", "200 | content | Content-Length: 7", 1}, {"GET /", "200 | content | Content-Length: 7", 2}}},
		{"cache-handler#54", func(_ int64, w http.ResponseWriter, _ *http.Request) {
			respond(w, 400, "no such day", "Cache-Control: max-age=60")
		}, []step{{"GET /", "400 | no such day", 1}, {"GET /", "400 | no such day", 1}}},
		{"cache-handler#73", version("Cache-Control: max-age=60"), []step{
			{"LEAVE /", "200", 1}, {"GET /", "200 | version 1", 1},
		}},
		{"varnish-cache#3169", onceThen304([]string{"Cache-Control: max-age=0", `ETag: "foo"`},
			[]string{"Cache-Control: max-age=60", `ETag: W/"foo"`, "Content-Encoding: gzip"}), []step{
			{"GET / | Accept-Encoding: gzip", "200 | content | Content-Encoding:", 1},
			{"GET / | Accept-Encoding: gzip", "200 | content | Content-Encoding: | Content-Length: 7", 2},
			{"GET / | Accept-Encoding: gzip", "200 | content | Content-Encoding: | Content-Length: 7", 2},
		}},
		{"squid#378", onceThen304([]string{"Cache-Control: max-age=0", `ETag: "a"`},
			[]string{"Cache-Control: max-age=60", `ETag: "a"`, "Content-Length: 0"}), []step{
			{"GET /", "200 | content", 1},
			{"GET /", "200 | content | Content-Length: 7", 2},
			{"GET /", "200 | content | Content-Length: 7", 2},
		}},
		{"squid#528", func(n int64, w http.ResponseWriter, _ *http.Request) {
			if n > 1 {
				respond(w, 200, "content", "Cache-Control: max-age=60")
				return
			}
			conn, _, err := w.(http.Hijacker).Hijack()
			if err != nil {
				panic(err)
			}
			defer func() { _ = conn.Close() }()
			const head = "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nTransfer-Encoding: chunked\r\n\r\n"
			io.WriteString(conn, head+"3\r\ncon\r\n")
		}, []step{{"GET /", "error", 1}, {"GET /", "200 | content", 2}, {"GET /", "200 | content", 2}}},
		{"squid#901", version("Cache-Control: max-age=60", "Age: 30"), []step{
			{"GET /", "200 | version 1", 1},
			{"GET / | Cache-Control: min-fresh=20", "200 | version 1", 1},
			{"GET / | Cache-Control: min-fresh=40", "200 | version 2", 2},
		}},
		{"haproxy#2048", version("Cache-Control: max-age=60"), []step{
			{"GET / | Cache-Control: no-cache", "200 | version 1", 1},
			{"GET /", "200 | version 1", 1},
			{"GET / | Cache-Control: no-cache", "200 | version 2", 2},
			{"GET /", "200 | version 2", 2},
		}},
		{"tempesta#416", version("Cache-Control: max-age=60"), []step{
			{"HEAD /", "200 |  | Content-Length: 9", 1},
			{"GET /", "200 | version 2", 2},
			{"GET /", "200 | version 2", 2},
			{"HEAD /", "200 |  | Content-Length: 9", 2},
		}},
		{"httpcache#45", onceThen304([]string{"Cache-Control: max-age=60", `ETag: "a"`},
			[]string{"Cache-Control: max-age=60", `ETag: "a"`}), []step{
			{`GET / | If-None-Match: "a"`, "304", 1}, {"GET /", "200 | content", 2},
		}},
		{"httpcache#50", version("Cache-Control: max-age=60"), []step{
			{"POST /", "200 | version 1", 1}, {"GET /", "200 | version 2", 2}, {"GET /", "200 | version 2", 2},
		}},
		{"go-proxy-cache#265", func(_ int64, w http.ResponseWriter, r *http.Request) {
			for _, f := range []string{"Cache-Control: max-age=60", `ETag: "a"`} {
				name, value, _ := strings.Cut(f, ": ")
				w.Header().Set(name, value)
			}
			http.ServeContent(w, r, "a.txt", time.Time{}, strings.NewReader("0123456789"))
		}, []step{
			{"GET / | Range: bytes=2-4", "206 | 234 | Content-Range: bytes 2-4/10", 1},
			{"GET /", "200 | 0123456789", 2},
			{"GET / | Range: bytes=2-4", "206 | 234 | Content-Range: bytes 2-4/10 | Content-Length: 3", 2},
		}},
		{"servo#41174", func(_ int64, w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Cache-Control", "max-age=60")
			w.Header().Set("ETag", `"a"`)
			http.ServeContent(w, r, "a.txt", time.Time{}, strings.NewReader("0123456789"))
		}, []step{
			{"GET / | Range: bytes=0-4", "206 | 01234", 1},
			{"GET / | Range: bytes=1-3", "206 | 123", 1},
			{"GET / | Range: bytes=2-8", "206 | 2345678 | Content-Range: bytes 2-8/10", 2},
			{"GET / | Range: bytes=2-", "206 | 23456789 | Content-Range: bytes 2-9/10", 3},
		}},
		{"http-cache-semantics#56", version("Cache-Control: max-age=1, proxy-revalidate", "Age: 2"), []step{
			{"GET /", "200 | version 1", 1}, {"GET / | Cache-Control: max-stale=600", "200 | version 2", 2},
		}},
		{"JavaScriptSolidServer#456", func(_ int64, w http.ResponseWriter, r *http.Request) {
			kind := r.Header.Get("Accept")
			fields := []string{`ETag: "size-and-date"`, "Vary: Accept", "Cache-Control: max-age=0", "Content-Type: " + kind}
			if r.Header.Get("If-None-Match") != "" {
				respond(w, 304, "", fields...)
				return
			}
			respond(w, 200, "as "+kind, fields...)
		}, []step{
			{"GET / | Accept: application/ld+json", "200 | as application/ld+json", 1},
			{"GET / | Accept: text/html", "200 | as text/html", 2},
			{"GET / | Accept: application/ld+json", "200 | as application/ld+json", 3},
		}},
		{"cache-tests#186", func(n int64, w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodHead {
				respond(w, 200, "", `ETag: "b"`, "Content-Length: 5")
				return
			}
			respond(w, 200, fmt.Sprintf("version %d", n), `ETag: "a"`, "Cache-Control: max-age=60")
		}, []step{
			{"GET /", "200 | version 1", 1}, {"HEAD / | Cache-Control: no-cache", "200", 2}, {"GET /", "200 | version 3", 3},
		}},
		{"jetty#8905", version(`ETag: "a"`, "Vary: Accept-Encoding", "Cache-Control: max-age=60"), []step{
			{"GET /", "200 | version 1", 1}, {`GET / | If-None-Match: "a"`, "304 |  | Vary: Accept-Encoding", 1},
		}},
		{"varnish-cache#1816", version(`ETag: W/"a"`, "Cache-Control: max-age=60"), []step{
			{"GET /", "200 | version 1", 1},
			{`GET / | If-None-Match: "a"`, "304", 1},
			{`GET / | If-None-Match: "b", W/"a"`, "304", 1},
			{`GET / | If-None-Match: "b"`, "200 | version 1", 1},
		}},
		{"varnish#80", version("Cache-Control: max-age=60"), []step{
			{"GET /", "200 | version 1", 1}, {"HEAD / | Range: bytes=0-1", "200 |  | Content-Length: 9", 1},
		}},
		{"souin#247", version("Cache-Control: max-age=60"), []step{
			{"GET / | Authorization: Basic YTpi", "200 | version 1", 1},
			{"GET /", "200 | version 2", 2},
			{"GET /", "200 | version 2", 2},
		}},
		{"nab#667", version("Cache-Control: max-age=600", "Age: 700"), []step{
			{"GET /", "200 | version 1", 1}, {"GET /", "200 | version 2", 2},
		}},
		{"cdp-cache#9", func(n int64, w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodHead {
				respond(w, 405, "", "Allow: GET")
				return
			}
			respond(w, 200, fmt.Sprintf("version %d", n), "Cache-Control: max-age=60")
		}, []step{{"HEAD /", "405 |  | Allow: GET", 1}, {"GET /", "200 | version 2", 2}, {"HEAD /", "200", 2}}},
	} {
		t.Run(tt.report, func(t *testing.T) {
			t.Parallel()
			var r *rig
			r = newRig(t, cache.Options{}, func(w http.ResponseWriter, req *http.Request) {
				tt.origin(r.asked.Load(), w, req)
			})
			for i, s := range tt.steps {
				head := strings.Split(s.ask, " | ")
				method, path, _ := strings.Cut(head[0], " ")
				if method == "LEAVE" {
					leave(t, r, path)
				} else if got, err := r.try(r.request(method, path, head[1:]...)); err != nil {
					if s.want != "error" {
						t.Errorf("%d, %s: %v, want %s", i+1, s.ask, err, s.want)
					}
				} else if why := differs(got, s.want); why != "" {
					t.Errorf("%d, %s: %s, want %s", i+1, s.ask, why, s.want)
				}
				if got := r.asked.Load(); got != s.asked {
					t.Errorf("%d, %s: the origin was asked %d times, want %d", i+1, s.ask, got, s.asked)
				}
			}
		})
	}
}

// leave asks for the path, reads a byte and goes.
func leave(t *testing.T, r *rig, path string) {
	t.Helper()
	resp, err := r.cache.RoundTrip(r.request("GET", path))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(resp.Body, make([]byte, 1)); err != nil {
		t.Error(err)
	}
	_ = resp.Body.Close()
}

// differs says in what an answer is not the one wanted: status, body and fields with " | " between them.
func differs(g got, want string) string {
	parts := strings.Split(want, " | ")
	if code := fmt.Sprint(g.code); code != parts[0] || len(parts) > 1 && g.body != parts[1] {
		return code + " | " + g.body
	}
	for _, f := range parts[min(2, len(parts)):] {
		name, value, _ := strings.Cut(f, ":")
		if got := g.header.Get(name); got != strings.TrimSpace(value) {
			return fmt.Sprintf("%s: %q", name, got)
		}
	}
	return ""
}
