package server_test

import (
	"testing"

	"github.com/readthru/readthru/api"
)

func TestWhoLooksAfterPagesIsNoReader(t *testing.T) {
	w := newWorld(t, nil)
	visits := func(want int) {
		t.Helper()
		list, err := w.client.Visits(t.Context(), api.VisitQuery{URL: pageURL})
		if err != nil || len(list.Visits) != want {
			t.Errorf("%d visits (%v), want %d", len(list.Visits), err, want)
		}
	}
	if _, err := w.client.Fetch(t.Context(), api.FetchRequest{URL: pageURL}); err != nil {
		t.Fatal(err)
	}
	visits(1)
	for _, force := range []bool{true, false} {
		p, err := w.client.By(api.DoorDashboard).Fetch(t.Context(), api.FetchRequest{URL: pageURL, Force: force})
		if err != nil || p.Content == "" || p.VisitCount != 1 {
			t.Errorf("the dashboard gets %+v, %v", p, err)
		}
	}
	visits(1)
	if st, err := w.client.Stats(t.Context()); err != nil || st.Pages.Visits != 1 || w.asked.Load() != 2 {
		t.Errorf("%+v, %v; the origin was asked %d times, want 2", st.Pages, err, w.asked.Load())
	}
}
