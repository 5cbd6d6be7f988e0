package server_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/readthru/readthru/api/server"
)

// present asks a server from an address, showing a token, and returns the status and Retry-After in seconds.
func present(t *testing.T, w *world, remote, token string) (status, wait int) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost/openapi.json", nil)
	r.RemoteAddr = remote
	r.Header.Set("Authorization", "Bearer "+token)
	rec := httptest.NewRecorder()
	w.server.ServeHTTP(rec, r)
	wait, _ = strconv.Atoi(rec.Header().Get("Retry-After"))
	return rec.Code, wait
}

func TestGuessingAConfiguredTokenSlowsDownAndLocks(t *testing.T) {
	w := newWorld(t, func(o *server.Options) { o.Token = "sesame" })
	synctest.Test(t, func(t *testing.T) {
		const here, elsewhere = "192.0.2.1:1", "192.0.2.2:1"
		for n := range 5 {
			if status, _ := present(t, w, here, "guess"); status != http.StatusUnauthorized {
				t.Fatalf("guess %d: status %d, want 401", n, status)
			}
		}
		var waits []int
		for range 12 {
			if status, _ := present(t, w, here, "guess"); status != http.StatusUnauthorized {
				t.Fatalf("a guess after the wait: status %d, want 401", status)
			}
			status, wait := present(t, w, here, "sesame")
			if status != http.StatusTooManyRequests {
				t.Fatalf("the right token while guesses lock: status %d, want 429", status)
			}
			if status, _ := present(t, w, elsewhere, "sesame"); status != http.StatusOK {
				t.Errorf("from elsewhere: status %d, want 200", status)
			}
			waits = append(waits, wait)
			time.Sleep(time.Duration(wait) * time.Second)
		}
		if want := []int{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900}; !slices.Equal(waits, want) {
			t.Errorf("waits %v s, want %v", waits, want)
		}
		if status, _ := present(t, w, here, "sesame"); status != http.StatusOK {
			t.Errorf("the right token after the wait: status %d, want 200", status)
		}
	})
}

// Wrong tokens would lock out the owner of one that nobody can guess.
func TestGuessesLockNobodyOutOfATokenOfOurMaking(t *testing.T) {
	w := newWorld(t, func(o *server.Options) { o.Token, o.TrustUser = "made by us", true })
	for range 100 {
		present(t, w, "192.0.2.1:1", "guess")
	}
	if status, _ := present(t, w, "192.0.2.1:1", "made by us"); status != http.StatusOK {
		t.Errorf("the right token after 100 wrong ones: status %d, want 200", status)
	}
}

// A program of our user may have an old token; it can read the right one.
func TestProgramsOfOurUserAreNotLockedOut(t *testing.T) {
	w := newWorld(t, func(o *server.Options) { o.Token = "sesame" })
	addr := w.listen(t)
	if trusted := ask(t, newWorld(t, nil).listen(t), "GET", "/openapi.json", ""); trusted.StatusCode != http.StatusOK {
		t.Log("the kernel does not tell whose a socket is: nobody is excepted here")
		return
	}
	for range 30 {
		ask(t, addr, "GET", "/openapi.json", "", "Authorization: Bearer old")
	}
	if resp := ask(t, addr, "GET", "/openapi.json", "", "Authorization: Bearer sesame"); resp.StatusCode != http.StatusOK {
		t.Errorf("the right token after 30 wrong ones: status %d, want 200", resp.StatusCode)
	}
}
