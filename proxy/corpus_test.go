package proxy_test

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/readthru/readthru/internal/needs"
	"github.com/readthru/readthru/proxy"
)

// corpusCase is a raw request or a raw response, and what is wanted of it: see the texts "about" in testdata.
type corpusCase struct {
	ID, Raw, Must, Want, End string
}

// corpus reads the cases of a file in testdata, or of the larger corpus in the folder that READTHRU_CORPUS_SECURITY
// names.
func corpus(t *testing.T, small, large string) []corpusCase {
	t.Helper()
	file := filepath.Join("testdata", small)
	if dir := os.Getenv("READTHRU_CORPUS_SECURITY"); dir != "" {
		file = filepath.Join(dir, large)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var c struct{ Cases []corpusCase }
	if err := json.Unmarshal(text, &c); err != nil || len(c.Cases) == 0 {
		t.Fatalf("%s: %d cases, %v", file, len(c.Cases), err)
	}
	return c.Cases
}

// expand replaces {rep:C:N}, {rep:N:TEXT} and {hdrs:N}.
func expand(raw string) string {
	repeat := func(text, n string) string {
		count, _ := strconv.Atoi(n)
		return strings.Repeat(text, count)
	}
	raw = regexp.MustCompile(`\{rep:(.):(\d+)\}`).ReplaceAllStringFunc(raw, func(m string) string {
		return repeat(m[5:6], m[7:len(m)-1])
	})
	raw = regexp.MustCompile(`(?s)\{rep:(\d+):(.*?)\}`).ReplaceAllStringFunc(raw, func(m string) string {
		n, text, _ := strings.Cut(m[5:len(m)-1], ":")
		return repeat(text, n)
	})
	return regexp.MustCompile(`\{hdrs:(\d+)\}`).ReplaceAllStringFunc(raw, func(m string) string {
		count, _ := strconv.Atoi(m[6 : len(m)-1])
		var b strings.Builder
		for i := range count {
			fmt.Fprintf(&b, "X%d: y\r\n", i)
		}
		return b.String()
	})
}

// witness is an origin that keeps the bytes it gets and answers each request.
type witness struct {
	mu   sync.Mutex
	got  bytes.Buffer
	asks int // requests that came to their end
}

func (o *witness) serve(c net.Conn) {
	r := bufio.NewReader(io.TeeReader(c, o))
	for {
		req, err := http.ReadRequest(r)
		if err != nil {
			return
		}
		if req.Header.Get("Expect") != "" {
			io.WriteString(c, "HTTP/1.1 100 Continue\r\n\r\n")
		}
		if _, err := io.Copy(io.Discard, req.Body); err != nil {
			return
		}
		o.mu.Lock()
		o.asks++
		o.mu.Unlock()
		io.WriteString(c, "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Type: text/plain\r\nX-Path: "+req.URL.Path+
			"\r\nContent-Length: 2\r\n\r\nok")
	}
}

func (o *witness) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.got.Write(p)
}

// seen returns the bytes and the number of requests since the last call.
func (o *witness) seen() (string, int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	got, asks := o.got.String(), o.asks
	o.got.Reset()
	o.asks = 0
	return got, asks
}

// clean reports whether an origin's parser can take the requests in sent in one way only.
func clean(sent string) bool {
	for line := range strings.SplitAfterSeq(sent, "\n") {
		if line != "" && strings.Contains(strings.TrimSuffix(line, "\r\n"), "\r") || strings.ContainsRune(line, 0) {
			return false
		}
	}
	for _, head := range regexp.MustCompile(`(?s)(?:GET|POST) .*?\r\n\r\n`).FindAllString(sent, -1) {
		fields := regexp.MustCompile(`(?im)^(content-length|transfer-encoding|host):`).FindAllString(head, -1)
		if len(fields) > 2 {
			return false
		}
		for line := range strings.SplitSeq(strings.TrimSuffix(head, "\r\n\r\n"), "\r\n") {
			name, _, _ := strings.Cut(line, ":")
			if !strings.Contains(line, " HTTP/1.1") && strings.ContainsAny(name, " \t") {
				return false
			}
		}
	}
	return true
}

