package fleet_test

import (
	"testing"

	"github.com/readthru/readthru/internal/eventually"
	"github.com/readthru/readthru/internal/fleet"
	"github.com/readthru/readthru/internal/fleet/fleettest"
)

// After a failover nodes use the server that takes writes now. What the old one had taken and the new one had not yet
// is told again by who read it.
func TestNodesFollowAFailover(t *testing.T) {
	t.Parallel()
	primary := fleettest.Start(t)
	standby := primary.Standby(t)
	url := fleettest.Hosts(primary, standby)
	a, b := join(t, url, "a"), join(t, url, "b")
	a.awaitState(fleet.Connected)
	b.awaitState(fleet.Connected)
	a.read("https://a.test/before", "# Before", 0)
	await(t, "https://a.test/before", "# Before", b)
	eventually.True(t, "the standby has the page", func() bool { return standby.Count("pages") == 1 })

	standby.Exec("ALTER SYSTEM SET primary_conninfo = ''")
	standby.Exec("SELECT pg_reload_conf()")
	eventually.True(t, "the standby follows no longer", func() bool {
		return standby.Number("SELECT count(*) FROM pg_stat_wal_receiver") == 0
	})
	a.read("https://a.test/lost", "# Lost", 0)
	await(t, "https://a.test/lost", "# Lost", b)
	primary.Kill()
	standby.Promote()

	b.read("https://a.test/after", "# After", 0)
	await(t, "https://a.test/after", "# After", a)

	c := join(t, url, "c")
	for path, text := range map[string]string{"before": "# Before", "lost": "# Lost", "after": "# After"} {
		await(t, "https://a.test/"+path, text, c)
	}
}
