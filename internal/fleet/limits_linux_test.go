package fleet_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/readthru/readthru/internal/fleet"
	"github.com/readthru/readthru/internal/fleet/fleettest"
)

func TestADaysRequestsAreThoseOfAllNodes(t *testing.T) {
	t.Parallel()
	server := fleettest.Start(t)
	all := nodes(t, server.URL, "a", "b", "c")
	const limit = 20
	var sent, refused atomic.Int64
	var group sync.WaitGroup
	for _, n := range all {
		for range 20 {
			group.Go(func() {
				for {
					switch ok, err := n.Spend(t.Context(), "markdown.new", "2026-01-02", limit); {
					case err != nil: // a busy machine is late without being wrong
						continue
					case ok:
						sent.Add(1)
					default:
						refused.Add(1)
					}
					return
				}
			})
		}
	}
	group.Wait()
	// What the database took too late for the node that asked is lost: never more are sent.
	if sent.Load() > limit || sent.Load()+refused.Load() != 60 || sent.Load() == 0 {
		t.Errorf("%d requests were allowed and %d refused of 60, want at most %d", sent.Load(), refused.Load(), limit)
	}
	if ok, err := all[0].Spend(t.Context(), "markdown.new", "2026-01-03", limit); !ok || err != nil {
		t.Errorf("the next day: %v, %v", ok, err)
	}
	if ok, err := all[0].Spend(t.Context(), "another", "2026-01-02", 0); ok || err != nil {
		t.Errorf("with a limit of 0: %v, %v", ok, err)
	}
	server.Kill()
	all[0].awaitState(fleet.Disconnected)
	if _, err := all[0].Spend(t.Context(), "markdown.new", "2026-01-03", limit); err == nil {
		t.Error("without the database a node knows how many requests others have made")
	}
}

func TestCrawlsOfAllNodesTakeTurnsAtAHost(t *testing.T) {
	t.Parallel()
	server := fleettest.Start(t)
	all := nodes(t, server.URL, "a", "b")
	const apart = 10 * time.Second // longer than the test takes
	turn := func(i int, host string) (wait time.Duration, late int) {
		t.Helper()
		for ; ; late++ { // a busy machine is late without being wrong
			wait, err := all[i%2].Turn(t.Context(), host, apart)
			if err == nil {
				return wait, late
			}
		}
	}
	began := time.Now()
	for i := range 6 {
		// What the database took too late makes the next wait longer.
		wait, _ := turn(i, "a.test")
		if least := time.Duration(i)*apart - time.Since(began); wait < least {
			t.Errorf("turn %d is in %v, want at least %v", i, wait, least)
		}
	}
	if wait, late := turn(0, "b.test"); wait > time.Duration(late)*apart {
		t.Errorf("the first turn at another host is in %v", wait)
	}
	server.Kill()
	all[1].awaitState(fleet.Disconnected)
	if wait, err := all[1].Turn(t.Context(), "a.test", apart); err == nil {
		t.Errorf("without the database a node waits %v for others", wait)
	}
}
