package fleettest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/readthru/readthru/internal/eventually"
	"github.com/readthru/readthru/internal/needs"
	"github.com/readthru/readthru/internal/wholefile"
)

// Pooler runs PgBouncer before the server until the test ends, with lines of its configuration, and returns the URL of
// the database behind it.
func (s *Server) Pooler(t *testing.T, lines ...string) (url string) {
	t.Helper()
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		needs.Missing(t, "PgBouncer is not installed: .ci/clients installs it")
	}
	dir, err := os.MkdirTemp("", "pool")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "pgbouncer.ini")
	text := fmt.Sprintf(`[databases]
postgres = host=%s user=postgres
[pgbouncer]
listen_addr =
unix_socket_dir = %s
listen_port = 6432
auth_type = any
%s
`, s.dir, dir, strings.Join(lines, "\n"))
	if err := wholefile.Write(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "-q", file) //nolint:noctx // it is ended below
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Credential: s.as}
	if s.as != nil { // it refuses to run as root
		if err := os.Chown(dir, int(s.as.Uid), int(s.as.Gid)); err != nil {
			t.Fatal(err)
		}
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()        // it was killed
		_ = os.RemoveAll(dir) // what is left is in the folder for temporary files
	})
	eventually.True(t, "the pooler listens", func() bool {
		_, err := os.Stat(filepath.Join(dir, ".s.PGSQL.6432"))
		return err == nil
	})
	return "postgres:///postgres?user=postgres&port=6432&host=" + dir
}
