package fleettest

import (
	"context"
	"database/sql"
	"fmt"
	"log"
	"sync"
	"testing"

	"readthru/needs"
)

// shared is the server of all tests of this process that break none.
var shared struct {
	once   sync.Once
	server *Server
	of     process
	mu     sync.Mutex
	made   int // databases
}

// Share returns a server of all tests of this process, with a database of the test's own, which is there in less than a
// tenth of the time that [Start] takes. The test must not kill or stall it, nor ask for what is of all databases.
// TestMain calls [End].
func Share(tb testing.TB) *Server {
	tb.Helper()
	needed(tb)
	shared.once.Do(func() { shared.server = start(&shared.of, "max_connections=400") })
	shared.mu.Lock()
	shared.made++
	name := fmt.Sprintf("test%d", shared.made)
	shared.mu.Unlock()
	s := *shared.server
	s.tb, s.shared = tb, true
	s.name = name
	s.URL = s.address(name)
	admin, err := sql.Open("postgres", s.address("postgres"))
	if err != nil {
		tb.Fatal(err)
	}
	defer admin.Close() //nolint:errcheck // nothing is under way
	if _, err := admin.ExecContext(tb.Context(), "CREATE DATABASE "+name); err != nil {
		tb.Fatal(err)
	}
	return &s
}

// End ends the server of [Share], if any test had it.
func End() {
	for _, f := range shared.of.cleanups {
		f()
	}
}

// process stands in for a test where a server is of many.
type process struct{ cleanups []func() }

func (*process) Helper()                           {}
func (*process) Context() context.Context          { return context.Background() }
func (p *process) Cleanup(f func())                { p.cleanups = append(p.cleanups, f) }
func (*process) Fatal(args ...any)                 { log.Panic(args...) }
func (*process) Fatalf(format string, args ...any) { log.Panicf(format, args...) }

// needed skips a test that cannot have a server.
func needed(tb testing.TB) {
	tb.Helper()
	if testing.Short() {
		tb.Skip("short: no database server is started")
	}
	if programs() == "" {
		needs.Missing(tb, "%v", errMissing)
	}
}
