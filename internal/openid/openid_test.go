package openid_test

import (
	"crypto"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/readthru/readthru/internal/openid"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// provider is a provider of identities that answers as OpenID Connect Core says, but for what a test changes. A real
// one is asked in the module bench.
type provider struct {
	*httptest.Server
	key    *rsa.PrivateKey
	down   atomic.Bool
	claims map[string]any // of the ID token, over those that are right
	info   map[string]any // what the endpoint userinfo answers; nil: there is none
	sign   func(p *provider, claims map[string]any) string
	codes  map[string]url.Values // requests for authorization, by the code that they were given
}

// keyOf returns the key of all providers.
var keyOf = sync.OnceValue(func() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return key
})

func newProvider(t *testing.T) *provider {
	t.Helper()
	p := &provider{key: keyOf(), codes: map[string]url.Values{}, sign: (*provider).rs256}
	p.Server = httptest.NewServer(p)
	t.Cleanup(p.Close)
	return p
}

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func encodeJSON(v any) string {
	b, _ := json.Marshal(v) // maps of texts and numbers
	return encode(b)
}

// rs256 signs claims.
func (p *provider) rs256(claims map[string]any) string {
	text := encodeJSON(map[string]string{"alg": "RS256", "kid": "one"}) + "." + encodeJSON(claims)
	sum := sha256.Sum256([]byte(text))
	signature, err := rsa.SignPKCS1v15(rand.Reader, p.key, crypto.SHA256, sum[:])
	if err != nil {
		panic(err)
	}
	return text + "." + encode(signature)
}

func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	answer := func(status int, v any) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(v)
	}
	switch {
	case p.down.Load():
		answer(http.StatusServiceUnavailable, nil)
	case r.URL.Path == "/.well-known/openid-configuration":
		about := map[string]any{
			"issuer": p.URL, "authorization_endpoint": p.URL + "/authorize", "token_endpoint": p.URL + "/token",
			"jwks_uri": p.URL + "/keys", "id_token_signing_alg_values_supported": []string{"RS256"},
		}
		if p.info != nil {
			about["userinfo_endpoint"] = p.URL + "/userinfo"
		}
		answer(http.StatusOK, about)
	case r.URL.Path == "/keys":
		e := binary.BigEndian.AppendUint32(nil, uint32(p.key.E)) //nolint:gosec // 65537
		answer(http.StatusOK, map[string]any{"keys": []map[string]string{{
			"kty": "RSA", "alg": "RS256", "use": "sig", "kid": "one", "n": encode(p.key.N.Bytes()), "e": encode(e[1:]),
		}}})
	case r.URL.Path == "/userinfo" && r.Header.Get("Authorization") == "Bearer access":
		answer(http.StatusOK, p.info)
	case r.URL.Path == "/token":
		asked := p.codes[r.PostFormValue("code")]
		delete(p.codes, r.PostFormValue("code"))
		id, secret, _ := r.BasicAuth()
		sum := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
		if asked == nil || id != "us" || secret != "secret" || encode(sum[:]) != asked.Get("code_challenge") ||
			asked.Get("code_challenge_method") != "S256" || r.PostFormValue("redirect_uri") != asked.Get("redirect_uri") {
			answer(http.StatusBadRequest, map[string]string{"error": "invalid_grant"})
			return
		}
		claims := map[string]any{
			"iss": p.URL, "aud": "us", "sub": "42", "nonce": asked.Get("nonce"), "preferred_username": "Ann@corp.example",
			"iat": time.Now().Unix(), "exp": time.Now().Add(time.Minute).Unix(), "groups": []string{"staff", "ops"},
		}
		maps.Copy(claims, p.claims)
		for name, v := range claims {
			if v == nil {
				delete(claims, name)
			}
		}
		tokens := map[string]any{"access_token": "access", "token_type": "Bearer", "id_token": p.sign(p, claims)}
		if tokens["id_token"] == "" {
			delete(tokens, "id_token")
		}
		answer(http.StatusOK, tokens)
	default:
		answer(http.StatusNotFound, nil)
	}
}

