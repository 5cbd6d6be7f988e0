// Package openid has a provider of identities say who somebody is: OpenID Connect, with an authorization code, PKCE,
// state and nonce.
//
// A [Provider] makes an [Attempt] for a browser, which goes to the provider and comes back with a code;
// [Provider.Finish] exchanges the code and checks what it gets. The caller keeps the attempt for that browser alone,
// and only once.
package openid

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// Options configures a Provider. Issuer and ClientID are required.
type Options struct {
	Issuer, ClientID, ClientSecret string

	NameClaim  string // the claim of an ID token that names the user; if empty, preferred_username
	AdminGroup string // members of this group, in the claim groups, are administrators; if empty, nobody is

	Client *http.Client // if nil, http.DefaultClient
}

// Provider is a provider of identities. It is asked what it can do at the first attempt, and again while that fails. It
// is safe for concurrent use.
type Provider struct {
	o Options

	mu    sync.Mutex
	known *oidc.Provider
}

// Person is who somebody is, as the provider says.
type Person struct {
	Subject string // issuer and the provider's own id, which stays when the name changes
	Name    string // as users are named
	Admin   bool   // a member of the group of administrators
	Groups  bool   // there is such a group, so that Admin counts
}

// Attempt is an attempt of a browser to sign in. It is for this browser alone, and for one return.
type Attempt struct {
	State, Nonce, Verifier string
	Back                   string // the URL to which the provider sends the browser
}

// timeout bounds what is asked of the provider in one step.
const timeout = 10 * time.Second

// Errors of an attempt, for people. Another one says what the provider answered, or why it could not be asked.
var (
	ErrState   = errors.New("the answer is not to the last attempt of this browser")
	ErrRefused = errors.New("the provider refused")
	ErrName    = errors.New("the provider gave no usable name")
)

// New returns a Provider. It asks nothing yet.
func New(o Options) *Provider {
	o.NameClaim = cmp.Or(o.NameClaim, "preferred_username")
	if o.Client == nil {
		o.Client = http.DefaultClient
	}
	return &Provider{o: o}
}

// Host returns the host of the provider, by which people know it.
func (p *Provider) Host() string {
	u, err := url.Parse(p.o.Issuer)
	if err != nil {
		return p.o.Issuer
	}
	return u.Host
}

// Begin returns a new attempt of a browser that comes back to a URL, and the URL of the provider where it goes.
func (p *Provider) Begin(ctx context.Context, back string) (a Attempt, to string, err error) {
	known, err := p.discover(ctx)
	if err != nil {
		return a, "", err
	}
	a = Attempt{State: rand.Text(), Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier(), Back: back}
	return a, p.config(known, back).AuthCodeURL(a.State, oidc.Nonce(a.Nonce), oauth2.S256ChallengeOption(a.Verifier)), nil
}

// Finish returns who came back from an attempt with the parameters in query.
func (p *Provider) Finish(ctx context.Context, a Attempt, query url.Values) (Person, error) {
	state := query.Get("state")
	if a.State == "" || subtle.ConstantTimeCompare([]byte(state), []byte(a.State)) != 1 {
		return Person{}, ErrState
	}
	if iss := query.Get("iss"); iss != "" && iss != p.o.Issuer { // RFC 9207: another provider answers
		return Person{}, fmt.Errorf("%w: another provider answered", ErrState)
	}
	if e := query.Get("error"); e != "" {
		return Person{}, fmt.Errorf("%w: %.100q", ErrRefused, e)
	}
	known, err := p.discover(ctx)
	if err != nil {
		return Person{}, err
	}
	ctx, cancel := context.WithTimeout(oidc.ClientContext(ctx, p.o.Client), timeout)
	defer cancel()
	answer, err := p.config(known, a.Back).Exchange(ctx, query.Get("code"), oauth2.VerifierOption(a.Verifier))
	if err != nil {
		return Person{}, fmt.Errorf("exchange the code: %w", withoutAnswer(err))
	}
	text, ok := answer.Extra("id_token").(string)
	if !ok {
		return Person{}, errors.New("exchange the code: the answer has no ID token")
	}
	token, err := known.Verifier(&oidc.Config{ClientID: p.o.ClientID}).Verify(ctx, text)
	if err != nil {
		return Person{}, fmt.Errorf("check the ID token: %w", err)
	}
	if subtle.ConstantTimeCompare([]byte(token.Nonce), []byte(a.Nonce)) != 1 {
		return Person{}, errors.New("check the ID token: its nonce is of another attempt")
	}
	if token.AccessTokenHash != "" {
		if err := token.VerifyAccessToken(answer.AccessToken); err != nil {
			return Person{}, fmt.Errorf("check the access token: %w", err)
		}
	}
	claims := map[string]any{}
	if err := token.Claims(&claims); err != nil {
		return Person{}, fmt.Errorf("read the ID token: %w", err)
	}
	_, named := claims[p.o.NameClaim]
	_, grouped := claims["groups"]
	if known.UserInfoEndpoint() != "" && (!named || !grouped && p.o.AdminGroup != "") {
		if err := addInfo(ctx, known, answer, token.Subject, claims); err != nil {
			return Person{}, err
		}
	}
	return p.person(token, claims)
}

