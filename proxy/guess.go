package proxy

import (
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
)

const (
	maxGuessers   = 4096 // remembered; the one that guessed longest ago goes first
	firstLock     = time.Second
	longestLock   = 15 * time.Minute
	forgetGuesses = time.Hour // after the last wrong password
)

// How many wrong passwords are free, before each locks for twice as long as the one before: of one user from one
// network, from one network, and of one user. The last is high and locks for a minute at most, since others can lock a
// user out by it; who has signed in before is not affected.
const (
	freeHere    = 5
	freeNetwork = 20
	freeUser    = 50

	longestUserLock = time.Minute
)

// guesser is who guesses passwords. One of the two may be zero.
type guesser struct {
	user    credentials // of the name alone, since names may be long
	network string
}

// tries are the wrong passwords of a guesser.
type tries struct {
	wrong       int
	last, until time.Time // until: nothing is checked before
}

// guesses remembers wrong passwords. It does not lock itself.
type guesses struct{ seen *lru.Cache[guesser, tries] }

func newGuesses() guesses {
	seen, _ := lru.New[guesser, tries](maxGuessers) // fails for sizes below 1 only
	return guesses{seen}
}

// kinds are the three under which a wrong password counts, with how many are free and how long the longest lock is.
func kinds(user credentials, network string) [3]struct {
	guesser
	free    int
	longest time.Duration
} {
	return [...]struct {
		guesser
		free    int
		longest time.Duration
	}{
		{guesser{user, network}, freeHere, longestLock},
		{guesser{network: network}, freeNetwork, longestLock},
		{guesser{user: user}, freeUser, longestUserLock},
	}
}

// locked returns for how long no password of a user from a network is checked.
func (g guesses) locked(user credentials, network string, now time.Time) (wait time.Duration) {
	for _, k := range kinds(user, network) {
		if t, ok := g.seen.Peek(k.guesser); ok {
			wait = max(wait, t.until.Sub(now))
		}
	}
	return wait
}

// wrong counts a wrong password.
func (g guesses) wrong(user credentials, network string, now time.Time) {
	for _, k := range kinds(user, network) {
		t, ok := g.seen.Get(k.guesser)
		if ok && now.Sub(t.last) >= forgetGuesses {
			t = tries{}
		}
		t.wrong++
		t.last = now
		if over := t.wrong - k.free; over > 0 {
			t.until = now.Add(min(k.longest, firstLock<<min(over-1, 20)))
		}
		g.seen.Add(k.guesser, t)
	}
}

// right forgets the wrong passwords of a user from a network: who knows the right one did not guess.
func (g guesses) right(user credentials, network string) { g.seen.Remove(guesser{user, network}) }

// lockedOut refuses to check a password.
func lockedOut(wait time.Duration) *refusal {
	seconds := int(math.Ceil(wait.Seconds()))
	return &refusal{
		status: http.StatusTooManyRequests, title: "Too many wrong passwords", proxyError: "http_request_denied",
		detail: fmt.Sprintf("Too many wrong passwords: try again in %d s. Until then none is checked.", seconds),
		header: http.Header{"Retry-After": {strconv.Itoa(seconds)}},
	}
}
