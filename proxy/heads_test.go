package proxy_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/readthru/readthru/internal/needs"
	"github.com/readthru/readthru/proxy"
)

// heads are heads of requests with the statuses of their answers: by the listener, in a tunnel, and in a tunnel by
// HTTP/2. 0 stands for a door where there is nothing like it, or where the stream ends without an answer. {T} is scheme
// and authority of the target, which a tunnel does not have.
var heads = []struct {
	name, head         string
	plain, tunnel, two int
}{
	{"good", "GET {T}/ HTTP/1.1\nHost: {HOST}", 200, 200, 200},
	{"HTTP/1.0 with a URL", "GET {T}/ HTTP/1.0\nHost: {HOST}", 200, 200, 0},
	{"two empty lines first", "\n\nGET {T}/ HTTP/1.1\nHost: {HOST}", 400, 400, 0},
	{"OPTIONS of all", "OPTIONS * HTTP/1.1\nHost: {HOST}", 200, 200, 200},
	{"a method of its own", "BREW {T}/ HTTP/1.1\nHost: {HOST}", 200, 200, 200},
	{"the preface of HTTP/2", "PRI * HTTP/2.0", 400, 400, 0},
	{"the preface of HTTP/2 as a method", "PRI {T}/ HTTP/1.1\nHost: {HOST}", 400, 400, 400},
	{"a later version", "GET {T}/ HTTP/1.2\nHost: {HOST}", 200, 200, 0},
	{"HTTP/2 in a line", "GET {T}/ HTTP/2.0\nHost: {HOST}", 505, 505, 0},
	{"HTTP/3 in a line", "GET {T}/ HTTP/3.0\nHost: {HOST}", 505, 505, 0},
	{"no version", "GET {T}/\nHost: {HOST}", 400, 400, 0},
	{"a version in lower case", "GET {T}/ http/1.1\nHost: {HOST}", 400, 400, 0},
	{"a version of two digits", "GET {T}/ HTTP/1.10\nHost: {HOST}", 400, 400, 0},
	{"a version of another protocol", "GET {T}/ ICAP/1.0\nHost: {HOST}", 400, 400, 0},
	{"no target", "GET HTTP/1.1\nHost: {HOST}", 400, 400, 0},
	{"only a method", "GET\nHost: {HOST}", 400, 400, 0},
	{"two targets", "GET {T}/a /b HTTP/1.1\nHost: {HOST}", 400, 400, 0},
	{"two spaces", "GET  {T}/ HTTP/1.1\nHost: {HOST}", 400, 400, 0},
	{"a tab for a space", "GET\t{T}/ HTTP/1.1\nHost: {HOST}", 400, 400, 0},
	{"a space before the method", " GET {T}/ HTTP/1.1\nHost: {HOST}", 400, 400, 0},
	{"a method with a bracket", "GE[T {T}/ HTTP/1.1\nHost: {HOST}", 400, 400, 400},
	{"no method", " {T}/ HTTP/1.1\nHost: {HOST}", 400, 400, 0},
	{"a star that is no target of GET", "GET * HTTP/1.1\nHost: {HOST}", 400, 400, 400},
	{"a host and port as target", "GET a.test:443 HTTP/1.1\nHost: {HOST}", 400, 400, 400},
	{"a relative target", "GET x HTTP/1.1\nHost: {HOST}", 400, 400, 0},
	{"a fragment", "GET {T}/#x HTTP/1.1\nHost: {HOST}", 400, 400, 400},
	{"a control character in the target", "GET {T}/\x01 HTTP/1.1\nHost: {HOST}", 400, 400, 0},
	{"a NUL in the target", "GET {T}/\x00 HTTP/1.1\nHost: {HOST}", 400, 400, 0},
	{"a bad escape", "GET {T}/%zz HTTP/1.1\nHost: {HOST}", 400, 400, 0},
	{"bytes that are no UTF-8", "GET {T}/\xff\xfe HTTP/1.1\nHost: {HOST}", 200, 200, 200},
	{"a URL of another scheme", "GET gopher://a.test/ HTTP/1.1\nHost: {HOST}", 400, 400, 400},
	{"a URL with a user", "GET http://me:pw@a.test:80/ HTTP/1.1\nHost: a.test:80", 400, 400, 400},
	{"a URL without a host", "GET http:///x HTTP/1.1\nHost: {HOST}", 400, 400, 400},
	{"no Host", "GET {T}/ HTTP/1.1", 400, 400, 400},
	{"two Hosts", "GET {T}/ HTTP/1.1\nHost: {HOST}\nHost: {HOST}", 400, 400, 0},
	{"an empty Host", "GET {T}/ HTTP/1.1\nHost:", 200, 400, 400},
	{"a Host with a path", "GET {T}/ HTTP/1.1\nHost: {HOST}/x", 400, 400, 400},
	{"a Host with a user", "GET {T}/ HTTP/1.1\nHost: me@{HOST}", 400, 400, 0},
	{"a Host with a space", "GET {T}/ HTTP/1.1\nHost: a test", 400, 400, 400},
	{"a Host with two ports", "GET {T}/ HTTP/1.1\nHost: {HOST}:1", 400, 400, 400},
	{"a Host in brackets that is no address", "GET {T}/ HTTP/1.1\nHost: [a.test]", 400, 400, 400},
	{"another Host", "GET {T}/ HTTP/1.1\nHost: b.test", 200, 421, 421},
	{"a space before a colon", "GET {T}/ HTTP/1.1\nHost: {HOST}\nX : y", 400, 400, 0},
	{"a field without a name", "GET {T}/ HTTP/1.1\nHost: {HOST}\n: y", 400, 400, 0},
	{"a field without a colon", "GET {T}/ HTTP/1.1\nHost: {HOST}\nX", 400, 400, 0},
	{"a field with a bracket in its name", "GET {T}/ HTTP/1.1\nHost: {HOST}\nX[1]: y", 400, 400, 0},
	{"a field with a byte over 127 in its name", "GET {T}/ HTTP/1.1\nHost: {HOST}\nX\xe9: y", 400, 400, 0},
	{"a NUL in a value", "GET {T}/ HTTP/1.1\nHost: {HOST}\nX: a\x00b", 400, 400, 0},
	{"DEL in a value", "GET {T}/ HTTP/1.1\nHost: {HOST}\nX: a\x7fb", 400, 400, 0},
	{"a byte over 127 in a value", "GET {T}/ HTTP/1.1\nHost: {HOST}\nX: \xe9", 200, 200, 200},
	{"a folded field", "GET {T}/ HTTP/1.1\nHost: {HOST}\nX: y\n z", 400, 400, 0},
	{"a folded first line", "GET {T}/ HTTP/1.1\n Host: {HOST}", 400, 400, 0},
	{"a bare carriage return", "GET {T}/ HTTP/1.1\nHost: {HOST}\nX: a\rb", 400, 400, 0},
	{"a length below zero", "POST {T}/ HTTP/1.1\nHost: {HOST}\nContent-Length: -1", 400, 400, 400},
	{"a length with a fraction", "POST {T}/ HTTP/1.1\nHost: {HOST}\nContent-Length: 1.0", 400, 400, 400},
	{"a length over 64 bits", "POST {T}/ HTTP/1.1\nHost: {HOST}\nContent-Length: 99999999999999999999", 400, 400, 400},
	{"two lengths", "POST {T}/ HTTP/1.1\nHost: {HOST}\nContent-Length: 0\nContent-Length: 1", 400, 400, 400},
	{"a length and a coding", "POST {T}/ HTTP/1.1\nHost: {HOST}\nContent-Length: 0\nTransfer-Encoding: chunked", 400, 400, 0},
	{"an unknown coding", "POST {T}/ HTTP/1.1\nHost: {HOST}\nTransfer-Encoding: br", 501, 501, 0},
	{"chunked, and not last", "POST {T}/ HTTP/1.1\nHost: {HOST}\nTransfer-Encoding: chunked, gzip", 501, 501, 0},
	{"a coding in HTTP/1.0", "POST {T}/ HTTP/1.0\nHost: {HOST}\nTransfer-Encoding: chunked", 400, 400, 0},
	{"Connection names Host", "GET {T}/ HTTP/1.1\nHost: {HOST}\nConnection: host", 400, 400, 400},
	{"an expectation nobody knows", "GET {T}/ HTTP/1.1\nHost: {HOST}\nExpect: tea", 417, 417, 417},
	{"TRACE", "TRACE {T}/ HTTP/1.1\nHost: {HOST}", 405, 405, 405},
	{"CONNECT without a port", "CONNECT a.test HTTP/1.1\nHost: a.test", 400, 400, 0},
	{"CONNECT to a path", "CONNECT /x HTTP/1.1\nHost: {HOST}", 400, 400, 0},
	{"CONNECT to a port that is not allowed", "CONNECT a.test:25 HTTP/1.1\nHost: a.test:25", 403, 400, 0},
	{"an upgrade to HTTP/2", "GET {T}/ HTTP/1.1\nHost: {HOST}\nConnection: upgrade\nUpgrade: h2c", 200, 200, 400},
	{"TLS where there is none", "\x16\x03\x01\x00\x05hello", 400, 400, 0},
	{"SSH", "SSH-2.0-OpenSSH_9.0", 400, 400, 0},
	{"a long target", "GET {T}/" + strings.Repeat("x", 80<<10) + " HTTP/1.1\nHost: {HOST}", 431, 431, 0},
	{"many fields", "GET {T}/ HTTP/1.1\nHost: {HOST}" + strings.Repeat("\nX: y", 20_000), 431, 431, 0},
}

