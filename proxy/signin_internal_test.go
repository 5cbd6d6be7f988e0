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

// newTestDesk returns a desk that knows ali, whose hash is quick to check.
func newTestDesk(t *testing.T) *signInDesk {
	t.Helper()
	hash, err := encodeHash("sesame", make([]byte, saltSize), 1)
	if err != nil {
		t.Fatal(err)
	}
	d, err := newSignInDesk([]User{{Name: "ali", PasswordHash: hash}})
	if err != nil {
		t.Fatal(err)
	}
	d.dummy.iterations = 1
	return d
}

// waitFor returns when n requests wait for checks of d.
func waitFor(d *signInDesk, n int) {
	for {
		d.mu.Lock()
		waiting := 0
		for _, c := range d.checks {
			waiting += c.waiting
		}
		d.mu.Unlock()
		if waiting == n {
			return
		}
	}
}

func TestWrongPasswordsDoNotStarveRightOnes(t *testing.T) {
	d := newTestDesk(t)
	if _, _, bad := d.signIn(t.Context(), "192.0.2.1:1", basic("sesame")); bad != nil {
		t.Fatal(bad.detail)
	}
	d.turn <- struct{}{} // a check that takes for ever
	var wg sync.WaitGroup
	guess := func(client string, n int, want int) {
		wg.Go(func() {
			_, _, bad := d.signIn(t.Context(), client, basic(fmt.Sprint("guess ", client, n)))
			if bad == nil || bad.status != want {
				t.Errorf("%s, guess %d: %+v, want %d", client, n, bad, want)
			}
		})
	}
	for n := range maxClientChecks {
		guess("192.0.2.66:1", n, http.StatusProxyAuthRequired)
	}
	waitFor(d, maxClientChecks)
	_, _, bad := d.signIn(t.Context(), "192.0.2.66:9", basic("one more"))
	if bad == nil || bad.status != http.StatusServiceUnavailable || bad.header.Get("Retry-After") == "" {
		t.Errorf("over the client's bound: %+v, want 503", bad)
	}
	if user, _, bad := d.signIn(t.Context(), "192.0.2.66:9", basic("sesame")); bad != nil || user.Name != "ali" {
		t.Errorf("credentials known to be right wait: %+v", bad)
	}
	for client := range maxChecks/maxClientChecks - 1 {
		for n := range maxClientChecks {
			guess(fmt.Sprintf("[2001:db8:0:%x::%x]:1", client, n), n, http.StatusProxyAuthRequired) // one network each
		}
	}
	waitFor(d, maxChecks)
	if _, _, bad := d.signIn(t.Context(), "192.0.2.99:1", basic("guess")); bad == nil ||
		bad.status != http.StatusServiceUnavailable {
		t.Errorf("over the bound of all: %+v, want 503", bad)
	}
	<-d.turn
	wg.Wait()
	if len(d.checks) != 0 || len(d.asking) != 0 {
		t.Errorf("%d checks and %d clients are left behind", len(d.checks), len(d.asking))
	}
	d.turn <- struct{}{}
	defer func() { <-d.turn }()
	if _, _, bad := d.signIn(t.Context(), "192.0.2.66:1", basic("guess 192.0.2.66:10")); bad == nil ||
		bad.status != http.StatusProxyAuthRequired {
		t.Errorf("credentials known to be wrong: %+v, want 407 without a check", bad)
	}
}

func TestSameCredentialsAreCheckedOnceForAllWhoAskAtOnce(t *testing.T) {
	d := newTestDesk(t)
	d.turn <- struct{}{}
	var wg sync.WaitGroup
	const clients = 3 * maxClientChecks
	for range clients {
		wg.Go(func() {
			if user, _, bad := d.signIn(t.Context(), "192.0.2.1:1", basic("sesame")); bad != nil || user.Name != "ali" {
				t.Errorf("%+v", bad)
			}
		})
	}
	waitFor(d, clients)
	if len(d.checks) != 1 {
		t.Errorf("%d checks, want 1", len(d.checks))
	}
	<-d.turn
	wg.Wait()
}

func TestCheckThatNobodyWaitsForIsDropped(t *testing.T) {
	d := newTestDesk(t)
	d.turn <- struct{}{}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan *refusal)
	go func() {
		_, _, bad := d.signIn(ctx, "192.0.2.1:1", basic("guess"))
		done <- bad
	}()
	waitFor(d, 1)
	cancel()
	if bad := <-done; bad == nil || bad.status != statusGone {
		t.Errorf("%+v, want %d", bad, statusGone)
	}
	<-d.turn
	d.turn <- struct{}{} // after the check had its turn
	for gone := false; !gone; {
		d.mu.Lock()
		gone = len(d.checks) == 0
		d.mu.Unlock()
		if !gone { // it has not had it yet
			<-d.turn
			d.turn <- struct{}{}
		}
	}
	<-d.turn
	if d.wrong.Len() != 0 {
		t.Error("it was checked")
	}
}
