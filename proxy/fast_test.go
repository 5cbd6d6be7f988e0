package proxy_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/readthru/readthru/proxy"
)

// varying is what an answer that is given again may state differently.
var varying = regexp.MustCompile(`(?m)^Age: \d+|ttl=\d+|^Date: [^\r]*`)

// answerTo sends a request as it stands and reads the answer, with its head as it came.
func answerTo(t *testing.T, c net.Conn, r *bufio.Reader, request string) (head, body string) {
	t.Helper()
	if _, err := io.WriteString(c, request); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	tee := bufio.NewReader(io.TeeReader(r, &b))
	resp, err := http.ReadResponse(tee, nil)
	if err != nil {
		t.Fatalf("%q: %v", request, err)
	}
	defer resp.Body.Close()
	content, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("%q: %v", request, err)
	}
	head, _, _ = strings.Cut(b.String(), "\r\n\r\n")
	return head, string(content)
}

// giveAgain lets a bench give answers again, whatever answerMemory says.
func giveAgain(o *proxy.Options) { o.Memory = 8 << 20 }

func TestAnswerIsGivenAgainAndCountedLikeTheFirst(t *testing.T) {
	for _, scheme := range []string{"http", "https"} {
		for _, path := range []string{"/page", "/text"} {
			t.Run(scheme+path, func(t *testing.T) {
				b, _ := newSiteBench(t, giveAgain)
				var c net.Conn
				target := "http://a.test" + path
				if scheme == "http" {
					c = b.dial()
				} else {
					c, target = b.secure("a.test:443", "a.test"), path
				}
				r := bufio.NewReader(c)
				request := "GET " + target + " HTTP/1.1\r\nHost: a.test\r\nUser-Agent: agent/1\r\nConnection: keep-alive\r\n\r\n"
				var heads, bodies [5]string
				for i := range heads {
					heads[i], bodies[i] = answerTo(t, c, r, request)
				}
				if got := b.proxy.Repeats().Repeated; got < 2 {
					t.Fatalf("%d answers were given again, want at least 2:\n%s", got, heads[1])
				}
				for i := 2; i < len(heads); i++ {
					if varying.ReplaceAllString(heads[i], "") != varying.ReplaceAllString(heads[1], "") || bodies[i] != bodies[1] {
						t.Errorf("answer %d:\n%s\nwant\n%s", i, heads[i], heads[1])
					}
				}
				b.stop()
				stats, records := b.proxy.Stats(), b.proxy.Recent()
				want := int64(len(heads))
				if scheme == "https" {
					if want++; stats.Intercepted != int64(len(heads)) { // with the CONNECT
						t.Errorf("%d intercepted requests, want %d", stats.Intercepted, len(heads))
					}
				}
				if stats.Total < int64(len(heads)) || stats.Total > want {
					t.Errorf("%d requests, want %d", stats.Total, want)
				}
				first, last := records[3], records[0]
				first.Time, first.MS, last.MS = last.Time, 0, 0
				if first.Again || !last.Again || first.ID == last.ID {
					t.Errorf("requests %s and %s do not tell which one was answered again", first.ID, last.ID)
				}
				first.ID, first.Micros, first.Again = last.ID, last.Micros, true
				first.Attempts, last.Attempts = nil, nil
				if fmt.Sprint(first) != fmt.Sprint(last) {
					t.Errorf("record %+v, want %+v", last, first)
				}
				lines := 0
				for _, line := range b.log.requests() {
					if n, ok := line[proxy.KeyCount].(float64); ok {
						lines += int(n)
					} else if line[proxy.KeyMethod] == http.MethodGet {
						lines++
					}
				}
				if lines != len(heads) {
					t.Errorf("the log counts %d requests, want %d", lines, len(heads))
				}
			})
		}
	}
}
