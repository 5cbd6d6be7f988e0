package server_test

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/api/server"
	"github.com/readthru/readthru/api/server/figures"
	"github.com/readthru/readthru/internal/journal"
)

func TestSeriesCountWhatTheProxyAndThePagesDid(t *testing.T) {
	told := journal.New(journal.Options{})
	w := newWorld(t, func(o *server.Options) { o.Journal = told })
	first := &journal.Entry{
		Method: "GET", Outcome: "miss", BytesIn: 900, BytesOut: 300, Visit: true, Tokens: 5, HTMLTokens: 90,
	}
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
		if got.MarkdownTokens != 5 || got.HTMLTokens != 90 || len(s.Agents) != 1 || s.Agents[0].TokensSaved != 85 {
			t.Errorf("tokens in %+v, by %+v", got, s.Agents)
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

func TestMetricsCountEachRequestOnce(t *testing.T) {
	told := journal.New(journal.Options{})
	times := figures.NewWorkTimes()
	times.Observe("convert", 3*time.Millisecond)
	w := newWorld(t, func(o *server.Options) { o.Journal, o.WorkTimes = told, times })
	told.Add(&journal.Entry{Method: "CONNECT", Outcome: journal.Tunnelled, Tunnel: "preset;category=bank"})
	told.Add(&journal.Entry{Method: "CONNECT", Outcome: journal.Tunnelled, Tunnel: "preset"})
	told.Add(&journal.Entry{Method: "GET", Outcome: "miss", BytesIn: 900, BytesOut: 300, Micros: 3000})
	hit := &journal.Entry{Method: "GET", Outcome: "hit", BytesIn: 900, BytesOut: 300, SavedMS: 70, Micros: 40_000_000}
	told.Add(hit)
	told.Again(hit, time.Now(), 3*time.Millisecond, false)
	b, err := io.ReadAll(ask(t, w.listen(t), "GET", "/metrics", "").Body)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`readthru_build_info{version="test"} 1`,
		`readthru_request_duration_seconds_bucket{outcome="hit",le="0.002"} 0`,
		`readthru_request_duration_seconds_bucket{outcome="hit",le="0.005"} 1`,
		`readthru_request_duration_seconds_bucket{outcome="hit",le="30"} 1`,
		`readthru_request_duration_seconds_bucket{outcome="hit",le="+Inf"} 2`,
		`readthru_request_duration_seconds_count{outcome="miss"} 1`,
		`readthru_request_duration_seconds_count{outcome="tunnel"} 2`,
		`readthru_request_duration_seconds_count{outcome="stale"} 0`,
		`readthru_tunnels_total{reason="preset"} 2`,
		`readthru_work_duration_seconds_bucket{part="convert",le="0.0025"} 0`,
		`readthru_work_duration_seconds_bucket{part="convert",le="0.005"} 1`,
		`readthru_work_duration_seconds_count{part="render"} 0`,
		`readthru_content_bytes_total{direction="in"} 900`,
		`readthru_content_bytes_total{direction="saved"} 1800`,
		`readthru_origin_seconds_saved_total 0.14`,
		`readthru_store_writable 1`,
		`readthru_switch{switch="paused"} 0`,
	} {
		if !strings.Contains(string(b), want+"\n") {
			t.Errorf("metrics lack %s", want)
		}
	}
}
