package wiring

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

func TestAnswersAndTheStoreShareOneBudget(t *testing.T) {
	const MiB = 1 << 20
	for _, tt := range []struct{ memory, answers, decoded int64 }{
		{64 * MiB, 45 * MiB, 19 * MiB},
		{1024 * MiB, 1005 * MiB, 19 * MiB},
		{10 * MiB, 7 * MiB, 3 * MiB},
		{0, 0, 19 * MiB},
	} {
		if answers, decoded := divideAnswers(tt.memory); answers != tt.answers || decoded != tt.decoded {
			t.Errorf("%d MiB: %d and %d, want %d and %d", tt.memory/MiB, answers, decoded, tt.answers, tt.decoded)
		}
	}
}
