package proxy

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"readthru/guess"
)

// signInWith signs in and returns the status of a refusal and its Retry-After in seconds; 200 for none.
func signInWith(t *testing.T, a *authenticator, remote, login string) (status, wait int) {
	t.Helper()
	field := "Basic " + base64.StdEncoding.EncodeToString([]byte(login))
	_, _, bad := a.signIn(t.Context(), remote, field)
	if bad == nil {
		return http.StatusOK, 0
	}
	wait, _ = strconv.Atoi(bad.header.Get("Retry-After"))
	return bad.status, wait
}

func TestGuessingPasswordsSlowsDownAndLocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newTestAuthenticator(t)
		const here, elsewhere = "192.0.2.1:1", "192.0.2.2:1"
		n := 0
		wrong := func() (int, int) { n++; return signInWith(t, a, here, fmt.Sprint("ali:guess ", n)) }
		for range guess.FreeHere {
			if status, _ := wrong(); status != http.StatusProxyAuthRequired {
				t.Fatalf("guess %d: status %d, want 407", n, status)
			}
		}
		var waits []int
		for range 13 {
			if status, _ := wrong(); status != http.StatusProxyAuthRequired {
				t.Fatalf("guess %d after the wait: status %d, want 407", n, status)
			}
			status, wait := signInWith(t, a, here, "ali:sesame")
			if status != http.StatusTooManyRequests {
				t.Fatalf("the right password while guesses lock: status %d, want 429", status)
			}
			if status, _ := signInWith(t, a, elsewhere, "ali:stranger"); n == guess.FreeHere+1 && status != http.StatusProxyAuthRequired {
				t.Errorf("from elsewhere: status %d, want 407", status)
			}
			waits = append(waits, wait)
			time.Sleep(time.Duration(wait) * time.Second)
		}
		if want := []int{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900, 900}; !slices.Equal(waits, want) {
			t.Errorf("waits %v s, want %v", waits, want)
		}
		if status, _ := signInWith(t, a, here, "ali:sesame"); status != http.StatusOK {
			t.Errorf("the right password after the wait: status %d", status)
		}
		if status, _ := wrong(); status != http.StatusProxyAuthRequired {
			t.Errorf("a wrong one after the right one: status %d, want 407", status)
		}
		if status, _ := signInWith(t, a, here, "ali:sesame"); status != http.StatusOK {
			t.Errorf("who has signed in waits: status %d", status)
		}
	})
}

func TestGuessesForManyUsersLockTheirNetwork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newTestAuthenticator(t)
		for n := range guess.FreeNetwork + 1 {
			if status, _ := signInWith(t, a, fmt.Sprintf("[2001:db8::%x]:1", n), fmt.Sprintf("user%d:x", n)); status != 407 {
				t.Fatalf("guess %d: status %d, want 407", n, status)
			}
		}
		if status, _ := signInWith(t, a, "[2001:db8::ffff]:1", "ali:sesame"); status != http.StatusTooManyRequests {
			t.Errorf("from the same network: status %d, want 429", status)
		}
		if status, _ := signInWith(t, a, "[2001:db8:1::1]:1", "ali:sesame"); status != http.StatusOK {
			t.Errorf("from another network: status %d, want none", status)
		}
	})
}

func TestGuessesFromManyNetworksLockTheUserForAMinuteAtMost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newTestAuthenticator(t)
		for n := range 10 * guess.FreeSecret {
			_, wait := signInWith(t, a, fmt.Sprintf("10.0.%d.%d:1", n/256, n%256), fmt.Sprint("ali:x", n))
			if wait > 60 {
				t.Fatalf("guess %d waits for %d s", n, wait)
			}
			time.Sleep(time.Duration(wait) * time.Second)
		}
		if status, _ := signInWith(t, a, "192.0.2.9:1", "bob:x"); status != http.StatusProxyAuthRequired {
			t.Errorf("another user: status %d, want 407", status)
		}
		time.Sleep(time.Minute)
		if status, _ := signInWith(t, a, "192.0.2.9:1", "ali:sesame"); status != http.StatusOK {
			t.Errorf("the user after a minute: status %d", status)
		}
	})
}

func TestGuessesAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newTestAuthenticator(t)
		for n := range guess.FreeHere {
			signInWith(t, a, "192.0.2.1:1", fmt.Sprint("ali:x", n))
		}
		time.Sleep(guess.Forget)
		for n := range guess.FreeHere {
			signInWith(t, a, "192.0.2.1:1", fmt.Sprint("ali:y", n))
		}
		if status, _ := signInWith(t, a, "192.0.2.1:1", "ali:sesame"); status != http.StatusOK {
			t.Errorf("ten wrong passwords in two hours lock: status %d", status)
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
	a, err := newAuthenticator(users)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"cheap", "dear", "mean", "nobody", ""} {
		hash, padding := a.hashesOf(name)
		if got := hash.iterations + padding.iterations; got != 70 {
			t.Errorf("%q: %d iterations, want 70", name, got)
		}
		if padding.matches("sesame") || padding.matches("") {
			t.Errorf("%q: what only takes time matches", name)
		}
		if got, want := hash.matches("sesame"), a.users[name].Name != ""; got != want {
			t.Errorf("%q: the password matches: %v, want %v", name, got, want)
		}
	}
}