// Each case is tried three times, twice behind a request whose answer is given again where the proxy keeps answers.
func TestRawRequestsOfTheCorpus(t *testing.T) {
	o := &witness{}
	plain := rawOrigin(t, o.serve)
	secure := rawOrigin(t, func(c net.Conn) {
		s := tls.Server(c, &tls.Config{GetCertificate: func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
			return originCA(t).Leaf(hello.ServerName)
		}})
		o.serve(s)
	})
	cases := corpus(t, "requests.json", "smuggling-requests.json")
	memories := []int64{8 << 20, 0}
	if needs.Brief() {
		memories = memories[:1]
	}
	for _, memory := range memories {
		b := newBenchAt(t, origins{"a.test:80": plain, "a.test:443": secure}, 0,
			func(po *proxy.Options) { po.Memory = memory })
		for _, door := range []string{"plain", "tunnel", "HTTP/2"} {
			tried, failed := 0, 0
			for n := range 3 * len(cases) {
				tt, form, host := cases[n/3], "", "a.test:443"
				if door == "plain" {
					form, host = "http://a.test:80", "a.test:80"
				}
				fill := strings.NewReplacer("{T}", form, "{HOST}", host, "{NAME}", "a.test")
				request := fill.Replace(expand(tt.Raw))
				o.seen()
				var statuses []int
				switch door {
				case "HTTP/2":
					frames, ok := inFrames(request)
					if !ok || tt.Must == "accept2" || tt.Must == "accept" && frames.coded {
						continue // nothing in HTTP/2 is like it
					}
					statuses = frames.exchange(b)
				default:
					var c net.Conn = b.dial()
					if door == "tunnel" {
						_ = c.Close()
						c = b.secure("a.test:443", "a.test")
					}
					if n%3 > 0 {
						answerTo(t, c, bufio.NewReader(c),
							fill.Replace("GET {T}/often HTTP/1.1\r\nHost: {HOST}\r\nAccept: text/plain\r\n\r\n"))
						o.seen()
					}
					statuses = exchangeRaw(c, request+fill.Replace(lastRequest))
				}
				tried++
				sent, asks := o.seen()
				if why := verdict(tt, statuses, sent, asks); why != "" {
					failed++
					t.Errorf("%s, %s, memory %d: %s: answered %v, the origin saw %d requests: %q", tt.ID, door, memory, why,
						statuses, asks, sent)
				}
			}
			t.Logf("%s, memory %d: %d of %d", door, memory, tried-failed, tried)
		}
		if memory > 0 && b.proxy.Repeats().Repeated == 0 {
			t.Error("no answer was given again")
		}
	}
}

// lastPath is asked for behind each case of the corpus. What follows the case ends the connection, whatever of it is
// taken for a request.
const (
	lastPath    = "/last"
	lastRequest = "GET {T}" + lastPath + " HTTP/1.1\r\nHost: {HOST}\r\nConnection: close\r\n\r\n"
)

// exchangeRaw writes requests and returns the statuses of the answers but the last one's, 0 for one that does not come.
func exchangeRaw(c net.Conn, request string) (statuses []int) {
	defer c.Close() //nolint:errcheck // the answers were read
	_ = c.SetDeadline(time.Now().Add(2 * time.Minute))
	written := make(chan struct{})
	go func() {
		defer close(written)
		io.WriteString(c, request) // it may be refused before its end
	}()
	defer func() { <-written }()
	r := bufio.NewReader(c)
	for {
		resp, err := http.ReadResponse(r, nil)
		if err != nil {
			if t, ok := err.(net.Error); ok && t.Timeout() { //nolint:errorlint // as the connection returns it
				statuses = append(statuses, 0)
			}
			return statuses
		}
		_, err = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		if err != nil {
			return statuses
		}
		if resp.Header.Get("X-Path") != lastPath {
			statuses = append(statuses, resp.StatusCode)
		}
	}
}

// verdict says what is wrong with the answers to a case, empty if nothing is.
func verdict(tt corpusCase, statuses []int, sent string, asks int) string {
	good := 0
	for _, status := range statuses {
		if status == http.StatusOK {
			good++
		}
	}
	what, text, _ := strings.Cut(tt.Must, ":")
	switch {
	case slices.Contains(statuses, 0):
		return "it was left waiting"
	case !clean(sent):
		return "what was forwarded can be taken in two ways"
	case what == "reject" && (good > 0 || asks > 0 || strings.Contains(sent, lastPath)):
		return "it was not refused"
	case what == "accept" && good != 1, what == "accept2" && good != 2:
		return "it was not accepted"
	case what == "drop" && strings.Contains(strings.ToLower(sent), strings.ToLower(text)):
		return text + " was forwarded"
	}
	return ""
}

