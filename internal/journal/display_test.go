package journal_test

import (
	"testing"

	"github.com/readthru/readthru/internal/journal"
)

func TestReasonsThatOutcomesImplyAreNotSaid(t *testing.T) {
	for want, list := range map[bool][]journal.Entry{
		false: {{Outcome: "hit", Section: "RFC 9111 §4.2"}, {Outcome: "miss", Section: "RFC 9111 §4"}},
		true: {
			{Outcome: "hit", Section: "RFC 9111 §4.2.4"},
			{Outcome: "miss", Section: "RFC 9111 §4.1"},
			{Outcome: "miss", Section: "RFC 9111 §4", Status: 404},
			{Outcome: "refused"},
			{Outcome: "bypass", Section: "RFC 9111 §4"},
		},
	} {
		for _, e := range list {
			if e.Unusual() != want {
				t.Errorf("%s by %s is unusual: %v", e.Outcome, e.Section, !want)
			}
		}
	}
}
