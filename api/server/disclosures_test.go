package server_test

import (
	"testing"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/api/server"
	"github.com/readthru/readthru/store"
)

func TestAModelOnThisMachineIsNotAmongWhatHasLeft(t *testing.T) {
	w := newWorld(t, func(o *server.Options) {
		o.Services = func() map[string]bool { return map[string]bool{"here": true, "away": false} }
	})
	for _, service := range []string{"here", "here", "away"} {
		if err := w.store.Disclose(store.Disclosure{Service: service, URL: "https://a.test/", Bytes: 90}); err != nil {
			t.Fatal(err)
		}
	}
	l, err := w.client.Leaving(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for what, sums := range map[string][]api.Disclosed{"day": l.Days, "host": l.Hosts} {
		if len(sums) != 1 || sums[0].Service != "away" || sums[0].Sent != 1 {
			t.Errorf("by %s: %+v, want what was sent to the service elsewhere", what, sums)
		}
	}
	if len(l.Services) != 2 || !l.Services[0].Here || l.Services[0].Sent != 2 {
		t.Errorf("services %+v, want both", l.Services)
	}
}