// authorize returns with what the provider leads back a browser that somebody sent to it and who signed in there.
func (p *provider) authorize(t *testing.T, to string) url.Values {
	t.Helper()
	u, err := url.Parse(to)
	if err != nil || !strings.HasPrefix(to, p.URL+"/authorize?") {
		t.Fatal(to, err)
	}
	asked := u.Query()
	for _, name := range []string{"state", "nonce", "code_challenge", "redirect_uri"} {
		if asked.Get(name) == "" {
			t.Errorf("the request lacks %s: %s", name, to)
		}
	}
	if asked.Get("response_type") != "code" || !strings.Contains(asked.Get("scope"), "openid") {
		t.Errorf("asked %s", to)
	}
	code := rand.Text()
	p.codes[code] = asked
	return url.Values{"code": {code}, "state": {asked.Get("state")}}
}

const back = "http://localhost:7888/signin/provider/back"

func TestAProviderSaysWhoSomebodyIs(t *testing.T) {
	no := errors.New("any error")
	set := func(name string, v any) func(*provider) {
		return func(p *provider) { p.claims = map[string]any{name: v} }
	}
	for _, tt := range []struct {
		what   string
		is     func(*provider)
		query  func(url.Values)
		change func(*openid.Attempt)
		name   string // if empty, it is refused
		admin  bool
		err    error // if nil, any
	}{
		{what: "as it should be", name: "ann", admin: true},
		{what: "no member of the group", is: set("groups", []string{"staff"}), name: "ann"},
		{what: "a group as a text", is: set("groups", "ops"), name: "ann", admin: true},
		{what: "groups that are no texts", is: set("groups", []any{1, nil, map[string]any{}}), name: "ann"},
		{what: "for several clients, made for us", is: func(p *provider) {
			p.claims = map[string]any{"aud": []string{"us", "them"}, "azp": "us"}
		}, name: "ann", admin: true},
		{
			what: "valid from a minute on, by a clock before ours", is: set("nbf", time.Now().Add(time.Minute).Unix()),
			name: "ann", admin: true,
		},
		{what: "the name by another endpoint", is: func(p *provider) {
			p.claims = map[string]any{"preferred_username": nil, "groups": nil}
			p.info = map[string]any{"sub": "42", "preferred_username": "bob", "groups": []string{"ops"}}
		}, name: "bob", admin: true},
		{what: "that endpoint of somebody else", is: func(p *provider) {
			p.claims = map[string]any{"preferred_username": nil}
			p.info = map[string]any{"sub": "43", "preferred_username": "bob"}
		}},
		{what: "the issuer in the answer", query: func(q url.Values) { q.Set("iss", "right") }, name: "ann", admin: true},
		{
			what: "another issuer in the answer", query: func(q url.Values) { q.Set("iss", "https://evil.test") },
			err: openid.ErrState,
		},
		{what: "another state", query: func(q url.Values) { q.Set("state", "x") }, err: openid.ErrState},
		{what: "no state", query: func(q url.Values) { q.Del("state") }, err: openid.ErrState},
		{
			what: "no attempt", query: func(q url.Values) { q.Del("state") },
			change: func(a *openid.Attempt) { a.State = "" }, err: openid.ErrState,
		},
		{what: "refused there", query: func(q url.Values) { q.Set("error", "access_denied") }, err: openid.ErrRefused},
		{what: "another code", query: func(q url.Values) { q.Set("code", "x") }},
		{what: "another verifier", change: func(a *openid.Attempt) { a.Verifier = strings.Repeat("x", 43) }},
		{what: "another way back", change: func(a *openid.Attempt) { a.Back = "http://localhost:1/" }},
		{what: "the nonce of another attempt", change: func(a *openid.Attempt) { a.Nonce = "x" }},
		{what: "a wrong nonce", is: set("nonce", "x")},
		{what: "no nonce", is: set("nonce", nil)},
		{what: "expired", is: set("exp", time.Now().Add(-time.Second).Unix())},
		{what: "no end", is: set("exp", nil)},
		{what: "valid later", is: set("nbf", time.Now().Add(time.Hour).Unix())},
		{what: "another issuer", is: set("iss", "https://evil.test")},
		{what: "for another client", is: set("aud", "them")},
		{what: "for several clients", is: set("aud", []string{"us", "them"})},
		{what: "made for another client", is: set("azp", "them")},
		{what: "no subject", is: set("sub", nil)},
		{what: "a long subject", is: set("sub", strings.Repeat("x", 256))},
		{what: "no name", is: set("preferred_username", nil), err: openid.ErrName},
		{what: "a name that is no text", is: set("preferred_username", 7), err: openid.ErrName},
		{what: "a name of a host alone", is: set("preferred_username", "@corp.example"), err: openid.ErrName},
		{what: "another access token", is: set("at_hash", "x")},
		{what: "no ID token", is: func(p *provider) { p.sign = func(*provider, map[string]any) string { return "" } }},
		{what: "no signature", is: func(p *provider) {
			p.sign = func(_ *provider, c map[string]any) string {
				return encodeJSON(map[string]string{"alg": "none"}) + "." + encodeJSON(c) + "."
			}
		}},
		{what: "signed with what we know, too", is: func(p *provider) {
			p.sign = func(_ *provider, c map[string]any) string {
				text := encodeJSON(map[string]string{"alg": "HS256", "kid": "one"}) + "." + encodeJSON(c)
				mac := hmac.New(sha256.New, []byte("secret"))
				mac.Write([]byte(text))
				return text + "." + encode(mac.Sum(nil))
			}
		}},
		{what: "signed by somebody else", is: func(p *provider) {
			p.sign = func(_ *provider, c map[string]any) string {
				other, _ := rsa.GenerateKey(rand.Reader, 2048)
				return (&provider{key: other}).rs256(c)
			}
		}},
		{what: "changed after it was signed", is: func(p *provider) {
			p.sign = func(p *provider, c map[string]any) string {
				parts := strings.Split(p.rs256(c), ".")
				c["preferred_username"] = "root"
				return parts[0] + "." + encodeJSON(c) + "." + parts[2]
			}
		}},
		{what: "no token at all", is: func(p *provider) {
			p.sign = func(*provider, map[string]any) string { return "<b>" }
		}},
	} {
		t.Run(tt.what, func(t *testing.T) {
			p := newProvider(t)
			if tt.is != nil {
				tt.is(p)
			}
			o := openid.New(openid.Options{
				Issuer: p.URL, ClientID: "us", ClientSecret: "secret", AdminGroup: "ops", Client: p.Client(),
			})
			a, to, err := o.Begin(t.Context(), back)
			if err != nil {
				t.Fatal(err)
			}
			query := p.authorize(t, to)
			if tt.query != nil {
				tt.query(query)
			}
			if query.Get("iss") == "right" {
				query.Set("iss", p.URL)
			}
			if tt.change != nil {
				tt.change(&a)
			}
			who, err := o.Finish(t.Context(), a, query)
			if tt.name == "" {
				if err == nil || !errors.Is(err, tt.err) && tt.err != nil || strings.Contains(err.Error(), "secret") {
					t.Errorf("%+v, %v; want an error %v", who, err, cmpOr(tt.err, no))
				}
				return
			}
			want := openid.Person{Subject: p.URL + " 42", Name: tt.name, Admin: tt.admin, Groups: true}
			if err != nil || who != want {
				t.Errorf("%+v, %v, want %+v", who, err, want)
			}
			if again, err := o.Finish(t.Context(), a, query); err == nil {
				t.Errorf("the same answer again: %+v", again)
			}
		})
	}
}

func cmpOr(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

func TestAProviderThatIsAwayIsAskedAgain(t *testing.T) {
	p := newProvider(t)
	p.down.Store(true)
	o := openid.New(openid.Options{Issuer: p.URL, ClientID: "us", ClientSecret: "secret", Client: p.Client()})
	if _, _, err := o.Begin(t.Context(), back); err == nil {
		t.Error("an attempt begins while the provider is away")
	}
	p.down.Store(false)
	a, to, err := o.Begin(t.Context(), back)
	if err != nil {
		t.Fatal(err)
	}
	query := p.authorize(t, to)
	p.down.Store(true)
	if who, err := o.Finish(t.Context(), a, query); err == nil {
		t.Errorf("while the provider is away: %+v", who)
	}
	p.down.Store(false)
	if who, err := o.Finish(t.Context(), a, query); err != nil || who.Name != "ann" || who.Admin || who.Groups {
		t.Errorf("when it is back: %+v, %v", who, err)
	}
	other := openid.New(openid.Options{Issuer: p.URL + "/x", ClientID: "us", Client: p.Client()})
	if _, _, err := other.Begin(t.Context(), back); err == nil {
		t.Error("a provider that is not there")
	}
}