func TestOriginResponsesOfTheCorpus(t *testing.T) {
	log.SetOutput(io.Discard) // net/http's transport tells of surplus bytes there
	defer log.SetOutput(os.Stderr)
	cases := corpus(t, "responses.json", "origin-responses.json")
	answer := func(c net.Conn) {
		for req := readHead(c); req != nil; req = readHead(c) {
			var n int
			if _, err := fmt.Sscanf(req.Host, "case%d.test", &n); err != nil {
				return
			}
			response := expand(cases[n].Raw)
			if built, ok := strings.CutPrefix(cases[n].ID, "gzip-"); ok && strings.HasPrefix(response, "{built") {
				response = brokenGzip(built)
			}
			if _, err := io.WriteString(c, response); err != nil || cases[n].End != "keep" {
				return
			}
		}
	}
	b := newBenchAt(t, origins{
		"*:80": rawOrigin(t, answer),
		"*:443": rawOrigin(t, func(c net.Conn) {
			s := tls.Server(c, &tls.Config{GetCertificate: func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
				return originCA(t).Leaf(hello.ServerName)
			}})
			answer(s)
			_ = s.Close()
		}),
	}, 0, nil)
	schemes := []string{"https", "http"}
	if needs.Brief() {
		schemes = schemes[:1]
	}
	for _, scheme := range schemes {
		for _, accept := range []string{"text/markdown", "text/css"} {
			failed := 0
			for n, tt := range cases {
				target := fmt.Sprintf("%s://case%d.test/%s", scheme, n, accept)
				first, whole := askOnce(t, b, target, accept)
				second, _ := askOnce(t, b, target, accept)
				stored := strings.Contains(first.Header.Get("Cache-Status")+second.Header.Get("Cache-Status"), "stored") ||
					strings.Contains(second.Header.Get("Cache-Status"), "hit")
				refused := first.StatusCode == http.StatusBadGateway && first.Header.Get("Proxy-Status") != ""
				ok := true
				switch tt.Want {
				case "complete":
					ok = whole && first.StatusCode != http.StatusBadGateway
				case "incomplete":
					ok = (!whole || refused) && !stored
				case "error":
					ok = refused && !stored
				case "complete_or_error":
					ok = whole
				case "no_poison":
					ok = !strings.Contains(first.Body+second.Body, "poison")
				case "drop":
					ok = whole && first.Header.Get("X-Own")+first.Header.Get("Keep-Alive")+
						first.Header.Get("Proxy-Authenticate") == ""
				}
				if !ok {
					failed++
					t.Errorf("%s, %s, %s, wanted %s: %d whole %v, stored %v, %q %q", tt.ID, scheme, accept, tt.Want,
						first.StatusCode, whole, stored, first.Header, first.Body)
				}
			}
			t.Logf("%s, %s: %d of %d", scheme, accept, len(cases)-failed, len(cases))
		}
	}
}

// askOnce asks for a URL and reports whether the answer came to its end.
func askOnce(t *testing.T, b *bench, target, accept string) (got reply, whole bool) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, target, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", accept)
	resp, err := b.client().Do(req)
	if err != nil {
		return got, false
	}
	got, err = read(resp)
	return got, err == nil
}

// brokenGzip returns a response with gzip that does not decode.
func brokenGzip(how string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	io.WriteString(z, strings.Repeat("hello world ", 2000))
	_ = z.Close()
	content := b.Bytes()
	switch how {
	case "badcrc":
		content[len(content)-6] ^= 0xff
	case "garbage":
		content = slices.Concat(content[:len(content)/2], bytes.Repeat([]byte{0x55}, len(content)/2))
	default:
		content = content[:cmp.Or(len(content)/2, 1)]
	}
	return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip\r\n"+
		"Cache-Control: max-age=60\r\nContent-Length: %d\r\n\r\n%s", len(content), content)
}
