package proxy_test

import (
	"bufio"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/readthru/readthru/internal/hostrule"
	"github.com/readthru/readthru/internal/users"
	"github.com/readthru/readthru/proxy"
)

// people returns a directory of users with passwords. Without any it lets everybody in.
func people(tb testing.TB, list ...users.User) *users.Directory {
	tb.Helper()
	d := users.NewDirectory(nil)
	if err := d.Set(list, nil, false); err != nil {
		tb.Fatal(err)
	}
	return d
}

// secureAs opens a connection to a.test for a user whose password is "secret".
func (b *bench) secureAs(user string) *tls.Conn {
	b.t.Helper()
	c := b.dial()
	resp := b.ask(c, "CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\nProxy-Authorization: Basic "+
		base64.StdEncoding.EncodeToString([]byte(user+":secret"))+"\r\n\r\n")
	if resp.StatusCode != http.StatusOK {
		b.t.Fatalf("CONNECT of %s: %s", user, resp.Status)
	}
	s := tls.Client(c, &tls.Config{RootCAs: b.roots, ServerName: "a.test"})
	if err := s.HandshakeContext(b.t.Context()); err != nil {
		b.t.Fatal(err)
	}
	return s
}

const askPage = "GET /page HTTP/1.1\r\nHost: a.test\r\nUser-Agent: agent/1\r\nConnection: keep-alive\r\n\r\n"

func TestAUserWhoIsRemovedIsGivenNothingAgain(t *testing.T) {
	ann := users.User{Name: "ann", PasswordHash: proxy.QuickHash(t, "secret")}
	bob := users.User{Name: "bob", PasswordHash: ann.PasswordHash}
	known := people(t, ann, bob)
	b, _ := newSiteBench(t, func(o *proxy.Options) { giveAgain(o); o.Users = known })
	ofAnn, ofBob := b.secureAs("ann"), b.secureAs("bob")
	anns, bobs := bufio.NewReader(ofAnn), bufio.NewReader(ofBob)
	for range 5 {
		answerTo(t, ofAnn, anns, askPage)
		answerTo(t, ofBob, bobs, askPage)
	}
	if got := b.proxy.Repeats().Repeated; got < 4 {
		t.Fatalf("%d answers were given again, want at least 4", got)
	}
	if err := known.Set([]users.User{bob}, nil, false); err != nil {
		t.Fatal(err)
	}
	b.proxy.DropAnswers()
	if head, _ := answerTo(t, ofAnn, anns, askPage); !strings.HasPrefix(head, "HTTP/1.1 403 ") {
		t.Errorf("ann: %q, want 403", head)
	}
	for range 3 {
		if head, _ := answerTo(t, ofBob, bobs, askPage); !strings.HasPrefix(head, "HTTP/1.1 200 ") {
			t.Errorf("bob: %q, want 200", head)
		}
	}
}

// taken returns what users used.
func taken(t *testing.T, d *users.Directory) (used map[string]users.Use) {
	t.Helper()
	if err := d.Take(func(u map[string]users.Use) error { used = u; return nil }); err != nil {
		t.Fatal(err)
	}
	return used
}

// checkUse holds what is counted of a user against what is told of the requests.
func (b *bench) checkUse(d *users.Directory, name string) users.Use {
	b.t.Helper()
	b.stop()
	var want users.Use
	for _, e := range b.proxy.Recent() {
		if e.User != name {
			continue
		}
		want.Add(users.Use{Requests: 1, Bytes: e.BytesOut})
		if e.Tokens > 0 {
			want.Add(users.PageUse(int64(e.Tokens), int64(e.HTMLTokens)))
		}
	}
	used := taken(b.t, d)[name]
	if used != want {
		b.t.Errorf("%s used %+v, and is told of %+v", name, used, want)
	}
	return used
}

func TestRequestsOverAUsersLimitWaitForTheNextMinute(t *testing.T) {
	const limit = 6
	for tries := 0; ; tries++ {
		began := time.Now().Unix() / 60
		known := people(t, users.User{
			Name: "ann", PasswordHash: proxy.QuickHash(t, "secret"), Limits: users.Limits{RequestsPerMinute: limit},
		}, users.User{Name: "bob", PasswordHash: proxy.QuickHash(t, "secret")})
		b, _ := newSiteBench(t, func(o *proxy.Options) { giveAgain(o); o.Users = known })
		c := b.secureAs("ann")
		r := bufio.NewReader(c)
		var heads []string
		for range limit + 3 {
			head, body := answerTo(t, c, r, askPage)
			heads = append(heads, head+"\r\n\r\n"+body)
		}
		ofBob := b.secureAs("bob")
		if head, _ := answerTo(t, ofBob, bufio.NewReader(ofBob), askPage); !strings.HasPrefix(head, "HTTP/1.1 200 ") {
			t.Errorf("another user: %s", head)
		}
		if time.Now().Unix()/60 != began && tries < 3 {
			continue // a new minute has begun meanwhile
		}
		if got := b.proxy.Repeats().Repeated; got < 3 {
			t.Errorf("%d answers were given again, want at least 3", got)
		}
		for i, head := range heads {
			over := strings.HasPrefix(head, "HTTP/1.1 429 ") && strings.Contains(head, "\r\nRetry-After: ") &&
				strings.Contains(head, "limit of 6 requests a minute is reached")
			if i < limit && !strings.HasPrefix(head, "HTTP/1.1 200 ") || i >= limit && !over {
				t.Errorf("request %d: %s", i+1, head)
			}
		}
		if used := b.checkUse(known, "ann"); used.Requests != limit+3 || used.Pages != limit {
			t.Errorf("%+v", used)
		}
		return
	}
}

