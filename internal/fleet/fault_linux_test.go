package fleet_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/readthru/readthru/internal/eventually"
	"github.com/readthru/readthru/internal/fault/faulttest"
	"github.com/readthru/readthru/internal/fleet"
	"github.com/readthru/readthru/internal/fleet/fleettest"
)

// What a node does in a fleet panics at its first beginning. Pages, stored responses and renditions arrive all the
// same; a page whose reading panicked is set aside by that node until it changes.
func TestAFleetSurvivesAPanicInItsWork(t *testing.T) { // alone: it injects panics
	server, bucket := fleettest.Start(t), fleettest.StartBucket(t)
	injected := faulttest.Once(t, "fleet: tell", "fleet: keep content", "fleet: take part", "fleet: put content",
		"fleet: read content")
	all := shared(t, server, bucket, "a", "b")
	a, b := all[0], all[1]
	uri := func(n int) string { return fmt.Sprintf("https://a.test/%d", n) }
	for n := range 4 {
		a.read(uri(n), large(uri(n)), n)
	}
	aside := -1
	eventually.True(t, "b has all pages but the one it set aside", func() bool {
		has := 0
		for n := range 4 {
			if b.has(uri(n)) == large(uri(n)) {
				has++
			} else {
				aside = n
			}
		}
		st := b.Status()
		return has == 3 && len(st.Aside) == 1 && st.Aside[0].Kind == "page"
	})
	a.read(uri(aside), large("changed"), 9)
	await(t, uri(aside), large("changed"), b)

	injected.Add("fleet: ask", "fleet: tell of a rendition")
	a.keep("https://a.test/response", large("Response"), 1)
	b.gets("https://a.test/response", large("Response"))
	a.tell(rendition("browser/1", "# First"))
	injected.Await()
	a.tell(rendition("browser/1", "# Second"))
	b.getsRendition("browser/1", "# Second")

	injected.Add("fleet: tell of lost content")
	for _, file := range bucket.Objects() {
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
	c := shared(t, server, bucket, "c")[0]
	c.gets("https://a.test/response", large("Response")) // after it was missed, and put again
	injected.Await()
	if got := c.Status(); got.State != fleet.Connected {
		t.Errorf("%+v", got)
	}
}
