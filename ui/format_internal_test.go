package ui

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/readthru/readthru/api"
)

func TestWordsAreSaidOnce(t *testing.T) {
	const text = "Quinces keep best between 2 and 4 degrees, and no longer than a winter."
	for subject, want := range map[string]bool{text: true, text[:64]: true, "Quinces": false, "degrees": false} {
		if got := titles(subject, text); got != want {
			t.Errorf("titles(%q) = %v, want %v", subject, got, want)
		}
	}
	at := time.Date(2026, 11, 28, 16, 33, 29, 0, time.UTC)
	want := at.Local().Format("2006-01-02 15:04:05")
	if got := untilText(`client-rejected-ca; until="2026-11-28T16:33:29Z"`); got != want || untilText("preset") != "" {
		t.Errorf("untilText = %q, %q, want %q and nothing", got, untilText("preset"), want)
	}
	rules := []any{map[string]any{"ttl": "1h", "host": "a.test"}, map[string]any{"host": "b.test"}}
	if got := valueText(rules); got != "[host:a.test ttl:1h], [host:b.test]" {
		t.Errorf("valueText = %q", got)
	}
}

func TestAChartAddsUpToItsLegend(t *testing.T) {
	now := time.Date(2026, 11, 28, 16, 30, 0, 0, time.UTC)
	series := &api.Series{}
	if err := json.Unmarshal([]byte(`{"points":[{"time":"2026-11-28T16:29:00Z","html_tokens":100,"markdown_tokens":40},`+
		`{"time":"2026-11-28T16:30:00Z","html_tokens":10,"markdown_tokens":30}],`+
		`"sum":{"html_tokens":110,"markdown_tokens":70}}`), series); err != nil {
		t.Fatal(err)
	}
	c := chartsOf(spans[0], series, now)
	if got := c.Charts[1]; got.Total != "110" || got.Kinds[0].Sum != "40" || got.Kinds[1].Sum != "70" {
		t.Errorf("tokens %s, of these %+v", got.Total, got.Kinds)
	}
}

func TestColumnsHaveOneUnit(t *testing.T) {
	for micros, want := range map[int64]string{
		0: "0.00", 133: "0.13", 999: "1.00", 2_749: "2.7", 49_400: "49", 1_300_499: "1\u202f300",
	} {
		if got := millisText(micros); got != want {
			t.Errorf("%d µs: %s, want %s", micros, got, want)
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
