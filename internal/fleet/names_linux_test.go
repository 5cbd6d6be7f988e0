package fleet_test

import (
	"testing"

	"github.com/readthru/readthru/internal/fleet"
	"github.com/readthru/readthru/internal/fleet/fleettest"
	"github.com/readthru/readthru/page"
)

// An address that one node reads as a page of its own, and another one as another name of a page, is a page on both.
func TestAPageOfAnotherNameIsTakenOver(t *testing.T) {
	t.Parallel()
	url := fleettest.Start(t).URL
	a, b := join(t, url, "a"), join(t, url, "b")
	a.awaitState(fleet.Connected)
	b.awaitState(fleet.Connected)
	b.read("https://a.test/to", "# To", 0)
	await(t, "https://a.test/to", "# To", a)
	if err := b.store.NamePage(page.KeyOf("https://a.test/moved"), page.KeyOf("https://a.test/to")); err != nil {
		t.Fatal(err)
	}
	a.read("https://a.test/moved", "# Moved", 0)
	await(t, "https://a.test/moved", "# Moved", b)
	if n := b.store.Totals().Pages; n != 2 {
		t.Errorf("%d pages, want 2", n)
	}
}
