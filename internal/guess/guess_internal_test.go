package guess

import (
	"strconv"
	"testing"
	"time"
)

func TestGuessersRememberedAreBounded(t *testing.T) {
	g := New()
	for n := range maxGuessers {
		g.Wrong("s"+strconv.Itoa(n), "n"+strconv.Itoa(n), time.Now())
	}
	if got := g.seen.Len(); got != maxGuessers {
		t.Errorf("%d guessers are remembered, want %d", got, maxGuessers)
	}
}

func TestGuessesOfANetworkAreCountedTogether(t *testing.T) {
	for _, tt := range []struct{ remote, want string }{
		{"192.0.2.1:5", "192.0.2.1"},
		{"[::ffff:192.0.2.1]:5", "192.0.2.1"},
		{"[2001:db8:0:1:2:3:4:5]:6", "2001:db8:0:1::/64"},
		{"pipe", "pipe"},
	} {
		if got := Network(tt.remote); got != tt.want {
			t.Errorf("Network(%q) = %q, want %q", tt.remote, got, tt.want)
		}
	}
}