// addInfo adds those claims that an ID token lacks, and that the provider gives at another endpoint, if they are of the
// same subject (OpenID Connect Core, section 5.3.2).
func addInfo(ctx context.Context, known *oidc.Provider, answer *oauth2.Token, subject string,
	claims map[string]any,
) error {
	info, err := known.UserInfo(ctx, oauth2.StaticTokenSource(answer))
	if err != nil {
		return fmt.Errorf("ask the provider who it is: %w", err)
	}
	more := map[string]any{}
	if err := info.Claims(&more); err != nil {
		return fmt.Errorf("ask the provider who it is: %w", err)
	}
	if info.Subject != subject {
		return errors.New("ask the provider who it is: the answer is about somebody else")
	}
	for name, claim := range more {
		if _, given := claims[name]; !given {
			claims[name] = claim
		}
	}
	return nil
}

// withoutAnswer returns an error of an exchange without the content of the answer, which may have anything.
func withoutAnswer(err error) error {
	if e, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		return fmt.Errorf("the provider answers %d %.50q", e.Response.StatusCode, e.ErrorCode)
	}
	return err
}

// person returns who an ID token is of, which was checked, and whose claims these are.
func (p *Provider) person(token *oidc.IDToken, claims map[string]any) (Person, error) {
	// An ID token for several clients says for whom it was made (OpenID Connect Core, section 3.1.3.7).
	if azp, given := claims["azp"]; given && azp != p.o.ClientID || !given && len(token.Audience) > 1 {
		return Person{}, errors.New("check the ID token: it was made for another client")
	}
	name, _ := claims[p.o.NameClaim].(string)
	if name, _, _ = strings.Cut(strings.ToLower(strings.TrimSpace(name)), "@"); name == "" {
		return Person{}, fmt.Errorf("%w: the claim %s of the ID token is empty or no text", ErrName, p.o.NameClaim)
	}
	if token.Subject == "" || len(token.Subject) > 255 {
		return Person{}, errors.New("check the ID token: it has no subject")
	}
	return Person{
		Subject: token.Issuer + " " + token.Subject, Name: name, Groups: p.o.AdminGroup != "",
		Admin: p.o.AdminGroup != "" && slices.Contains(texts(claims["groups"]), p.o.AdminGroup),
	}, nil
}

// texts returns a claim that is a text, or several.
func texts(claim any) (list []string) {
	switch claim := claim.(type) {
	case string:
		return []string{claim}
	case []any:
		for _, one := range claim {
			if text, ok := one.(string); ok {
				list = append(list, text)
			}
		}
	}
	return list
}

// discover returns what the provider can do. What was answered once is kept. Keys, which change, are asked for again as
// they are needed, by the same client.
func (p *Provider) discover(ctx context.Context) (*oidc.Provider, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.known != nil {
		return p.known, nil
	}
	ctx, cancel := context.WithTimeout(oidc.ClientContext(ctx, p.o.Client), timeout)
	defer cancel()
	known, err := oidc.NewProvider(ctx, p.o.Issuer)
	if err != nil {
		return nil, fmt.Errorf("ask the provider what it can do: %w", err)
	}
	p.known = known
	return known, nil
}

func (p *Provider) config(known *oidc.Provider, back string) *oauth2.Config {
	return &oauth2.Config{
		ClientID: p.o.ClientID, ClientSecret: p.o.ClientSecret, Endpoint: known.Endpoint(), RedirectURL: back,
		Scopes: []string{oidc.ScopeOpenID, "profile", "email", "groups"},
	}
}
