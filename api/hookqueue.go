package api

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

	"readthru/agents"
)

// Bounds of the work that hooks left. What is beyond them is not taken on: the agent's own work goes on without us.
const (
	maxSpooled      = 1000     // pieces of work
	maxSpooledBytes = 64 << 20 // of all of them
	maxSpooledAge   = 7 * 24 * time.Hour
	maxSpoolTries   = 3 // a piece whose work has ended the process this often is given up
	hookWorkers     = 4
)

var errSpoolFull = errors.New("too much work of hooks is waiting")

// Spool writes work of hooks into a data directory, for the next process that has its store open.
func Spool(dataDir string, list []agents.Work) error {
	for _, w := range list {
		if _, err := spool(spoolDir(dataDir), w, time.Now()); err != nil {
			return err
		}
	}
	return nil
}

func spoolDir(dataDir string) string { return filepath.Join(dataDir, "hooks") }

// spool writes a piece of work into a file of its own, whose name sorts by time, and returns the name.
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
	if err := os.WriteFile(name+".part", text, 0o600); err != nil {
		return "", fmt.Errorf("spool work of a hook: %w", err)
	}
	if err := os.Rename(name+".part", name); err != nil {
		return "", fmt.Errorf("spool work of a hook: %w", err)
	}
	return name, nil
}

// hookDone is what came of a piece of work.
type hookDone struct {
	message string // for the user, empty if there is nothing to say
}

// hookQueue does the work that hooks leave, a few pieces at a time. Each piece has a file until it is done.
type hookQueue struct {
	dir   string // empty: work is done, and lost when the process ends
	do    func(context.Context, agents.Work) hookDone
	log   *slog.Logger
	ctx   context.Context // ends at stop
	stop  context.CancelFunc
	slots chan struct{}
	docs  sync.Mutex // held while documentation is merged with what is known

	mu      sync.Mutex
	running sync.WaitGroup
	held    map[string]bool // pieces taken on, by their file's name without the count of tries
}

func newHookQueue(dataDir string, log *slog.Logger, do func(context.Context, agents.Work) hookDone) *hookQueue {
	q := &hookQueue{do: do, log: log, slots: make(chan struct{}, hookWorkers), held: map[string]bool{}}
	if dataDir != "" {
		q.dir = spoolDir(dataDir)
	}
	q.ctx, q.stop = context.WithCancel(context.Background())
	return q
}

// add takes a piece of work on. The channel tells what came of it; it stays silent when the process is to end before.
func (q *hookQueue) add(w agents.Work) (<-chan hookDone, error) {
	name := ""
	if q.dir != "" {
		var err error
		if name, err = spool(q.dir, w, time.Now()); err != nil {
			return nil, err
		}
	}
	return q.start(name, w), nil
}

// start does a piece of work as soon as it is its turn, and removes its file.
func (q *hookQueue) start(name string, w agents.Work) <-chan hookDone {
	done := make(chan hookDone, 1)
	id, _, _ := piece(name)
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.ctx.Err() != nil {
		return done
	}
	q.held[id] = true
	q.running.Go(func() {
		defer func() {
			q.mu.Lock()
			delete(q.held, id)
			q.mu.Unlock()
		}()
		select {
		case q.slots <- struct{}{}:
			defer func() { <-q.slots }()
		case <-q.ctx.Done():
			return
		}
		d := q.do(q.ctx, w)
		if q.ctx.Err() != nil {
			return // it may have been cut short: its file stays
		}
		q.forget(name)
		done <- d
	})
	return done
}

func (q *hookQueue) forget(name string) {
	if name == "" {
		return
	}
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		q.log.Warn("work of a hook is done and will be done again", "error", err)
	}
}

// close ends the work and waits for it.
func (q *hookQueue) close() {
	q.mu.Lock()
	q.stop()
	q.mu.Unlock()
	q.running.Wait()
}

// takeUpEvery is how often a daemon looks for work that others left to it.
const takeUpEvery = time.Minute

// RunHooks takes up work that hooks left, now and while ctx lasts.
func (s *Server) RunHooks(ctx context.Context) error {
	tick := time.NewTicker(takeUpEvery)
	defer tick.Stop()
	for {
		s.TakeUpHooks()
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// TakeUpHooks takes up the work that hooks left to an earlier process, or spooled while they could not open the store.
func (s *Server) TakeUpHooks() {
	q := s.hooks
	if q.dir == "" {
		return
	}
	entries, err := os.ReadDir(q.dir)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			q.log.Warn("work of hooks not taken up", "error", err)
		}
		return
	}
	for _, e := range entries {
		q.takeUp(filepath.Join(q.dir, e.Name()), time.Now())
	}
}

// piece splits the name of a piece's file into what stays and how often the piece was tried.
func piece(name string) (id string, tries int, ok bool) {
	stem, ok := strings.CutSuffix(name, ".json")
	dot := strings.LastIndexByte(stem, '.')
	if !ok || dot < 0 {
		return name, 0, false
	}
	tries, err := strconv.Atoi(stem[dot+1:])
	return stem[:dot], tries, err == nil
}

// takeUp takes up one file, unless that is done already.
func (q *hookQueue) takeUp(name string, now time.Time) {
	id, tries, ok := piece(name)
	q.mu.Lock()
	held := q.held[id]
	q.mu.Unlock()
	info, err := os.Stat(name)
	switch {
	case held || err != nil:
		return
	case !ok && strings.HasSuffix(name, ".part") && now.Sub(info.ModTime()) > time.Hour:
		q.forget(name) // it was never finished
		return
	case !ok:
		return
	case tries >= maxSpoolTries || now.Sub(info.ModTime()) > maxSpooledAge || info.Size() > maxSpooledBytes:
		q.log.Warn("work of a hook given up", "file", filepath.Base(name))
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
		q.log.Warn("work of a hook given up", "file", filepath.Base(name))
		q.forget(next)
		return
	}
	q.start(next, w)
}
