// Package fleettest runs a PostgreSQL server for tests.
package fleettest

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	_ "github.com/lib/pq" // the driver

	"github.com/readthru/readthru/internal/eventually"
	"github.com/readthru/readthru/internal/needs"
)

// Server is a PostgreSQL server with a data directory of its own, that listens on a socket there.
type Server struct {
	// URL is that of its database postgres, for its superuser.
	URL string

	tb   TB
	fast bool // it is no measurement
	dir  string
	bin  string
	as   *syscall.Credential // nil: as this process
	cmd  *exec.Cmd
	gone chan struct{}
}

// TB is what a server needs of whoever runs it: a test, or a measurement. Fatal and Fatalf do not return.
type TB interface {
	Helper()
	Context() context.Context
	Cleanup(f func())
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// errMissing is why there is no server.
var errMissing = errors.New("PostgreSQL is not installed, with a user postgres: .ci/clients installs it")

// Start runs a server until the test ends. Short tests have none.
func Start(tb testing.TB) *Server {
	tb.Helper()
	if testing.Short() {
		tb.Skip("short: no database server is started")
	}
	if programs() == "" {
		needs.Missing(tb, "%v", errMissing)
	}
	_, isTest := tb.(*testing.T)
	return run(tb, isTest)
}

// programs returns the folder of the newest PostgreSQL's programs; empty if there is none, or no user that root can
// start them as.
func programs() string {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb") // the pattern is valid
	if len(found) == 0 {
		return ""
	}
	if _, err := user.Lookup("postgres"); err != nil && os.Geteuid() == 0 {
		return ""
	}
	return filepath.Dir(slices.Max(found))
}

// Run runs a server until tb's cleanups.
func Run(tb TB) *Server {
	tb.Helper()
	return run(tb, false)
}

func run(tb TB, fast bool) *Server {
	tb.Helper()
	bin := programs()
	if bin == "" {
		tb.Fatal(errMissing)
	}
	dir, err := os.MkdirTemp("", "pg")
	if err != nil {
		tb.Fatal(err)
	}
	s := &Server{
		URL: "postgres:///postgres?user=postgres&host=" + dir, tb: tb, fast: fast, dir: dir, bin: bin,
	}
	tb.Cleanup(func() {
		s.Kill()
		os.RemoveAll(dir) //nolint:errcheck // what is left is in the folder for temporary files
	})
	if os.Geteuid() == 0 { // it refuses to run as root
		s.as = postgresUser(tb)
		if err := os.Chown(dir, int(s.as.Uid), int(s.as.Gid)); err != nil {
			tb.Fatal(err)
		}
	}
	s.run("cp", "-a", s.empty(), filepath.Join(dir, "data"))
	s.Begin()
	return s
}

// empty returns the data directory of a server that was never started, which is made once and kept in the user's cache:
// that takes longer than most tests.
func (s *Server) empty() string {
	s.tb.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		s.tb.Fatal(err)
	}
	sum := sha256.Sum256([]byte(fmt.Sprint(s.bin, s.as, initial, alone)))
	kept := filepath.Join(cache, "readthru", fmt.Sprintf("postgresql-%x", sum[:8]))
	if _, err := os.Stat(kept); err == nil {
		return kept
	}
	made := filepath.Join(s.dir, "empty")
	if out, err := s.command("initdb", append(initial, "-D", made)...).CombinedOutput(); err != nil {
		s.tb.Fatalf("initdb: %v\n%s", err, out)
	}
	drop := s.command("postgres", "--single", "-D", made, "-c", "fsync=off", "-c", "log_min_messages=error", "postgres")
	drop.Stdin = strings.NewReader(alone)
	if out, err := drop.CombinedOutput(); err != nil || strings.Contains(string(out), "ERROR") {
		s.tb.Fatalf("drop the templates: %v\n%s", err, out)
	}
	// It gets its name at once and whole; another process may have done the same meanwhile.
	if err := os.MkdirAll(filepath.Dir(kept), 0o700); err != nil {
		s.tb.Fatal(err)
	}
	part, err := os.MkdirTemp(filepath.Dir(kept), "postgresql-")
	if err != nil {
		s.tb.Fatal(err)
	}
	defer os.RemoveAll(part) //nolint:errcheck // it is empty, or what another process has made, too
	s.run("cp", "-a", made, filepath.Join(part, "data"))
	if err := os.Rename(filepath.Join(part, "data"), kept); err != nil {
		if _, err2 := os.Stat(kept); err2 != nil {
			s.tb.Fatal(err)
		}
	}
	return kept
}

