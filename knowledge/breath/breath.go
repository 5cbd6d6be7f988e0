// Package breath lets the requests of clients go before work in the background where there is one processor.
package breath

import (
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/readthru/readthru/internal/fault"
)

// atAStretch is how long indexing and merging work before they let requests that have come go first.
const atAStretch = 150 * time.Microsecond

// longestBreath is how long they wait for the byte at most: it comes at once unless writing it failed.
const longestBreath = time.Second

// breather lets requests that have come go before the index where there is one processor. The scheduler looks for them
// only once nothing else can run, or every ten milliseconds, so that a request would wait for a whole portion of pages.
var breather struct {
	last atomic.Int64 // when it was let go before, in nanoseconds since begin
	once sync.Once
	r, w *os.File // a pipe; nil where none can be had
}

var begin = time.Now()

// Take lets requests that have come go first. Work in the background calls it between small portions, and may do so
// often: where nothing is to be done, it takes some nanoseconds.
func Take() {
	now := int64(time.Since(begin))
	if now-breather.last.Load() < int64(atAStretch) {
		return
	}
	breather.last.Store(now)
	if runtime.GOMAXPROCS(0) > 1 {
		return // another processor looks
	}
	breather.once.Do(func() { breather.r, breather.w, _ = os.Pipe() })
	if breather.r == nil {
		return
	}
	// Reading blocks until the byte is there, and the scheduler learns of it where it learns of requests.
	_ = breather.r.SetReadDeadline(time.Now().Add(longestBreath)) // where pipes have none, the byte ends the wait
	go fault.Contain("knowledge: let requests go first", func() { _, _ = breather.w.Write([]byte{0}) })()
	var b [1]byte
	_, _ = breather.r.Read(b[:])
	breather.last.Store(int64(time.Since(begin)))
}
