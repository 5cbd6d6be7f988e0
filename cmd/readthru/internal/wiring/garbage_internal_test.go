package wiring

import "testing"

func TestBusyDaemonHoldsMoreGarbageTheLessItUses(t *testing.T) {
	const MiB = 1 << 20
	for _, tt := range []struct {
		live, most int64
		want       int
	}{
		{0, 64 * MiB, 2400},
		{12 * MiB, 64 * MiB, 200},
		{40 * MiB, 64 * MiB, 125},
		{64 * MiB, 64 * MiB, 100},
		{256 * MiB, 64 * MiB, garbagePercent},
		{12 * MiB, 12 * MiB, 100}, // of little memory
	} {
		if got := busyPercentOf(tt.live, tt.most); got != tt.want {
			t.Errorf("with %d MiB in use and %d MiB at most: %d %%, want %d", tt.live/MiB, tt.most/MiB, got, tt.want)
		}
	}
}
