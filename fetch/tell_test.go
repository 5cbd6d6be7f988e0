package fetch_test

import (
	"testing"

	"github.com/readthru/readthru/cache"
	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/internal/journal"
)

// TestWhyBeginsWithAFailureOfTheOrigin: that nothing was stored explains that the origin was asked, and not the answer.
func TestWhyBeginsWithAFailureOfTheOrigin(t *testing.T) {
	const nothing = "The cache had nothing for this URL, so the origin was asked."
	for _, tt := range []struct {
		outcome cache.Outcome
		want    string
	}{
		{cache.Outcome{Forward: "uri-miss", Status: 500}, "The origin answered 500. " + nothing},
		{cache.Outcome{Forward: "uri-miss", Status: 200}, nothing},
		{cache.Outcome{Forward: "uri-miss"}, nothing},
	} {
		var e journal.Entry
		fetch.TellOutcome(&e, tt.outcome)
		if e.Why != tt.want || e.OriginStatus != tt.outcome.Status {
			t.Errorf("%v: why %q, the origin's status %d, want %q", tt.outcome, e.Why, e.OriginStatus, tt.want)
		}
	}
}
