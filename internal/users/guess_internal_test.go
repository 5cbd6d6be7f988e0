package users

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/readthru/readthru/internal/guess"
)

// signInWith signs in with a name and a password, joined by a colon. It returns what comes of that, and for how long
// nothing is checked.
func signInWith(t *testing.T, d *Directory, remote, login string) (result string, wait int) {
	t.Helper()
	name, password, _ := strings.Cut(login, ":")
	_, err := d.SignIn(t.Context(), remote, name, password, ScopeProxy)
	locked, isLocked := errors.AsType[*LockedError](err)
	switch {
	case err == nil:
		return "right", 0
	case errors.Is(err, ErrWrong):
		return "wrong", 0
	case isLocked:
		wait, _ = strconv.Atoi(guess.RetryAfter(locked.Wait))
		return "locked", wait
	}
	return err.Error(), 0
}

func TestGuessingPasswordsSlowsDownAndLocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newTestDirectory(t)
		const here, elsewhere = "192.0.2.1:1", "192.0.2.2:1"
		n := 0
		wrong := func() (string, int) { n++; return signInWith(t, d, here, fmt.Sprint("ali:guess ", n)) }
		for range guess.FreeHere {
			if got, _ := wrong(); got != "wrong" {
				t.Fatalf("guess %d: %s, want wrong", n, got)
			}
		}
		var waits []int
		for range 13 {
			if got, _ := wrong(); got != "wrong" {
				t.Fatalf("guess %d after the wait: %s, want wrong", n, got)
			}
			got, wait := signInWith(t, d, here, "ali:sesame")
			if got != "locked" {
				t.Fatalf("the right password while guesses lock: %s, want locked", got)
			}
			if got, _ := signInWith(t, d, elsewhere, "ali:stranger"); n == guess.FreeHere+1 && got != "wrong" {
				t.Errorf("from elsewhere: %s, want wrong", got)
			}
			waits = append(waits, wait)
			time.Sleep(time.Duration(wait) * time.Second)
		}
		if want := []int{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900, 900}; !slices.Equal(waits, want) {
			t.Errorf("waits %v s, want %v", waits, want)
		}
		if got, _ := signInWith(t, d, here, "ali:sesame"); got != "right" {
			t.Errorf("the right password after the wait: %s", got)
		}
		if got, _ := wrong(); got != "wrong" {
			t.Errorf("a wrong one after the right one: %s, want wrong", got)
		}
		if got, _ := signInWith(t, d, here, "ali:sesame"); got != "right" {
			t.Errorf("who has signed in waits: %s", got)
		}
	})
}

func TestGuessesForManyUsersLockTheirNetwork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newTestDirectory(t)
		for n := range guess.FreeNetwork + 1 {
			if got, _ := signInWith(t, d, fmt.Sprintf("[2001:db8::%x]:1", n), fmt.Sprintf("user%d:x", n)); got != "wrong" {
				t.Fatalf("guess %d: %s, want wrong", n, got)
			}
		}
		if got, _ := signInWith(t, d, "[2001:db8::ffff]:1", "ali:sesame"); got != "locked" {
			t.Errorf("from the same network: %s, want locked", got)
		}
		if got, _ := signInWith(t, d, "[2001:db8:1::1]:1", "ali:sesame"); got != "right" {
			t.Errorf("from another network: %s, want right", got)
		}
	})
}

func TestGuessesFromManyNetworksLockTheUserForAMinuteAtMost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newTestDirectory(t)
		for n := range 10 * guess.FreeSecret {
			_, wait := signInWith(t, d, fmt.Sprintf("10.0.%d.%d:1", n/256, n%256), fmt.Sprint("ali:x", n))
			if wait > 60 {
				t.Fatalf("guess %d waits for %d s", n, wait)
			}
			time.Sleep(time.Duration(wait) * time.Second)
		}
		if got, _ := signInWith(t, d, "192.0.2.9:1", "bob:x"); got != "wrong" {
			t.Errorf("another user: %s, want wrong", got)
		}
		time.Sleep(time.Minute)
		if got, _ := signInWith(t, d, "192.0.2.9:1", "ali:sesame"); got != "right" {
			t.Errorf("the user after a minute: %s", got)
		}
	})
}

func TestGuessesAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newTestDirectory(t)
		for n := range guess.FreeHere {
			signInWith(t, d, "192.0.2.1:1", fmt.Sprint("ali:x", n))
		}
		time.Sleep(guess.Forget)
		for n := range guess.FreeHere {
			signInWith(t, d, "192.0.2.1:1", fmt.Sprint("ali:y", n))
		}
		if got, _ := signInWith(t, d, "192.0.2.1:1", "ali:sesame"); got != "right" {
			t.Errorf("ten wrong passwords in two hours lock: %s", got)
		}
	})
}

// TestEveryCheckTakesAsLongAsTheDearest has users whose hashes differ in cost.
func TestEveryCheckTakesAsLongAsTheDearest(t *testing.T) {
	var users []User
	for name, iterations := range map[string]int{"cheap": 1, "dear": 70, "mean": 7} {
		hash, err := encodeHash("sesame", make([]byte, saltSize), iterations)
		if err != nil {
			t.Fatal(err)
		}
		users = append(users, User{Name: name, PasswordHash: hash})
	}
	a, err := newTable(users, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"cheap", "dear", "mean", "nobody", ""} {
		hash, padding := a.dear(a.hashOf(name, "sesame"))
		if got := hash.iterations + padding.iterations; got != 70 {
			t.Errorf("%q: %d iterations, want 70", name, got)
		}
		if padding.matches("sesame") || padding.matches("") {
			t.Errorf("%q: what only takes time matches", name)
		}
		if got, want := hash.matches("sesame"), a.users[name] != nil; got != want {
			t.Errorf("%q: the password matches: %v, want %v", name, got, want)
		}
	}
}
