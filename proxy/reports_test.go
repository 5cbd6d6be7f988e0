package proxy_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/textproto"
	"strings"
	"testing"
)

// TestReportsOfOtherProxies plays what users of other proxies reported as wrong, made small: one request as it is on
// the wire, and the answer of an origin likewise. docs/reports.md says what each report is about.
func TestReportsOfOtherProxies(t *testing.T) {
	t.Parallel()
	const get = "GET http://a.test/x HTTP/1.1\nHost: a.test\nConnection: close\n\n"
	const hello = "HTTP/1.1 200 OK\nContent-Length: 5\nContent-Type: text/plain\n\nhello"
	for _, tt := range []struct {
		report, request, answer string
		asked                   string // what the origin's request holds; empty: the origin is not asked
		want                    string // how the client's answer begins
		not                     string // what it does not hold; may be empty
		body                    string // how it ends
	}{
		{
			"mitmproxy#659", "HEAD http://a.test/x HTTP/1.1\nHost: a.test\nConnection: close\n\n",
			"HTTP/1.1 200 OK\nContent-Length: 1488324\nContent-Type: application/epub+zip\n\n", "HEAD /x ",
			"HTTP/1.1 200 OK\nContent-Length: 1488324\n", "", "Connection: close\n\n",
		},
		{
			"mitmproxy#5372", "HEAD http://a.test/x HTTP/1.1\nHost: a.test\nConnection: close\n\n",
			"HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n", "HEAD /x ", "HTTP/1.1 200 OK\n", "0\n\n",
			"Connection: close\n\n",
		},
		{
			"mitmproxy#2229", get, "HTTP/1.1 103 Early Hints\nLink: </a>; rel=preload\n\n" + hello, "GET /x ",
			"HTTP/1.1 103 Early Hints\nLink: </a>; rel=preload\n\nHTTP/1.1 200 OK\n", "", "\n\nhello",
		},
		{
			"mitmproxy#2180",
			"PUT http://a.test/x HTTP/1.1\nHost: a.test\nExpect: 100-Continue\nContent-Length: 5\nConnection: close\n\n",
			"HTTP/1.1 413 Content Too Large\nContent-Length: 5\n\nlarge", "\nExpect: 100-Continue\n", "HTTP/1.1 ",
			"", "\n\nlarge",
		},
		{
			"mitmproxy#1938", "GET http://[::ffff:192.0.2.37]/x HTTP/1.1\nHost: [::ffff:192.0.2.37]\nConnection: close\n\n",
			hello, "GET /x HTTP/1.1\nHost: [::ffff:192.0.2.37]\n", "HTTP/1.1 200 OK\n", "", "\n\nhello",
		},
		{
			"mitmproxy#6383", get, strings.Replace(hello, "\n", "\nX-Ips:  X-A,X-B \t \n", 1), "GET /x ", "HTTP/1.1 200 OK\n",
			"X-B ", "\n\nhello",
		},
		{
			"mitmproxy#1033", get, "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\nConnection: close\n" +
				"Connection: Transfer-Encoding\ncontent-length: 33907\n\n5\nhello\n0\n\n", "GET /x ", "HTTP/1.1 200 OK\n",
			"33907", "Transfer-Encoding: chunked\n\n5\nhello\n0\n\n",
		},
		{
			"fluxzy.core#615", get, "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n5\nhello\n0\n\n", "GET /x ",
			"HTTP/1.1 200 OK\n", "Transfer-Encoding: chunked\nTransfer-Encoding", "\n\n5\nhello\n0\n\n",
		},
		{
			"sozu#726",
			"POST http://a.test/x HTTP/1.1\nHost: a.test\ntransfer-encoding: chunked\t\ncontent-length: 60\n\n0\n\n", hello, "",
			"HTTP/1.1 400 ", "", "",
		},
		{
			"meinheld#111",
			"GET http://a.test/ HTTP/1.1\nHost: a.test\nContent-Length: 36\nContent-Length: 0\n\nGET /smuggled HTTP/1.1\n\n",
			hello, "", "HTTP/1.1 400 ", "hello", "",
		},
		{
			"caddy#1582", "GET http://a.test/test/%2F/foo HTTP/1.1\nHost: a.test\nConnection: close\n\n", hello,
			"GET /test/%2F/foo HTTP/1.1\n", "HTTP/1.1 200 OK\n", "", "\n\nhello",
		},
		{
			"iron-proxy#155",
			"GET http://a.test/a%2Fb%2B|{c}/caf\xc3\xa9?q=a%2Fb|c HTTP/1.1\nHost: a.test\nConnection: close\n\n", hello,
			"GET /a%2Fb%2B%7C%7Bc%7D/caf%C3%A9?q=a%2Fb|c HTTP/1.1\n", "HTTP/1.1 200 OK\n", "", "\n\nhello",
		},
	} {
		t.Run(tt.report, func(t *testing.T) {
			t.Parallel()
			heads := make(chan string, 1)
			origin := rawOrigin(t, func(c net.Conn) {
				heads <- headOf(c)
				io.WriteString(c, wire(tt.answer))
			})
			b := newBench(t, origins{"a.test:80": origin, "[::ffff:192.0.2.37]:80": origin}, nil)
			got := strings.ReplaceAll(raw(t, b.dial(), wire(tt.request)), "\r", "")
			asked := ""
			select {
			case asked = <-heads:
			default:
			}
			if (asked == "") != (tt.asked == "") || !strings.Contains(asked, tt.asked) {
				t.Errorf("the origin was asked %q, want %q", asked, tt.asked)
			}
			if !strings.HasPrefix(got, tt.want) || !strings.HasSuffix(got, tt.body) ||
				tt.not != "" && strings.Contains(got, tt.not) {
				t.Errorf("the client got %q", got)
			}
		})
	}
}

