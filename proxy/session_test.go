package proxy_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/readthru/readthru/internal/hostrule"
	"github.com/readthru/readthru/internal/journal"
	"github.com/readthru/readthru/internal/recording"
	"github.com/readthru/readthru/internal/users"
	"github.com/readthru/readthru/proxy"
)

// as returns a client that goes through the proxy with these credentials.
func (b *bench) as(name, password string) *http.Client {
	c := b.client()
	c.Transport.(*http.Transport).Proxy = http.ProxyURL(&url.URL{
		Scheme: "http", User: url.UserPassword(name, password),
		Host: b.addr,
	})
	return c
}

// ask sends a GET with fields and returns what came: status, fields but those that another connection has otherwise,
// and content.
func ask(t *testing.T, c *http.Client, target string, fields ...string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, target, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range fields {
		name, value, _ := strings.Cut(f, ": ")
		req.Header.Add(name, value)
	}
	resp, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	got, err := read(resp)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(got.StatusCode, got.Header, got.Body)
}

// undated returns an answer as ask returns it, without its Date.
func undated(answer string) string {
	return regexp.MustCompile(`Date:\[[^]]*\] `).ReplaceAllString(answer, "")
}

func TestASessionThatCannotBeOneIsRefused(t *testing.T) {
	b, _ := newSiteBench(t, nil)
	for _, name := range []string{strings.Repeat("s", 201), "s\xff", "\u0085"} {
		if got := ask(t, b.client(), "http://a.test/page", "X-Readthru-Session: "+name); !strings.HasPrefix(got,
			"400") {
			t.Errorf("%q: %s", name, got)
		}
	}
	if got := ask(t, b.client(), "http://a.test/page", "X-Readthru-Session: größe"); !strings.HasPrefix(got, "200") {
		t.Error(got)
	}
	b.stop()
	if b.proxy.Journal().Session("größe").Requests != 1 {
		t.Error("a session of 7 bytes is not counted")
	}
}

func TestSessionIsNamedByTheProxyUserOrAField(t *testing.T) {
	hash := proxy.QuickHash(t, "secret")
	for name, tt := range map[string]struct {
		users          []users.User
		user, password string
		field          string
		session        string
	}{
		"a name without users":     {nil, "s1", "x", "", "s1"},
		"a field":                  {nil, "", "", "s2", "s2"},
		"a field before a name":    {nil, "s1", "x", "s2", "s2"},
		"after the plus of a user": {[]users.User{{Name: "ann", PasswordHash: hash}}, "ann+s3", "secret", "", "ann+s3"},
		"a field of a user":        {[]users.User{{Name: "ann", PasswordHash: hash}}, "ann", "secret", "s4", "ann+s4"},
		"a field in full": {
			[]users.User{{Name: "ann", PasswordHash: hash}},
			"ann", "secret", "ann+s5",
			"ann+s5",
		},
		"a user with a plus is whole": {
			[]users.User{{Name: "ann+bob", PasswordHash: hash}},
			"ann+bob", "secret", "",
			"",
		},
		"a user alone has none":     {[]users.User{{Name: "ann", PasswordHash: hash}}, "ann", "secret", "", ""},
		"a name that cannot be one": {nil, "a\nb", "x", "", ""},
	} {
		for _, base := range []string{"http://a.test", "https://a.test"} {
			t.Run(name+" "+base, func(t *testing.T) {
				b, _ := newSiteBench(t, func(o *proxy.Options) { o.Users = people(t, tt.users...) })
				var fields []string
				if tt.field != "" {
					fields = []string{"X-Readthru-Session: " + tt.field}
				}
				client := b.client()
				if tt.user != "" {
					client = b.as(tt.user, tt.password)
				}
				for range 2 {
					if got := ask(t, client, base+"/page", fields...); !strings.HasPrefix(got, "200") {
						t.Fatal(got)
					}
				}
				ask(t, client, base+"/data.json", fields...)
				b.stop() // all is counted
				if tt.session == "" {
					if got := b.proxy.Journal().Session("ann"); got != (journal.SessionStats{}) {
						t.Errorf("session ann: %+v, want none", got)
					}
					return
				}
				got := b.proxy.Journal().Session(tt.session)
				if got.Tokens <= 0 || got.HTMLTokens <= got.Tokens {
					t.Errorf("tokens %d of %d", got.Tokens, got.HTMLTokens)
				}
				got.Tokens, got.HTMLTokens = 0, 0
				if want := (journal.SessionStats{Requests: 3, Pages: 2, Hits: 1}); got != want {
					t.Errorf("session %q: %+v, want %+v", tt.session, got, want)
				}
			})
		}
	}
}

