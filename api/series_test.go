package api_test

import (
	"testing"
	"time"

	"readthru/api"
	"readthru/journal"
)

func TestSeriesCountWhatTheProxyAndThePagesDid(t *testing.T) {
	told := journal.New()
	w := newWorld(t, func(o *api.Options) { o.Journal = told })
	first := &journal.Entry{Method: "GET", Outcome: "miss", BytesIn: 900, BytesOut: 300}
	told.Add(first)
	hit := &journal.Entry{Method: "GET", Outcome: "hit", BytesIn: 900, BytesOut: 300, SavedMS: 70}
	told.Add(hit)
	told.Again(hit, time.Now(), time.Microsecond, false)
	told.Again(hit, time.Now(), time.Microsecond, true)
	told.Add(&journal.Entry{Method: "CONNECT", Outcome: journal.Tunnelled, BytesIn: 5, BytesOut: 80})
	if _, err := w.client.Fetch(t.Context(), api.FetchRequest{URL: pageURL}); err != nil {
		t.Fatal(err)
	}
	for range 2 { // what was counted is not counted again
		s, err := w.client.Series(t.Context(), api.SeriesQuery{})
		if err != nil {
			t.Fatal(err)
		}
		got := s.Sum
		if got.MarkdownTokens == 0 || got.HTMLTokens == 0 {
			t.Errorf("no tokens in %+v", got)
		}
		if got.Requests() != 5 || got.Hit != 3 || got.Miss != 1 || got.Tunnel != 1 || got.Visits != 1 || got.SavedMS != 210 ||
			got.BytesIn != 980 || got.BytesOut != 980 || got.BytesSaved != 2700 || s.Step != "hour" {
			t.Errorf("series: %+v", s)
		}
	}
	for since, step := range map[time.Duration]string{
		time.Hour: "minute", 24 * time.Hour: "hour", 7 * 24 * time.Hour: "day",
	} {
		s, err := w.client.Series(t.Context(), api.SeriesQuery{Since: time.Now().Add(-since)})
		if err != nil || s.Step != step || s.Sum.Hit != 3 {
			t.Errorf("since %v: %v, %+v", since, err, s)
		}
	}
	if _, err := w.client.Series(t.Context(), api.SeriesQuery{Step: "week"}); api.CodeOf(err) != api.CodeInvalid {
		t.Errorf("a week: %v", err)
	}
}
