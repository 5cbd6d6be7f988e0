package main

import "testing"

func TestPartsTakeLessWhereThereIsLessMemory(t *testing.T) {
	const MiB = 1 << 20
	all := memoryPlan{heap: 512 * MiB, answers: 64 * MiB, store: 80 * MiB, passing: 64 * MiB, waiting: 64 * MiB}
	for limit, want := range map[int64]memoryPlan{
		0:         all,
		64 << 30:  all,
		1 << 30:   all,
		640 * MiB: {heap: 384 * MiB, answers: 64 * MiB, store: 80 * MiB, passing: 64 * MiB, waiting: 64 * MiB},
		320 * MiB: {heap: 192 * MiB, answers: 32 * MiB, store: 40 * MiB, passing: 32 * MiB, waiting: 32 * MiB, workers: 1},
		160 * MiB: {heap: 96 * MiB, answers: 16 * MiB, store: 20 * MiB, passing: 16 * MiB, waiting: 16 * MiB, workers: 1},
	} {
		if got := planMemory(limit); got != want {
			t.Errorf("of %d MiB: %+v, want %+v", limit/MiB, got, want)
		}
	}
}
