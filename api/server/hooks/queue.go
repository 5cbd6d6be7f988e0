package hooks

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/readthru/readthru/agents"
	"github.com/readthru/readthru/internal/fault"
	"github.com/readthru/readthru/internal/wholefile"
)

// Bounds of the queued work of hooks. Work beyond them is dropped.
const (
	maxSpooled      = 1000     // pieces of work
	maxSpooledBytes = 64 << 20 // of all of them
	maxSpooledAge   = 7 * 24 * time.Hour
	maxSpoolTries   = 3 // a piece that ended the process this often is dropped
	eventWorkers    = 16
	spoolWorkers    = 4 // for what an earlier process left, so that none of it delays what an event waits for
)

var errSpoolFull = errors.New("too much work of hooks is queued")

// Spool writes work of hooks into a data directory, for the next process that opens its store.
func Spool(dataDir string, list []agents.Work) error {
	for _, w := range list {
		if _, err := spool(spoolDir(dataDir), w, time.Now()); err != nil {
			return err
		}
	}
	return nil
}

// spoolDir is the folder of the data directory that holds the work of hooks, one file for each piece.
func spoolDir(dataDir string) string { return filepath.Join(dataDir, "hooks") }

// spool writes a piece of work into a new file, whose name sorts by time, and returns the name.
func spool(dir string, w agents.Work, now time.Time) (string, error) {
	text, err := json.Marshal(w)
	if err != nil {
		return "", fmt.Errorf("spool work of a hook: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("spool work of a hook: %w", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", fmt.Errorf("spool work of a hook: %w", err)
	}
	size := int64(len(text))
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			size += info.Size()
		}
	}
	if len(entries) >= maxSpooled || size > maxSpooledBytes {
		return "", errSpoolFull
	}
	name := filepath.Join(dir, fmt.Sprintf("%020d-%s.0.json", now.UnixNano(), rand.Text()))
	if err := wholefile.Write(name, text, 0o600); err != nil {
		return "", fmt.Errorf("spool work of a hook: %w", err)
	}
	return name, nil
}

// done is the result of a piece of work of a hook.
type done struct {
	message string // for the user, empty if there is nothing to say
}

// queue does the work that events of hooks leave, a few pieces at a time. Each piece has a file until it is done, so
// that it outlives the process.
type queue struct {
	dir  string // if empty, work has no files and is lost when the process ends
	do   func(context.Context, agents.Work) done
	log  *slog.Logger
	ctx  context.Context // ends at stop
	stop context.CancelFunc
	docs sync.Mutex // held while documentation is merged

	mu      sync.Mutex
	running sync.WaitGroup
	events  sync.WaitGroup  // of running, what was not taken up from files
	held    map[string]bool // pieces in the queue, by the name of their file without the count of tries

	// Slots for pages of events, and of files. Documentation needs none: nothing is fetched for it.
	slots, spoolSlots chan struct{}
}

// newQueue returns a queue that calls do for each piece of work. Without a data directory its work has no files.
func newQueue(dataDir string, log *slog.Logger, do func(context.Context, agents.Work) done) *queue {
	q := &queue{
		do: do, log: log, held: map[string]bool{},
		slots: make(chan struct{}, eventWorkers), spoolSlots: make(chan struct{}, spoolWorkers),
	}
	if dataDir != "" {
		q.dir = spoolDir(dataDir)
	}
	q.ctx, q.stop = context.WithCancel(context.Background())
	return q
}

// add queues a piece of work. The channel gets its result, unless the process ends before.
func (q *queue) add(w agents.Work) (<-chan done, error) {
	name := ""
	if q.dir != "" {
		var err error
		if name, err = spool(q.dir, w, time.Now()); err != nil {
			return nil, err
		}
	}
	result := make(chan done, 1)
	q.events.Add(1)
	q.start(name, w, q.slots, func(d done, ok bool) {
		if ok {
			result <- d
		}
		q.events.Done()
	})
	return result, nil
}

// start does a piece of work when it is its turn, deletes its file, and calls ended. ok is false if the work may be
// incomplete because the process ends: then the file stays.
func (q *queue) start(name string, w agents.Work, slots chan struct{}, ended func(d done, ok bool)) {
	id, _, _ := piece(name)
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.ctx.Err() != nil {
		ended(done{}, false)
		return
	}
	q.held[id] = true
	q.running.Go(fault.Contain("api: end work of a hook", func() {
		d, ok := q.work(w, slots)
		if ok {
			q.forget(name)
		}
		q.mu.Lock()
		delete(q.held, id)
		q.mu.Unlock()
		ended(d, ok)
	}))
}