// Each head is tried where answers are kept, behind one that is, and where none are.
func TestHeadsAreAnsweredAsTheyShould(t *testing.T) {
	memories := []int64{8 << 20, 0}
	if needs.Brief() {
		memories = memories[:1]
	}
	for _, memory := range memories {
		b := newBench(t, origins{"a.test:80": plainOrigin(t, sayForAWhile), "a.test:443": tlsOrigin(t, sayForAWhile)},
			func(o *proxy.Options) { o.Memory = memory })
		for _, tt := range heads {
			plain := strings.NewReplacer("{T}", "http://a.test:80", "{HOST}", "a.test:80", "\n", "\r\n")
			secure := strings.NewReplacer("{T}", "", "{HOST}", "a.test:443", "\n", "\r\n")
			got := [3]int{}
			got[0] = statusOf(t, b.dial(), plain, tt.head)
			got[1] = statusOf(t, b.secure("a.test:443", "a.test"), secure, tt.head)
			if f, ok := inFrames(secure.Replace(tt.head)); ok && !f.coded {
				if statuses := f.exchange(b); len(statuses) > 0 {
					got[2] = statuses[0]
				}
			}
			if want := [3]int{tt.plain, tt.tunnel, tt.two}; got != want {
				t.Errorf("memory %d, %s: %v, want %v: %.100q", memory, tt.name, got, want, tt.head)
			}
		}
	}
}