// initial is how the data directory of a server is made.
var initial = []string{"-U", "postgres", "-A", "trust", "--no-sync", "--locale=C", "-E", "UTF8", "--wal-segsize=1"}

// alone leaves a server its database postgres alone: to copy, and to remove, the 300 files of each other one takes a
// file system longer than the server takes to start. That database is the template of others.
const alone = `UPDATE pg_database SET datistemplate = (datname = 'postgres')
DROP DATABASE template0
DROP DATABASE template1
`

// hasty are settings of the servers of tests: what they have written outlasts them, but not the machine. Memory that
// their processes share is in the data directory, and not where a killed server leaves it for good.
var hasty = []string{
	"fsync=off", "full_page_writes=off", "autovacuum=off", "shared_buffers=16MB", "dynamic_shared_memory_type=mmap",
}

func postgresUser(tb TB) *syscall.Credential {
	tb.Helper()
	u, err := user.Lookup("postgres")
	if err != nil {
		tb.Fatal(err)
	}
	uid, err1 := strconv.ParseUint(u.Uid, 10, 32)
	gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
	if err1 != nil || err2 != nil {
		tb.Fatalf("user postgres: %s, %s", u.Uid, u.Gid)
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}

func (s *Server) command(name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(context.Background(), filepath.Join(s.bin, name), args...)
	cmd.Dir = s.dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.as, Setpgid: true, Pdeathsig: syscall.SIGKILL}
	return cmd
}

// Begin starts the server again, after Kill or End.
func (s *Server) Begin(settings ...string) {
	s.tb.Helper()
	args := []string{
		"-D", filepath.Join(s.dir, "data"), "-c", "listen_addresses=", "-c", "unix_socket_directories=" + s.dir,
	}
	if s.fast {
		settings = append(slices.Clone(hasty), settings...)
	}
	for _, each := range settings {
		args = append(args, "-c", each)
	}
	log, err := os.Create(filepath.Join(s.dir, "log"))
	if err != nil {
		s.tb.Fatal(err)
	}
	defer log.Close() //nolint:errcheck // the server has its own
	s.cmd, s.gone = s.command("postgres", args...), make(chan struct{})
	s.cmd.Stdout, s.cmd.Stderr = log, log
	if err := s.cmd.Start(); err != nil {
		s.tb.Fatal(err)
	}
	go func(cmd *exec.Cmd, gone chan struct{}) {
		_ = cmd.Wait() // it is killed
		close(gone)
	}(s.cmd, s.gone)
	db := s.Open()
	defer db.Close() //nolint:errcheck // nothing is under way
	if err := eventually.Holds(s.tb.Context(), func() bool { return db.PingContext(s.tb.Context()) == nil }); err != nil {
		text, _ := os.ReadFile(filepath.Join(s.dir, "log"))
		s.tb.Fatalf("PostgreSQL does not answer: %v\n%s", err, text)
	}
}

// Kill ends the server at once, without writing down what it has in memory.
func (s *Server) Kill() { s.signal(syscall.SIGQUIT) }

func (s *Server) signal(sig syscall.Signal) {
	if s.cmd == nil || s.cmd.Process == nil {
		return
	}
	_ = s.cmd.Process.Signal(sig) // it may have ended
	select {
	case <-s.gone:
	case <-time.After(time.Minute):
		_ = s.cmd.Process.Kill() // the same
		<-s.gone
	}
}

// Stall has the server and all its processes stand still, until Resume.
func (s *Server) Stall() { s.each(syscall.SIGSTOP) }

// Resume ends Stall.
func (s *Server) Resume() { s.each(syscall.SIGCONT) }

func (s *Server) each(sig syscall.Signal) {
	s.tb.Helper()
	for _, pid := range s.processes() {
		if err := syscall.Kill(pid, sig); err != nil && !errors.Is(err, syscall.ESRCH) {
			s.tb.Fatal(err)
		}
	}
}