func TestPagesOverAUsersLimitWaitForTheNextDay(t *testing.T) {
	known := people(t, users.User{
		Name: "ann", PasswordHash: proxy.QuickHash(t, "secret"), Limits: users.Limits{TokensPerDay: 10},
	})
	b, _ := newSiteBench(t, func(o *proxy.Options) { giveAgain(o); o.Users = known })
	client := b.as("ann", "secret")
	for i, tt := range []struct{ url, accept, want string }{
		{"https://a.test/page", "*/*", "200"},
		{"https://a.test/page", "*/*", "429"},
		{"http://a.test/page", "*/*", "429"},
		{"https://a.test/data.json", "application/json", "200"},
		{"https://a.test/page", "text/html", "200"},
	} {
		if got := ask(t, client, tt.url, "Accept: "+tt.accept); !strings.HasPrefix(got, tt.want) {
			t.Errorf("request %d: %s, want %s", i+1, got, tt.want)
		}
	}
	client.CloseIdleConnections()
	if used := b.checkUse(known, "ann"); used.Requests != 5 || used.Pages != 1 || used.Tokens < 10 {
		t.Errorf("%+v", used)
	}
}

// What streams to a user ends with their rights: a tunnel, a WebSocket and a response, of ann and not of bob.
func TestWhatStreamsToAUserEndsWithTheirRights(t *testing.T) {
	ann := users.User{Name: "ann", PasswordHash: proxy.QuickHash(t, "secret")}
	bob := users.User{Name: "bob", PasswordHash: ann.PasswordHash}
	known := people(t, ann, bob)
	removed := make(chan struct{})
	origin := plainOrigin(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/stream" {
			_, _ = io.WriteString(w, "one\n")
			_ = http.NewResponseController(w).Flush()
			select {
			case <-removed:
				_, _ = io.WriteString(w, "two\n")
				_ = http.NewResponseController(w).Flush()
			case <-r.Context().Done():
			}
			<-r.Context().Done()
			return
		}
		c, rw, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer func() { _ = c.Close() }()
		_, _ = io.WriteString(c,
			"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\none\n")
		for line, err := rw.ReadString('\n'); err == nil; line, err = rw.ReadString('\n') {
			_, _ = io.WriteString(c, line)
		}
	})
	b := newBench(t, origins{"a.test:80": origin, "t.test:443": origin}, func(o *proxy.Options) {
		o.Users, o.Rules = known, hostrule.Rules{{Host: "t.test", Action: "tunnel"}}
	})
	const upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\n"
	open := func(user, how string) (net.Conn, *bufio.Reader) {
		c := b.dial()
		login := "Proxy-Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(user+":secret")) + "\r\n"
		switch how {
		case "tunnel":
			b.ask(c, "CONNECT t.test:443 HTTP/1.1\r\nHost: t.test:443\r\n"+login+"\r\n")
			_, _ = io.WriteString(c, "GET /ws HTTP/1.1\r\nHost: t.test\r\n"+upgrade+"\r\n")
		case "websocket":
			_, _ = io.WriteString(c, "GET http://a.test/ws HTTP/1.1\r\nHost: a.test\r\n"+login+upgrade+"\r\n")
		case "response":
			_, _ = io.WriteString(c, "GET http://a.test/stream HTTP/1.1\r\nHost: a.test\r\n"+login+"\r\n")
		}
		r := bufio.NewReader(c)
		if err := readUntil(r, "one"); err != nil {
			t.Fatalf("%s of %s: %v", how, user, err)
		}
		return c, r
	}
	type stream struct {
		conn net.Conn
		read *bufio.Reader
	}
	anns, bobs := map[string]stream{}, map[string]stream{}
	for _, how := range []string{"tunnel", "websocket", "response"} {
		c, r := open("ann", how)
		anns[how] = stream{c, r}
		c, r = open("bob", how)
		bobs[how] = stream{c, r}
	}
	if err := known.Set([]users.User{bob}, nil, false); err != nil {
		t.Fatal(err)
	}
	for how, s := range anns {
		if err := readUntil(s.read, "never"); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%s of ann: %v, want that it ends", how, err)
		}
	}
	close(removed)
	for how, s := range bobs {
		if how != "response" {
			_, _ = io.WriteString(s.conn, "two\n")
		}
		if err := readUntil(s.read, "two"); err != nil {
			t.Errorf("%s of bob: %v, want that it goes on", how, err)
		}
		_ = s.conn.Close()
	}
}

// readUntil reads lines until one is the line given.
func readUntil(r *bufio.Reader, want string) error {
	for {
		line, err := r.ReadString('\n')
		if err != nil || strings.TrimSpace(line) == want {
			return err
		}
	}
}