func TestAWrongPasswordWithASessionIsRefused(t *testing.T) {
	hash := proxy.QuickHash(t, "secret")
	b, _ := newSiteBench(t, func(o *proxy.Options) { o.Users = people(t, users.User{Name: "ann", PasswordHash: hash}) })
	for _, name := range []string{"ann+s", "bob+s", "+s", "ann+"} {
		if got := ask(t, b.as(name, "wrong"), "http://a.test/page"); !strings.HasPrefix(got, "407") {
			t.Errorf("%s: %.60s, want 407", name, got)
		}
	}
}

// recorded starts to record a session. The function it returns ends that, and returns the recording.
func (b *bench) recorded(session string) (end func() *recording.Recording) {
	b.t.Helper()
	var out bytes.Buffer
	begun, done := make(chan struct{}), make(chan error, 1)
	go func() { done <- b.proxy.Record(b.t.Context(), session, "readthru/test", &out, func() { close(begun) }) }()
	<-begun
	return func() *recording.Recording {
		b.t.Helper()
		if err := errors.Join(b.proxy.EndRecording(b.t.Context(), session), <-done); err != nil {
			b.t.Fatal(err)
		}
		name := filepath.Join(b.t.TempDir(), "recording")
		if err := os.WriteFile(name, out.Bytes(), 0o600); err != nil {
			b.t.Fatal(err)
		}
		r, err := recording.Open(name)
		if err != nil {
			b.t.Fatal(err)
		}
		b.t.Cleanup(func() { _ = r.Close() })
		return r
	}
}

func TestRecordedSessionIsReplayedWithoutAnyOrigin(t *testing.T) {
	// the last is tunnelled by the preset otherwise
	for _, base := range []string{"http://a.test", "https://a.test", "https://registry.npmjs.org"} {
		t.Run(base, func(t *testing.T) {
			rules := func(o *proxy.Options) { o.Rules = hostrule.Rules{{Action: "intercept"}} }
			b, s := newSiteBench(t, rules)
			everything := func(c *http.Client) (all []string) {
				all = append(all,
					ask(t, c, base+"/page"), ask(t, c, base+"/page", browserAccept), ask(t, c, base+"/page"),
					ask(t, c, base+"/missing"),
					ask(t, c, base+"/data.json", "Authorization: Bearer ALICE"),
					ask(t, c, base+"/page", "X-Readthru-Mode: text"),
					undated(ask(t, c, base+"/page", "X-Readthru-Mode: nonsense"))) // is refused anew, at another time
				req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+"/form?token=s3cret",
					strings.NewReader("k=v"))
				if err != nil {
					t.Fatal(err)
				}
				resp, err := c.Do(req)
				if err != nil {
					t.Fatal(err)
				}
				got, err := read(resp)
				return append(all, fmt.Sprint(got, err))
			}
			end := b.recorded("s1")
			then := everything(b.as("s1", "x"))
			ask(t, b.as("s2", "x"), base+"/unrecorded")
			asked := s.count()
			r := end()

			again := newBench(t, nil, func(o *proxy.Options) { o.Replay = r })
			now := everything(again.client())
			for i := range then {
				if now[i] != then[i] {
					t.Errorf("answer %d:\n%s\nwant\n%s", i, now[i], then[i])
				}
			}
			if got := ask(t, again.client(), base+"/unrecorded"); !strings.HasPrefix(got, "504") ||
				!strings.Contains(got, "GET "+base+"/unrecorded is not in the recording") {
				t.Errorf("what another session read: %s", got)
			}
			if got := ask(t, again.client(), base+"/form?token=other"); !strings.HasPrefix(got, "504") ||
				strings.Contains(got, "other") {
				t.Errorf("another method: %s, want it refused without the token", got)
			}
			if s.count() != asked {
				t.Errorf("the origin was asked %d times by the replay", s.count()-asked)
			}
		})
	}
}

func TestThePrefixFormIsRecordedToo(t *testing.T) {
	b, _ := newSiteBench(t, nil)
	end := b.recorded("s1")
	direct := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	then := ask(t, direct, "http://"+b.addr+"/http://a.test/data.json", "X-Readthru-Session: s1")
	again := newBench(t, nil, func(o *proxy.Options) { o.Replay = end() })
	if now := ask(t, direct, "http://"+again.addr+"/http://a.test/data.json"); now != then {
		t.Errorf("got %s, want %s", now, then)
	}
}

