// Package guess locks out clients that guess secrets. It remembers wrong guesses and says how long nothing is checked.
package guess

import (
	"net/netip"
	"strconv"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
)

const (
	maxGuessers = 4096 // remembered; the one that guessed longest ago goes first
	firstLock   = time.Second
	longestLock = 15 * time.Minute

	// Forget is how long after the last of them wrong guesses count.
	Forget = time.Hour
)

// How many wrong guesses are free, before each locks for twice as long as the one before: at one secret from one
// network, at any from one network, and at one secret. The last is high and locks for a minute at most, since others
// can lock a user out by it.
const (
	FreeHere    = 5
	FreeNetwork = 20
	FreeSecret  = 50

	longestSecretLock = time.Minute
)

// Guesses remembers wrong guesses. It is safe for concurrent use.
type Guesses struct {
	mu   sync.Mutex
	seen *lru.Cache[guesser, tries]
}

// guesser is who guesses what. One of the two may be empty.
type guesser struct{ secret, network string }

// tries are the wrong guesses of a guesser.
type tries struct {
	wrong       int
	last, until time.Time // until: nothing is checked before
}

// New returns Guesses without any.
func New() *Guesses {
	seen, _ := lru.New[guesser, tries](maxGuessers) // fails for sizes below 1 only
	return &Guesses{seen: seen}
}

// kinds are the three under which a wrong guess counts, with how many are free and how long the longest lock is.
func kinds(secret, network string) [3]struct {
	guesser
	free    int
	longest time.Duration
} {
	return [...]struct {
		guesser
		free    int
		longest time.Duration
	}{
		{guesser{secret, network}, FreeHere, longestLock},
		{guesser{network: network}, FreeNetwork, longestLock},
		{guesser{secret: secret}, FreeSecret, longestSecretLock},
	}
}

// Locked returns for how long no guess at a secret from a network is checked. Names of secrets are short and not empty.
func (g *Guesses) Locked(secret, network string, now time.Time) (wait time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, k := range kinds(secret, network) {
		if t, ok := g.seen.Peek(k.guesser); ok {
			wait = max(wait, t.until.Sub(now))
		}
	}
	return wait
}

// Wrong counts a wrong guess.
func (g *Guesses) Wrong(secret, network string, now time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, k := range kinds(secret, network) {
		t, ok := g.seen.Get(k.guesser)
		if ok && now.Sub(t.last) >= Forget {
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

// Right forgets the wrong guesses at a secret from a network: whoever knows it did not guess.
func (g *Guesses) Right(secret, network string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.seen.Remove(guesser{secret, network})
}

// RetryAfter returns how long a guesser is to wait as a field Retry-After has it: in seconds, rounded up.
func RetryAfter(wait time.Duration) string {
	return strconv.FormatInt(int64((wait+time.Second-1)/time.Second), 10)
}

// Network returns the network whose guesses are counted together: the address itself for IPv4, and the /64 for IPv6,
// because a host can choose the other 64 bits freely. Remote is an address with a port.
func Network(remote string) string {
	at, err := netip.ParseAddrPort(remote)
	if err != nil {
		return remote
	}
	addr := at.Addr().Unmap()
	if addr.Is4() {
		return addr.String()
	}
	network, _ := addr.Prefix(64) // fails for IPv4 only
	return network.String()
}
