package server_test

import (
	"testing"
	"time"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/store"
)

func TestWhatWasLearntAboutHostsIsToldAndForgotten(t *testing.T) {
	eachClient(t, nil, func(t *testing.T, w *world, ops *api.Client) {
		t.Helper()
		ctx, now := t.Context(), time.Now()
		for _, f := range []struct {
			host, client string
			trait        store.Trait
			at           time.Time
		}{
			{"a.test", "127.0.0.1 curl", store.RejectsCA, now},
			{"a.test", "", store.Negotiates, now},
			{"b.test", "127.0.0.1 curl", store.RejectsCA, now},
			{"ended.test", "127.0.0.1 curl", store.RejectsCA, now.Add(-time.Hour)},
		} {
			if _, _, err := w.store.Learn(f.host, f.trait, f.client, "", f.at); err != nil {
				t.Fatal(err)
			}
		}
		expect := func(what string, list *api.HostFacts, err error, want int) {
			t.Helper()
			if err != nil || len(list.Facts) != want {
				t.Errorf("%s: %+v, %v, want %d", what, list, err, want)
			}
		}
		list, err := ops.HostFacts(ctx, api.HostQuery{})
		expect("all", list, err, 3)
		list, err = ops.HostFacts(ctx, api.HostQuery{Trait: "rejects-ca"})
		expect("rejections", list, err, 2)
		list, err = ops.Host(ctx, "A.test:443")
		expect("a.test", list, err, 2)
		st, err := ops.Stats(ctx)
		if err != nil || len(st.RejectedCA) != 2 || st.RejectedCA[0].Until.Before(now.Add(9*time.Minute)) {
			t.Errorf("stats: %+v, %v, want two rejections", st.RejectedCA, err)
		}
		if _, err := ops.HostFacts(ctx, api.HostQuery{Trait: "nonsense"}); api.CodeOf(err) != api.CodeInvalid {
			t.Errorf("a trait that is none: %v", err)
		}
		if gone, err := ops.ForgetHosts(ctx, store.RejectsCA); err != nil || gone.Removed != 2 {
			t.Errorf("forget rejections: %+v, %v, want 2", gone, err)
		}
		if gone, err := ops.ForgetHost(ctx, "a.test"); err != nil || gone.Removed != 1 {
			t.Errorf("forget a.test: %+v, %v, want 1", gone, err)
		}
		list, err = ops.HostFacts(ctx, api.HostQuery{})
		expect("in the end", list, err, 0)
	})
}