// sayForAWhile is say with an answer that may be kept.
func sayForAWhile(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "max-age=600")
	w.Header().Set("Content-Type", "text/plain")
	say(w, r)
}

// statusOf sends a head behind a good request, and returns the status of its answer.
func statusOf(t *testing.T, c net.Conn, at *strings.Replacer, head string) int {
	t.Helper()
	defer c.Close() //nolint:errcheck // the answer was read
	_ = c.SetDeadline(time.Now().Add(2 * time.Minute))
	r := bufio.NewReader(c)
	good := at.Replace("GET {T}/often HTTP/1.1\nHost: {HOST}\nAccept: text/plain\n\n")
	for range 2 {
		if got, _ := answerTo(t, c, r, good); !strings.HasPrefix(got, "HTTP/1.1 200") {
			t.Fatalf("the request before: %s", got)
		}
	}
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		io.WriteString(c, at.Replace(head)+"\r\n\r\n") // a long one may be refused before its end
	}()
	resp, err := http.ReadResponse(r, nil)
	if err != nil {
		return 0
	}
	resp.Body.Close()
	_ = c.Close()
	<-sent
	return resp.StatusCode
}

// An empty line before a request is ignored (RFC 9112 §2.2), but not what may be the end of a line of it.
func TestAnEmptyLineBeforeARequestIsIgnored(t *testing.T) {
	const part = 150 * time.Millisecond
	for _, memory := range []int64{1 << 20, 0} {
		for _, way := range ways[:2] {
			t.Run(fmt.Sprint(way, memory), func(t *testing.T) {
				dir := t.TempDir()
				synctest.Test(t, func(t *testing.T) {
					s := newStill(t, dir, memory)
					defer s.stop()
					for _, tt := range []struct {
						name   string
						pieces []string // sent one after the other; X is a request
						want   []int    // statuses
					}{
						{"on a new connection", []string{"\r\nX"}, []int{200}},
						{"by itself", []string{"\r\n", "X"}, []int{200}},
						{"in halves", []string{"\r", "\n", "X"}, []int{200}},
						{"behind an answer", []string{"X", "\r\nX", "\r\nX", "\r\n", "X"}, []int{200, 200, 200, 200}},
						{"two of them", []string{"X", "\r\n\r\nX"}, []int{200, 400}},
						{"a line feed", []string{"X", "\nX"}, []int{200, 400}},
						{"the end of a first line", []string{"X", "Y", "\r\nHost: a.test\r\n\r\n"}, []int{200, 200}},
						{"the end of a first line behind a request", []string{"XY", "\r\nHost: a.test\r\n\r\n"}, []int{200, 200}},
						{"the end of a first line, once idle", []string{"XY", "\r\nHost: a.test\r\n\r\nX"}, []int{200, 200, 200}},
					} {
						c, r, target := s.dial(t, way)
						at := strings.NewReplacer("X", requestFor(target, 100), "Y", "GET "+target+"/100 HTTP/1.1")
						sent := make(chan struct{})
						go func() {
							defer close(sent)
							for _, piece := range tt.pieces {
								io.WriteString(c, at.Replace(piece))
								time.Sleep(part) // until nothing goes on any longer
							}
						}()
						var got []int
						for range tt.want {
							resp, err := http.ReadResponse(r, nil)
							if err != nil {
								t.Errorf("%s: %v, then %v", tt.name, got, err)
								break
							}
							_, _ = io.Copy(io.Discard, resp.Body)
							resp.Body.Close()
							got = append(got, resp.StatusCode)
						}
						if !slices.Equal(got, tt.want) {
							t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
						}
						_ = c.Close()
						<-sent
					}
					if memory > 0 && s.proxy.Repeats().Repeated < 2 {
						t.Errorf("%+v, want answers given again behind an empty line", s.proxy.Repeats())
					}
				})
			})
		}
	}
}
