package fetch_test

import (
	"testing"

	"github.com/readthru/readthru/cache"
	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/internal/journal"
)

// TestWhyBeginsWithAFailureOfTheOrigin: that nothing was stored explains that the origin was asked, and not the answer.
func TestWhyBeginsWithAFailureOfTheOrigin(t *testing.T) {
	for _, tt := range []struct {
		outcome cache.Outcome
		want    string
	}{
		{cache.Outcome{Forward: "uri-miss", Status: 500}, "The origin answered 500. Nothing was stored for this URL."},
		{cache.Outcome{Forward: "uri-miss", Status: 200}, "Nothing was stored for this URL."},
		{cache.Outcome{Forward: "uri-miss"}, "Nothing was stored for this URL."},
	} {
		var e journal.Entry
		fetch.TellOutcome(&e, tt.outcome)
		if e.Why != tt.want || e.OriginStatus != tt.outcome.Status {
			t.Errorf("%v: why %q, the origin's status %d, want %q", tt.outcome, e.Why, e.OriginStatus, tt.want)
		}
	}
}
