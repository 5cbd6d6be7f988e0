package fleet_test

import (
	"strings"
	"testing"
	"time"

	"github.com/readthru/readthru/internal/eventually"
	"github.com/readthru/readthru/internal/fleet"
	"github.com/readthru/readthru/internal/fleet/fleettest"
)

// What keeps a node from a database that asks for TLS and a password is told with what to do, and without the password.
func TestADatabaseBehindTLSIsUsedOrSaysWhyNot(t *testing.T) {
	t.Parallel()
	s := fleettest.Start(t).Secure(t, time.Now().Add(time.Hour))
	gone := fleettest.Start(t).Secure(t, time.Now().Add(-time.Minute))
	full := "sslmode=verify-full&sslrootcert=" + s.CA
	for _, c := range []struct{ name, url, reason, remedy string }{
		{"the authority is named", s.At(s.Host, "secret", full), "", ""},
		{"the authority is not named", s.At(s.Host, "secret", "sslmode=verify-full"), "is not trusted", "sslrootcert"},
		{
			"it is another authority", s.At(s.Host, "secret", "sslmode=verify-full&sslrootcert="+gone.CA), "is not trusted",
			"sslrootcert",
		},
		{
			"its file is missing", s.At(s.Host, "secret", "sslmode=verify-full&sslrootcert=/no/such.pem"), "/no/such.pem",
			"sslrootcert",
		},
		{
			"its file has no certificate", s.At(s.Host, "secret", "sslmode=verify-full&sslrootcert=/etc/passwd"),
			"sslrootcert", "correct fleet.database",
		},
		{"the certificate names another host", s.At(s.Other, "secret", full), s.Other, "the host that the certificate names"},
		{
			"the certificate is out of date", gone.At(gone.Host, "secret", "sslmode=verify-full&sslrootcert="+gone.CA),
			"has expired", "renew",
		},
		{
			"the password is wrong", s.At(s.Host, "hidden-one", full), "password authentication failed",
			"correct user and password",
		},
		{"without TLS", s.At(s.Host, "secret", "sslmode=disable"), "no encryption", "sslmode=verify-full"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			n := join(t, c.url, strings.ReplaceAll(c.name, " ", "-"))
			if c.reason == "" {
				n.awaitState(fleet.Connected)
				return
			}
			n.awaitState(fleet.Disconnected)
			st := n.Status()
			if !strings.Contains(st.Reason, c.reason) || !strings.Contains(st.Remedy, c.remedy) {
				t.Errorf("reason %q, remedy %q; want %q and %q", st.Reason, st.Remedy, c.reason, c.remedy)
			}
			if strings.Contains(st.Reason+st.Remedy, "hidden-one") {
				t.Errorf("%q, %q have the password", st.Reason, st.Remedy)
			}
		})
	}
}

// A node whose password was changed, or that finds no free connection, works alone and says why, and is back by itself.
func TestANodeIsBackWhenItIsLetIn(t *testing.T) {
	t.Parallel()
	s := fleettest.Start(t).Secure(t, time.Now().Add(time.Hour))
	n := join(t, s.At(s.Host, "secret", "sslmode=verify-full&sslrootcert="+s.CA), "a")
	n.awaitState(fleet.Connected)
	for _, c := range []struct{ name, lock, unlock, reason, remedy string }{
		{
			"another password", "ALTER ROLE node PASSWORD 'another'", "ALTER ROLE node PASSWORD 'secret'",
			"password authentication failed", "correct user and password",
		},
		{
			"no connection is free", "ALTER ROLE node CONNECTION LIMIT 0", "ALTER ROLE node CONNECTION LIMIT -1",
			"too many connections", "max_connections",
		},
	} {
		s.Exec(c.lock)
		s.Exec("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'node'")
		eventually.True(t, c.name+": the node says so", func() bool { // first it says that its connection was ended
			st := n.Status()
			return strings.Contains(st.Reason, c.reason) && strings.Contains(st.Remedy, c.remedy)
		})
		n.read("https://a.test/"+c.name[:2], "# Read alone", 1)
		s.Exec(c.unlock)
		n.awaitState(fleet.Connected)
	}
	b := join(t, s.At(s.Host, "secret", "sslmode=verify-full&sslrootcert="+s.CA), "b")
	await(t, "https://a.test/an", "# Read alone", b)
	await(t, "https://a.test/no", "# Read alone", b)
}