// wire returns a message with the line ends of HTTP/1.
func wire(message string) string { return strings.ReplaceAll(message, "\n", "\r\n") }

// headOf reads the head of a message, without carriage returns.
func headOf(c net.Conn) string {
	var head strings.Builder
	for r := bufio.NewReader(c); ; {
		line, err := r.ReadString('\n')
		head.WriteString(strings.ReplaceAll(line, "\r", ""))
		if err != nil || line == "\r\n" {
			return head.String()
		}
	}
}

// TestReportsOfProxiesOfHTTP2 has a client of HTTP/2 send two cookies, content and a trailer, and tells what the origin
// and the client got.
func TestReportsOfProxiesOfHTTP2(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		report string
		http1  bool // of the origin
		answer http.HandlerFunc
		asked  string // cookies, content and trailer
		want   string // interim fields, set cookies, content and trailer
	}{
		{"mitmproxy#5337", true, func(http.ResponseWriter, *http.Request) {}, `["a=1; b=2"] body done`, "[] []  "},
		{
			"mitmproxy#1143", false, func(w http.ResponseWriter, _ *http.Request) {
				w.Header()["Set-Cookie"] = []string{"a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT", "b=2"}
			}, `["a=1; b=2"] body done`, "[] [a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT b=2]  ",
		},
		{
			"fluxzy.core#408", false, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Link", "</a>; rel=preload")
				w.WriteHeader(http.StatusEarlyHints)
				io.WriteString(w, "hello")
			}, `["a=1; b=2"] body done`, "[</a>; rel=preload] [] hello ",
		},
		{
			"couper#968", false, func(w http.ResponseWriter, _ *http.Request) {
				io.WriteString(w, "hello")
				w.Header().Set(http.TrailerPrefix+"Grpc-Status", "0")
			}, `["a=1; b=2"] body done`, "[] [] hello 0",
		},
		{
			"traefik#4181", false, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set(http.TrailerPrefix+"Grpc-Status", "5")
			}, `["a=1; b=2"] body done`, "[] []  5",
		},
		{"agentgateway#3431", true, func(http.ResponseWriter, *http.Request) {}, `["a=1; b=2"] body done`, "[] []  "},
	} {
		t.Run(tt.report, func(t *testing.T) {
			t.Parallel()
			var asked string
			b := newBench(t, origins{"a.test:443": tlsOriginOf(t, func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				asked = fmt.Sprintf("%q %s %s", r.Header["Cookie"], body, r.Trailer.Get("X-In"))
				if r.ProtoMajor == 2 == tt.http1 {
					t.Errorf("the origin speaks %s", r.Proto)
				}
				tt.answer(w, r)
			}, func(s *httptest.Server) { s.EnableHTTP2 = !tt.http1 })}, nil)
			var hints []string
			body, content := io.Pipe()
			ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{
				Got1xxResponse: func(_ int, h textproto.MIMEHeader) error {
					hints = h["Link"]
					return nil
				},
			})
			req, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://a.test/x", body)
			if err != nil {
				t.Fatal(err)
			}
			req.Header["Cookie"], req.Trailer = []string{"a=1", "b=2"}, http.Header{"X-In": nil}
			go func() {
				io.WriteString(content, "body")
				req.Trailer.Set("X-In", "done")
				_ = content.Close()
			}()
			resp, err := b.client().Do(req)
			if err != nil {
				t.Fatal(err)
			}
			got, err := read(resp)
			if err != nil || resp.ProtoMajor != 2 {
				t.Fatal(resp.Proto, err)
			}
			told := fmt.Sprintf("%v %v %s %s", hints, got.Header["Set-Cookie"], got.Body, resp.Trailer.Get("Grpc-Status"))
			if asked != tt.asked || told != tt.want {
				t.Errorf("the origin got %s, want %s; the client got %q, want %q", asked, tt.asked, told, tt.want)
			}
		})
	}
}

// A connection serves another request after an answer, whatever its framing.
func TestReportsOfConnectionsThatClose(t *testing.T) {
	t.Parallel()
	b := newBench(t, origins{"a.test:443": tlsOriginOf(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/chunked" {
			w.(http.Flusher).Flush()
		}
		io.WriteString(w, r.URL.Path)
	}, func(s *httptest.Server) { s.EnableHTTP2 = false })}, nil)
	c := b.secure("a.test:443", "a.test")
	r := bufio.NewReader(c)
	for _, row := range []struct{ report, path string }{
		{"goproxy#733", "/length"}, {"goproxy#733", "/chunked"}, {"goproxy#733", "/last"},
	} {
		io.WriteString(c, "GET "+row.path+" HTTP/1.1\r\nHost: a.test\r\n\r\n")
		resp, err := http.ReadResponse(r, nil)
		if err != nil {
			t.Fatalf("%s, %s: %v", row.report, row.path, err)
		}
		if got, err := read(resp); err != nil || got.Body != row.path || resp.Close {
			t.Errorf("%s, %s: %q, %v, closes %v", row.report, row.path, got.Body, err, resp.Close)
		}
	}
}
