package proxy

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"sync"
	"testing"
)

// basic returns ali's credentials.
func basic(password string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte("ali:"+password))
}

// newTestAuthenticator returns an authenticator with the user ali, whose hash is quick to check.
func newTestAuthenticator(t *testing.T) *authenticator {
	t.Helper()
	hash, err := encodeHash("sesame", make([]byte, saltSize), 1)
	if err != nil {
		t.Fatal(err)
	}
	a, err := newAuthenticator([]User{{Name: "ali", PasswordHash: hash}})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// waitFor returns when n requests wait for checks of a.
func waitFor(a *authenticator, n int) {
	for {
		a.mu.Lock()
		waiting := 0
		for _, c := range a.checks {
			waiting += c.waiting
		}
		a.mu.Unlock()
		if waiting == n {
			return
		}
	}
}

func TestWrongPasswordsDoNotStarveRightOnes(t *testing.T) {
	a := newTestAuthenticator(t)
	if _, _, bad := a.signIn(t.Context(), "192.0.2.1:1", basic("sesame")); bad != nil {
		t.Fatal(bad.detail)
	}
	a.turn <- struct{}{} // a check that takes for ever
	var wg sync.WaitGroup
	guess := func(client string, n int, want int) {
		wg.Go(func() {
			_, _, bad := a.signIn(t.Context(), client, basic(fmt.Sprint("guess ", client, n)))
			if bad == nil || bad.status != want {
				t.Errorf("%s, guess %d: %+v, want %d", client, n, bad, want)
			}
		})
	}
	for n := range maxClientChecks {
		guess("192.0.2.66:1", n, http.StatusProxyAuthRequired)
	}
	waitFor(a, maxClientChecks)
	_, _, bad := a.signIn(t.Context(), "192.0.2.66:9", basic("one more"))
	if bad == nil || bad.status != http.StatusServiceUnavailable || bad.header.Get("Retry-After") == "" {
		t.Errorf("over the client's bound: %+v, want 503", bad)
	}
	if user, _, bad := a.signIn(t.Context(), "192.0.2.66:9", basic("sesame")); bad != nil || user.Name != "ali" {
		t.Errorf("credentials known to be right wait: %+v", bad)
	}
	for client := range maxChecks/maxClientChecks - 1 {
		for n := range maxClientChecks {
			guess(fmt.Sprintf("[2001:db8:0:%x::%x]:1", client, n), n, http.StatusProxyAuthRequired) // one network each
		}
	}
	waitFor(a, maxChecks)
	if _, _, bad := a.signIn(t.Context(), "192.0.2.99:1", basic("guess")); bad == nil ||
		bad.status != http.StatusServiceUnavailable {
		t.Errorf("over the bound of all: %+v, want 503", bad)
	}
	<-a.turn
	wg.Wait()
	if len(a.checks) != 0 || len(a.asking) != 0 {
		t.Errorf("%d checks and %d clients are left behind", len(a.checks), len(a.asking))
	}
	a.turn <- struct{}{}
	defer func() { <-a.turn }()
	if _, _, bad := a.signIn(t.Context(), "192.0.2.66:1", basic("guess 192.0.2.66:10")); bad == nil ||
		bad.status != http.StatusProxyAuthRequired {
		t.Errorf("credentials known to be wrong: %+v, want 407 without a check", bad)
	}
}

func TestConcurrentRequestsWithTheSameCredentialsShareOneCheck(t *testing.T) {
	a := newTestAuthenticator(t)
	a.turn <- struct{}{}
	var wg sync.WaitGroup
	const clients = 3 * maxClientChecks
	for range clients {
		wg.Go(func() {
			if user, _, bad := a.signIn(t.Context(), "192.0.2.1:1", basic("sesame")); bad != nil || user.Name != "ali" {
				t.Errorf("%+v", bad)
			}
		})
	}
	waitFor(a, clients)
	if len(a.checks) != 1 {
		t.Errorf("%d checks, want 1", len(a.checks))
	}
	<-a.turn
	wg.Wait()
}

func TestCheckWithoutWaitingRequestsIsDropped(t *testing.T) {
	a := newTestAuthenticator(t)
	a.turn <- struct{}{}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan *refusal)
	go func() {
		_, _, bad := a.signIn(ctx, "192.0.2.1:1", basic("guess"))
		done <- bad
	}()
	waitFor(a, 1)
	cancel()
	if bad := <-done; bad == nil || bad.status != statusGone {
		t.Errorf("%+v, want %d", bad, statusGone)
	}
	<-a.turn
	a.turn <- struct{}{} // after the check had its turn
	for gone := false; !gone; {
		a.mu.Lock()
		gone = len(a.checks) == 0
		a.mu.Unlock()
		if !gone { // it has not had it yet
			<-a.turn
			a.turn <- struct{}{}
		}
	}
	<-a.turn
	if a.wrong.Len() != 0 {
		t.Error("it was checked")
	}
}