// processes returns the server's processes, which have groups of their own, and the first of them as their parent.
func (s *Server) processes() (list []int) {
	s.tb.Helper()
	tasks, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		s.tb.Fatal(err)
	}
	for _, task := range tasks {
		text, err := os.ReadFile(task)
		if err != nil {
			continue // it has ended
		}
		_, after, _ := strings.Cut(string(text), ") ")
		fields := strings.Fields(after)
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(task)))
		if err != nil || len(fields) < 2 || pid != s.cmd.Process.Pid && fields[1] != strconv.Itoa(s.cmd.Process.Pid) {
			continue
		}
		list = append(list, pid)
	}
	return list
}

// Die kills the server's processes with SIGKILL, all at once.
func (s *Server) Die() {
	s.tb.Helper()
	list := s.processes()
	s.each(syscall.SIGKILL)
	<-s.gone
	for _, pid := range list { // the next server does not start while any has the memory of this one
		if err := eventually.Holds(s.tb.Context(), func() bool { return syscall.Kill(pid, 0) != nil }); err != nil {
			s.tb.Fatalf("process %d of PostgreSQL: %v", pid, err)
		}
	}
}

// End has the server end after it has written down what it has in memory.
func (s *Server) End() { s.signal(syscall.SIGINT) }

// Save ends the server, copies its data, and starts it again. Its result sets the server back to that.
func (s *Server) Save() (back func()) {
	s.tb.Helper()
	data, saved := filepath.Join(s.dir, "data"), filepath.Join(s.dir, "saved")
	s.End()
	s.run("cp", "-a", data, saved)
	s.Begin()
	return func() {
		s.tb.Helper()
		s.Kill()
		s.run("rm", "-rf", data)
		s.run("mv", saved, data)
		s.Begin()
	}
}

func (s *Server) run(name string, args ...string) {
	s.tb.Helper()
	if out, err := exec.CommandContext(s.tb.Context(), name, args...).CombinedOutput(); err != nil {
		s.tb.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
}

// Exec runs a statement as the superuser.
func (s *Server) Exec(text string, args ...any) {
	s.tb.Helper()
	db := s.Open()
	defer db.Close() //nolint:errcheck // the statement has ended
	if _, err := db.ExecContext(s.tb.Context(), text, args...); err != nil {
		s.tb.Fatalf("%s: %v", text, err)
	}
}

// Open returns a handle of the superuser. The caller closes it.
func (s *Server) Open() *sql.DB {
	s.tb.Helper()
	db, err := sql.Open("postgres", s.URL)
	if err != nil {
		s.tb.Fatal(err)
	}
	return db
}

// Count returns how many rows a table of the fleet readthru has; where may follow its name.
func (s *Server) Count(table string) (n int) {
	s.tb.Helper()
	db := s.Open()
	defer db.Close() //nolint:errcheck // nothing is under way
	if err := db.QueryRowContext(s.tb.Context(), "SELECT count(*) FROM readthru."+table).Scan(&n); err != nil {
		s.tb.Fatal(err)
	}
	return n
}

// Number returns what a query for one number returns.
func (s *Server) Number(query string) (n int64) {
	s.tb.Helper()
	db := s.Open()
	defer db.Close() //nolint:errcheck // nothing is under way
	if err := db.QueryRowContext(s.tb.Context(), query).Scan(&n); err != nil {
		s.tb.Fatalf("%s: %v", query, err)
	}
	return n
}

// CPU returns the processor time of the server's processes, also of those that have ended.
func (s *Server) CPU() (sum time.Duration) {
	s.tb.Helper()
	for i, pid := range s.processes() {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			continue // it has ended
		}
		_, after, _ := strings.Cut(string(text), ") ")
		fields := strings.Fields(after)
		if len(fields) < 15 {
			continue
		}
		counted := fields[11:13] // utime and stime
		if i == 0 {
			counted = fields[11:15] // and those of the children of the first process that have ended
		}
		for _, each := range counted {
			ticks, _ := strconv.ParseInt(each, 10, 64) // the kernel writes numbers
			sum += time.Duration(ticks) * time.Second / 100
		}
	}
	return sum
}
