package wiring

import (
	"log/slog"
	"os"
	"runtime/debug"

	"github.com/KimMachineGun/automemlimit/memlimit"

	"github.com/readthru/readthru/store"
)

// memoryPlan says how much memory the parts of the program may take, in bytes.
type memoryPlan struct {
	heap    int64 // of the whole Go heap: near it the collector works harder instead of the process growing
	answers int64 // cache.memory, unless that is configured
	store   int64 // writes that wait, and the engine's caches
	passing int64 // bodies on their way into the store
	waiting int64 // pages read by browsers that wait for their conversion
	workers int   // pages converted at once at most; 0: one for each processor
}

// planMemory returns the plan for a process that may take limit bytes, or any number if limit is 0. The heap may have
// three fifths of them; stacks, mapped files, buffers of sockets, and what the collector is late for take the rest.
func planMemory(limit int64) memoryPlan {
	most := memoryPlan{heap: 512 << 20, answers: 64 << 20, store: 80 << 20, passing: 64 << 20, waiting: 64 << 20}
	if limit == 0 {
		return most
	}
	p := memoryPlan{
		heap:    min(most.heap, limit*3/5),
		answers: min(most.answers, limit/10),
		store:   min(most.store, limit/8),
		passing: min(most.passing, limit/10),
		waiting: min(most.waiting, limit/10),
	}
	if limit < 512<<20 {
		p.workers = 1 // a page in work takes up to 160 MB
	}
	return p
}

// divideAnswers divides cache.memory between answers that are given again and what the store keeps decoded. If it is 0,
// no answer is given again, and the store keeps what it keeps by default.
func divideAnswers(memory int64) (answers, decoded int64) {
	if memory == 0 {
		return 0, store.DefaultDecoded
	}
	decoded = min(store.DefaultDecoded, memory*3/10)
	return memory - decoded, decoded
}

// memoryAtHand returns how much memory this process may take at most: that of its control group, or of the machine; 0
// if nobody says.
func memoryAtHand() int64 {
	limit, err := memlimit.ApplyFallback(memlimit.FromCgroup, memlimit.FromSystem)()
	if err != nil || limit > 1<<50 {
		return 0
	}
	return int64(limit)
}

// limitMemory sets the collector's limits in the daemon, unless the environment does.
func limitMemory(log *slog.Logger) {
	limit := memoryAtHand()
	plan := planMemory(limit)
	if plan != planMemory(0) {
		log.Info("little memory", "limit", limit, "heap", plan.heap)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(plan.heap)
	}
	if os.Getenv("GOGC") == "" {
		collectAsNeeded(min(mostGarbage, plan.heap/8))
	}
}