// work does a piece of work when there is a slot for it. ok is false if the queue ends before the piece is done. A
// piece that panics counts as done: a repetition would fail again.
func (q *queue) work(w agents.Work, slots chan struct{}) (d done, ok bool) {
	if w.Docs == "" {
		select {
		case slots <- struct{}{}:
			defer func() { <-slots }()
		case <-q.ctx.Done():
			return d, false
		}
	}
	err := fault.Catch("api: work of a hook", func() error { d = q.do(q.ctx, w); return nil })
	if err != nil { // a repetition would fail again
		q.log.Warn("work of a hook dropped", "error", err)
	}
	return d, q.ctx.Err() == nil
}

// forget deletes the file of a piece of work that is done.
func (q *queue) forget(name string) {
	if name == "" {
		return
	}
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		q.log.Warn("work of a hook is done but its file stays: it will be done again", "error", err)
	}
}

// close ends the work of hooks and waits for it. Files of what is not done stay.
func (q *queue) close() {
	q.mu.Lock()
	q.stop()
	q.mu.Unlock()
	q.running.Wait()
}

// Close ends the work so that a later process can go on with it, and waits for it.
func (s *Service) Close() { s.queue.close() }

// Await waits until the work of the events so far is done, or ctx ends. It does not wait for spooled work.
func (s *Service) Await(ctx context.Context) {
	ended := make(chan struct{})
	go fault.Contain("api: end the wait for work of hooks", func() {
		defer close(ended)
		s.queue.events.Wait()
	})()
	select {
	case <-ended:
	case <-ctx.Done():
	}
}

// takeUpEvery is how often a daemon looks for work that other processes spooled.
const takeUpEvery = time.Minute

// Run does the spooled work of hooks until ctx ends.
func (s *Service) Run(ctx context.Context) error {
	tick := time.NewTicker(takeUpEvery)
	defer tick.Stop()
	for {
		s.TakeUp()
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// TakeUp queues the spooled work: of an earlier process, or of hooks that could not open the store.
func (s *Service) TakeUp() {
	q := s.queue
	if q.dir == "" {
		return
	}
	entries, err := os.ReadDir(q.dir)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			q.log.Warn("spooled work of hooks not read", "error", err)
		}
		return
	}
	for _, e := range entries {
		q.takeUp(filepath.Join(q.dir, e.Name()), time.Now())
	}
}

// piece splits the name of the file of a piece into its id and how often the piece was tried.
func piece(name string) (id string, tries int, ok bool) {
	stem, ok := strings.CutSuffix(name, ".json")
	dot := strings.LastIndexByte(stem, '.')
	if !ok || dot < 0 {
		return name, 0, false
	}
	tries, err := strconv.Atoi(stem[dot+1:])
	return stem[:dot], tries, err == nil
}

// takeUp queues the work in one file, unless it is queued already. Its name counts the try first, so that a piece that
// ends the process again and again is dropped.
func (q *queue) takeUp(name string, now time.Time) {
	id, tries, ok := piece(name)
	q.mu.Lock()
	held := q.held[id]
	q.mu.Unlock()
	info, err := os.Stat(name)
	switch {
	case held || err != nil:
		return
	case !ok && strings.HasPrefix(filepath.Base(name), ".") && now.Sub(info.ModTime()) > time.Hour:
		q.forget(name) // it was never completed
		return
	case !ok:
		return
	case tries >= maxSpoolTries || now.Sub(info.ModTime()) > maxSpooledAge || info.Size() > maxSpooledBytes:
		q.log.Warn("work of a hook dropped", "file", filepath.Base(name))
		q.forget(name)
		return
	}
	next := fmt.Sprintf("%s.%d.json", id, tries+1)
	if err := os.Rename(name, next); err != nil {
		return // another process has it
	}
	var w agents.Work
	text, err := os.ReadFile(next)
	if err != nil || json.Unmarshal(text, &w) != nil || !agents.Known(w.Agent) {
		q.log.Warn("work of a hook dropped", "file", filepath.Base(name))
		q.forget(next)
		return
	}
	q.start(next, w, q.spoolSlots, func(_ done, ok bool) {
		if ok {
			return
		}
		if err := os.Rename(next, name); err != nil { // an end that is in order is no try
			q.log.Warn("an ended piece of work of a hook counts as tried", "error", err)
		}
	})
}
