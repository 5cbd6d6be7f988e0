package main

import (
	"testing"
	"time"

	"github.com/readthru/readthru/internal/fleet/fleettest"
	"github.com/readthru/readthru/internal/webtest"
)

// All measurements in a short form, whose figures say nothing.
func TestFleetsAreMeasured(t *testing.T) {
	if testing.Short() {
		t.Skip("short: no program is built")
	}
	binary, err := webtest.Program(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range measurements {
		t.Run(m.name, func(t *testing.T) {
			s := settings{
				readthru: binary, dir: t.TempDir(), nodes: []int{2}, idle: 10 * time.Millisecond, changes: 1, pages: 20, cold: 2,
				clients: 2, rounds: 1, requests: 2000,
			}
			if err := m.run(t.Context(), fleettest.Start(t), s); err != nil {
				t.Error(err)
			}
		})
	}
}
