package fleet_test

import (
	"strings"
	"testing"

	"github.com/readthru/readthru/internal/fleet"
	"github.com/readthru/readthru/internal/fleet/fleettest"
)

const ignored = "ignore_startup_parameters = extra_float_digits,search_path,statement_timeout,readthru.direct"

// Nodes share pages through a pooler that gives each transaction another connection: no node counts on what it left on
// one, and none finds the other's statements there.
func TestNodesShareThroughAPooler(t *testing.T) {
	t.Parallel()
	s := fleettest.Start(t)
	s.Exec("ALTER ROLE postgres SET search_path = readthru")
	for _, mode := range []string{"transaction", "session"} {
		url := s.Pooler(t, "pool_mode = "+mode, ignored, "default_pool_size = 3")
		a, b := join(t, url, mode+"-a"), join(t, url, mode+"-b")
		a.awaitState(fleet.Connected)
		b.awaitState(fleet.Connected)
		for _, path := range []string{"/1", "/2", "/3", "/4", "/5", "/6"} {
			from, to := a, b
			if path > "/3" {
				from, to = b, a
			}
			from.read("https://a.test/"+mode+path, "# Page "+path, 0)
			await(t, "https://a.test/"+mode+path, "# Page "+path, to)
		}
		for _, n := range []*node{a, b} {
			if st := n.Status(); st.State != fleet.Connected || st.Reason != "" {
				t.Errorf("%s: %+v, want a node that was never away", mode, st)
			}
			n.stop()
		}
	}
}

// A pooler that is set up otherwise is not used, and the node says what to set.
func TestAPoolerThatCannotBeUsedSaysWhy(t *testing.T) {
	t.Parallel()
	s := fleettest.Start(t)
	for _, c := range []struct {
		name           string
		lines          []string
		named          bool // the database says in which schema the tables are
		reason, remedy string
	}{
		{"as it comes", nil, false, "startup parameter", "ignore_startup_parameters = extra_float_digits,search_path"},
		{
			"without the schema",
			[]string{"pool_mode = transaction", ignored},
			false,
			"in which schema", "ALTER ROLE … SET search_path = readthru",
		},
		{
			"statements",
			[]string{"pool_mode = statement", ignored},
			true,
			"gives each statement another connection", "pool_mode = transaction",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.named {
				s.Exec("ALTER ROLE postgres SET search_path = readthru")
			}
			n := join(t, s.Pooler(t, c.lines...), "a")
			n.awaitState(fleet.Disconnected)
			if st := n.Status(); !strings.Contains(st.Reason, c.reason) || !strings.Contains(st.Remedy, c.remedy) {
				t.Errorf("reason %q, remedy %q; want %q and %q", st.Reason, st.Remedy, c.reason, c.remedy)
			}
		})
	}
}
