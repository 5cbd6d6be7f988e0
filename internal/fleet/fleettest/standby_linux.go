package fleettest

import (
	"os"
	"path/filepath"
	"testing"
)

// Standby starts a server that follows s until the test ends, or until it is promoted.
func (s *Server) Standby(t *testing.T) *Server {
	t.Helper()
	dir, err := os.MkdirTemp("", "pg")
	if err != nil {
		t.Fatal(err)
	}
	standby := &Server{
		URL: "postgres:///postgres?user=postgres&host=" + dir, tb: t, fast: s.fast, dir: dir, bin: s.bin, as: s.as,
	}
	t.Cleanup(func() {
		standby.Kill()
		os.RemoveAll(dir) //nolint:errcheck // what is left is in the folder for temporary files
	})
	if s.as != nil {
		if err := os.Chown(dir, int(s.as.Uid), int(s.as.Gid)); err != nil {
			t.Fatal(err)
		}
	}
	copying := standby.command("pg_basebackup", "-h", s.dir, "-U", "postgres", "-D", filepath.Join(dir, "data"), "-R",
		"-c", "fast", "--no-sync")
	if out, err := copying.CombinedOutput(); err != nil {
		t.Fatalf("pg_basebackup: %v\n%s", err, out)
	}
	standby.Begin()
	return standby
}

// Promote makes a standby the primary.
func (s *Server) Promote() {
	s.tb.Helper()
	s.Exec("SELECT pg_promote()")
}

// Hosts returns the URL of the database on two servers, of which the one that takes writes is used.
func Hosts(a, b *Server) string {
	return "postgres:///postgres?user=postgres&host=" + a.dir + "," + b.dir
}