func TestRecordingEndsWithItsContext(t *testing.T) {
	b, _ := newSiteBench(t, nil)
	ctx, leave := context.WithCancel(t.Context())
	begun, done := make(chan struct{}), make(chan error, 1)
	go func() { done <- b.proxy.Record(ctx, "s1", "readthru/test", io.Discard, func() { close(begun) }) }()
	<-begun
	if err := b.proxy.Record(t.Context(), "s1", "readthru/test", io.Discard, func() {}); !errors.Is(err,
		proxy.ErrRecording) {
		t.Errorf("a second recording of a session: %v", err)
	}
	leave()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if err := b.proxy.EndRecording(t.Context(), "s1"); !errors.Is(err, proxy.ErrRecording) {
		t.Errorf("the end of what is not recorded: %v", err)
	}
	if err := b.proxy.Record(t.Context(), "", "readthru/test", io.Discard, func() {}); err == nil {
		t.Error("a session without a name is recorded")
	}
}

func TestATunnelIsCountedForItsSession(t *testing.T) {
	b := newBench(t, origins{"a.test:443": tlsOrigin(t, say)}, tunnelEverything)
	client := b.as("s1", "x")
	client.Transport.(*http.Transport).TLSClientConfig.RootCAs.AddCert(originCA(t).Certificate())
	ask(t, client, "https://a.test/x")
	client.CloseIdleConnections()
	b.stop()
	if got := b.proxy.Journal().Session("s1"); got != (journal.SessionStats{Tunnels: 1}) {
		t.Errorf("session %+v, want one tunnel and nothing else", got)
	}
}

// TestOfflineSessionIsAnsweredFromStoredResponses asks through a listener that is offline, of a proxy that is not.
func TestAnOfflineSessionIsAnsweredFromWhatIsStored(t *testing.T) {
	b, s := newSiteBench(t, nil)
	b.get("https://a.test/page", "Accept: */*")
	asked := s.count()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- b.proxy.ServeSession(ctx, l, proxy.Terms{Session: "s1", Offline: true}) }()
	client := b.client()
	client.Transport.(*http.Transport).Proxy = http.ProxyURL(&url.URL{Scheme: "http", Host: l.Addr().String()})
	for target, want := range map[string]string{
		"https://a.test/page":      "200",
		"https://a.test/missing":   "504",
		"https://a.test/data.json": "504",
		"http://a.test/page":       "504",
	} {
		for _, fields := range [][]string{nil, {browserAccept}, {"Cache-Control: no-cache"}} {
			if want == "200" && fields != nil && fields[0] != browserAccept {
				continue // validation is asked for, and cannot be had
			}
			if got := ask(t, client, target, fields...); !strings.HasPrefix(got, want) {
				t.Errorf("%s %v: %.100s, want %s", target, fields, got, want)
			} else if want == "504" && !strings.Contains(got, "This session is offline") {
				t.Errorf("%s %v: %.100s, which does not say that the session is offline", target, fields, got)
			}
		}
	}
	direct := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	if got := ask(t, direct, "http://"+l.Addr().String()+"/https://a.test/page"); !strings.HasPrefix(got, "200") ||
		!strings.Contains(got, "# On Foxes") {
		t.Errorf("prefix form: %.100s", got)
	}
	if got := ask(t, direct, "http://"+l.Addr().String()+"/https://a.test/data.json"); !strings.HasPrefix(got, "504") {
		t.Errorf("prefix form of what is not stored: %.100s", got)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://a.test/page", strings.NewReader("x"))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := read(resp); got.StatusCode != http.StatusGatewayTimeout || err != nil {
		t.Errorf("POST: %s, %v", got.Status, err)
	}
	if resp, err := visit(t.Context(), client, "https://registry.npmjs.org/x"); err == nil { // by the preset a tunnel
		resp.Body.Close()
		t.Errorf("a tunnel was opened: %s", resp.Status)
	} else if !strings.Contains(err.Error(), "Gateway Timeout") {
		t.Errorf("a tunnel: %v", err)
	}
	client.CloseIdleConnections()
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if s.count() != asked {
		t.Errorf("the origin was asked %d times", s.count()-asked)
	}
	if got := b.proxy.Journal().Session("s1"); got.Requests == 0 || got.Tunnels != 0 {
		t.Errorf("session %+v", got)
	}
}
