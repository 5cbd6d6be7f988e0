package users

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/readthru/readthru/internal/fault/faulttest"
)

// signIn signs ali in.
func signIn(ctx context.Context, d *Directory, remote, password string) (string, error) {
	l, err := d.SignIn(ctx, remote, "ali", password, ScopeProxy)
	return l.Name(), err
}

// newTestDirectory returns a directory with the user ali, whose hash is quick to check.
func newTestDirectory(t *testing.T) *Directory {
	t.Helper()
	hash, err := encodeHash("sesame", make([]byte, saltSize), 1)
	if err != nil {
		t.Fatal(err)
	}
	d := NewDirectory(nil)
	if err := d.Set([]User{{Name: "ali", PasswordHash: hash}}, nil, false); err != nil {
		t.Fatal(err)
	}
	return d
}

// waitFor returns when n requests wait for checks of d.
func waitFor(d *Directory, n int) {
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
	d := newTestDirectory(t)
	if _, err := signIn(t.Context(), d, "192.0.2.1:1", "sesame"); err != nil {
		t.Fatal(err)
	}
	d.turn <- struct{}{} // a check that takes for ever
	var wg sync.WaitGroup
	guess := func(client string, n int) {
		wg.Go(func() {
			if _, err := signIn(t.Context(), d, client, fmt.Sprint("guess ", client, n)); !errors.Is(err, ErrWrong) {
				t.Errorf("%s, guess %d: %v, want %v", client, n, err, ErrWrong)
			}
		})
	}
	for n := range maxClientChecks {
		guess("192.0.2.66:1", n)
	}
	waitFor(d, maxClientChecks)
	if _, err := signIn(t.Context(), d, "192.0.2.66:9", "one more"); !errors.Is(err, ErrBusy) {
		t.Errorf("over the client's bound: %v, want %v", err, ErrBusy)
	}
	if user, err := signIn(t.Context(), d, "192.0.2.66:9", "sesame"); err != nil || user != "ali" {
		t.Errorf("credentials known to be right wait: %v", err)
	}
	for client := range maxChecks/maxClientChecks - 1 {
		for n := range maxClientChecks {
			guess(fmt.Sprintf("[2001:db8:0:%x::%x]:1", client, n), n) // one network each
		}
	}
	waitFor(d, maxChecks)
	if _, err := signIn(t.Context(), d, "192.0.2.99:1", "guess"); !errors.Is(err, ErrBusy) {
		t.Errorf("over the bound of all: %v, want %v", err, ErrBusy)
	}
	<-d.turn
	wg.Wait()
	if len(d.checks) != 0 || len(d.asking) != 0 {
		t.Errorf("%d checks and %d clients are left behind", len(d.checks), len(d.asking))
	}
	d.turn <- struct{}{}
	defer func() { <-d.turn }()
	if _, err := signIn(t.Context(), d, "192.0.2.66:1", "guess 192.0.2.66:10"); !errors.Is(err, ErrWrong) {
		t.Errorf("credentials known to be wrong: %v, want %v without a check", err, ErrWrong)
	}
}

func TestConcurrentRequestsWithTheSameCredentialsShareOneCheck(t *testing.T) {
	d := newTestDirectory(t)
	d.turn <- struct{}{}
	var wg sync.WaitGroup
	const clients = 3 * maxClientChecks
	for range clients {
		wg.Go(func() {
			if user, err := signIn(t.Context(), d, "192.0.2.1:1", "sesame"); err != nil || user != "ali" {
				t.Errorf("%q, %v", user, err)
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

func TestCheckWithoutWaitingRequestsIsDropped(t *testing.T) {
	d := newTestDirectory(t)
	d.turn <- struct{}{}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		_, err := signIn(ctx, d, "192.0.2.1:1", "guess")
		done <- err
	}()
	waitFor(d, 1)
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want %v", err, context.Canceled)
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

// A check that panics is wrong once, and whoever waits for it learns so; the next one is right.
func TestACheckThatPanicsIsMadeAgain(t *testing.T) {
	d := newTestDirectory(t)
	faulttest.Once(t, "users: compare a secret")
	if _, err := signIn(t.Context(), d, "192.0.2.1:1", "sesame"); !errors.Is(err, ErrWrong) {
		t.Errorf("while it panics: %v, want %v", err, ErrWrong)
	}
	if user, err := signIn(t.Context(), d, "192.0.2.1:1", "sesame"); err != nil || user != "ali" {
		t.Errorf("afterwards: %q, %v", user, err)
	}
	if len(d.checks) != 0 || len(d.asking) != 0 {
		t.Errorf("%d checks are left", len(d.checks))
	}
}
