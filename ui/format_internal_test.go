package ui

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/internal/journal"
)

func TestColumnsHaveOneUnit(t *testing.T) {
	for micros, want := range map[int64]string{
		0: "0.00", 133: "0.13", 999: "1.00", 2_749: "2.7", 49_400: "49", 1_300_499: "1\u202f300",
	} {
		if got := millisText(micros); got != want {
			t.Errorf("%d µs: %s, want %s", micros, got, want)
		}
	}
}

func TestReasonsThatOutcomesImplyAreNotSaid(t *testing.T) {
	for want, list := range map[bool][]journal.Entry{
		false: {{Outcome: "hit", Section: "RFC 9111 §4.2"}, {Outcome: "miss", Section: "RFC 9111 §4"}},
		true: {
			{Outcome: "hit", Section: "RFC 9111 §4.2.4"},
			{Outcome: "miss", Section: "RFC 9111 §4.1"},
			{Outcome: "refused"},
			{Outcome: "bypass", Section: "RFC 9111 §4"},
		},
	} {
		for _, e := range list {
			if unusual(e) != want {
				t.Errorf("%s by %s is unusual: %v", e.Outcome, e.Section, !want)
			}
		}
	}
}

func TestChartsBeginWithWhatWasCountedFirst(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 30, 0, time.UTC)
	for name, tt := range map[string]struct {
		ages []int // minutes
		bars int
	}{
		"nothing": {nil, 60}, "just now": {[]int{0}, 12}, "a while": {[]int{3, 30}, 31}, "always": {[]int{0, 59}, 60},
	} {
		s := &api.Series{}
		var points []string
		for _, age := range tt.ages {
			at := now.Truncate(time.Minute).Add(-time.Duration(age) * time.Minute)
			points = append(points, fmt.Sprintf(`{"time":%q,"hit":2}`, at.Format(time.RFC3339)))
		}
		if err := json.Unmarshal([]byte(`{"points":[`+strings.Join(points, ",")+`]}`), s); err != nil {
			t.Fatal(err)
		}
		c := chartsOf(spans[0], s, now)
		from := now.Add(-time.Duration(tt.bars-1) * time.Minute).Local().Format("15:04")
		if bars := c.Charts[0].Bars; len(bars) != tt.bars || c.From != from || len(c.Points) != len(tt.ages) {
			t.Errorf("%s: %d bars from %s, want %d from %s", name, len(bars), c.From, tt.bars, from)
		} else if last := bars[len(bars)-1]; last.X+last.W > 1000 || last.X < 900 {
			t.Errorf("%s: the last bar is at %d", name, last.X)
		}
	}
}

func TestWordsAgreeWithNumbers(t *testing.T) {
	for n, want := range map[int64]string{0: "0 pages", 1: "1 page", 2: "2 pages", 12345: "12\u202f345 pages"} {
		if got := someText(n, "page"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
