// Package jobs runs what outlives the request that asked for it, and remembers it in the store.
package jobs

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/internal/fault"
	"github.com/readthru/readthru/store"
)

const (
	maxJobs    = 200 // remembered
	maxRunning = 16  // at once
)

// jobPrefix begins the keys of jobs, k/job/<began, ms, u64><id>, so that they are in the order in which they began.
const jobPrefix = "k/job/"

// saveEvery is how often the progress of a job is saved.
const saveEvery = 2 * time.Second

// Runner runs jobs (fillings of knowledge bases, rebuilds of the index) and remembers them.
type Runner struct {
	store *store.Store
	log   *slog.Logger
	load  sync.Once // of what the store remembers

	ctx     context.Context // ends at stop
	stop    context.CancelCauseFunc
	running sync.WaitGroup

	mu   sync.Mutex
	list []*Job // oldest first
}

// Job is a job that runs or has ended.
type Job struct {
	of *Runner

	mu      sync.Mutex
	now     api.Job
	saved   time.Time
	changed chan struct{} // closed and replaced at every change
	cancel  context.CancelCauseFunc
}

// ErrStopping is the cause that ends a job when the daemon stops.
var ErrStopping = errors.New("the daemon is stopping")

var errCancelled = errors.New("cancelled")

// New returns a Runner that remembers jobs in a store.
func New(s *store.Store, log *slog.Logger) *Runner {
	l := &Runner{store: s, log: log}
	l.ctx, l.stop = context.WithCancelCause(context.Background())
	return l
}

// lock locks the list of jobs, which the first call fills with those that the store remembers. The caller unlocks mu.
func (l *Runner) lock() {
	l.mu.Lock()
	l.load.Do(l.remember)
}

// remember reads the jobs of earlier processes. One that ran when its process ended is interrupted.
func (l *Runner) remember() {
	l.store.Records().Walk(jobPrefix, "", func(_ string, value []byte) bool {
		j := &Job{of: l, changed: make(chan struct{}), cancel: func(error) {}}
		if json.Unmarshal(value, &j.now) == nil {
			if j.now.State == api.JobRunning {
				j.now.State, j.now.Error = api.JobInterrupted, ErrStopping.Error()
			}
			l.list = append(l.list, j)
		}
		return true
	})
}

// keyOf returns the key of a job's record: records are in the order in which their jobs began.
func keyOf(j *api.Job) string {
	return jobPrefix + string(binary.BigEndian.AppendUint64(nil, uint64(j.Began.UnixMilli()))) + j.ID
}

// Interrupted returns the last job that filled a base, if it was interrupted.
func (l *Runner) Interrupted(kb string) (api.Job, bool) {
	l.lock()
	defer l.mu.Unlock()
	for _, j := range slices.Backward(l.list) {
		if now, _ := j.snapshot(); now.KB == kb {
			return now, now.State == api.JobInterrupted
		}
	}
	return api.Job{}, false
}

// Start starts a job, unless too many run or the server is stopping. One with an ID continues the job that had it.
func (l *Runner) Start(first api.Job, work func(ctx context.Context, j *Job) error) (api.Job, error) {
	if first.ID == "" {
		first.ID, first.Began = rand.Text()[:16], time.Now().UTC()
	}
	first.State = api.JobRunning
	l.lock()
	defer l.mu.Unlock()
	if l.ctx.Err() != nil {
		return api.Job{}, api.NewError(http.StatusServiceUnavailable, api.CodeStopping, ErrStopping.Error())
	}
	running := 0
	for _, j := range l.list {
		if j.running() {
			running++
		}
	}
	if running >= maxRunning {
		return api.Job{}, api.NewError(http.StatusServiceUnavailable, api.CodeBusy,
			fmt.Sprintf("%d jobs run, which is the limit: wait for one, or cancel one", running))
	}
	j := &Job{of: l, now: first, changed: make(chan struct{})}
	var ctx context.Context
	ctx, j.cancel = context.WithCancelCause(l.ctx)
	l.list = slices.DeleteFunc(l.list, func(old *Job) bool { return old.now.ID == first.ID })
	if len(l.list) >= maxJobs { // maxRunning is smaller: one has ended
		i := slices.IndexFunc(l.list, func(j *Job) bool { return !j.running() })
		l.forget(l.list[i])
		l.list = slices.Delete(l.list, i, i+1)
	}
	l.list = append(l.list, j)
	j.Update(func(*api.Job) {})
	l.running.Go(fault.Contain("api: end a job", func() {
		err := fault.Catch("api: job", func() error { return work(ctx, j) })
		cause := context.Cause(ctx)
		j.cancel(nil)
		j.Update(func(now *api.Job) {
			now.Ended, now.URL = time.Now().UTC(), ""
			switch {
			case err == nil:
				now.State = api.JobDone
			case errors.Is(cause, ErrStopping):
				now.State, now.Error = api.JobInterrupted, cause.Error()
			case cause != nil:
				now.State, now.Error = api.JobCancelled, cause.Error()
			default:
				now.State, now.Error = api.JobFailed, err.Error()
			}
		})
	}))
	return first, nil
}

// running reports whether the job has not ended.
func (j *Job) running() bool { return j.Now().State == api.JobRunning }

// Update changes a job. The beginning, the end, and now and then the progress are saved.
func (j *Job) Update(f func(now *api.Job)) {
	j.mu.Lock()
	defer j.mu.Unlock()
	f(&j.now)
	if at := time.Now(); j.now.State != api.JobRunning || at.Sub(j.saved) >= saveEvery {
		j.saved = at
		value, err := json.Marshal(j.now)
		if err == nil {
			err = j.of.store.Records().Apply(store.Change{Key: keyOf(&j.now), Value: value})
		}
		if err != nil {
			j.of.log.Warn("state of a job not saved", "job", j.now.ID, "error", err)
		}
	}
	close(j.changed)
	j.changed = make(chan struct{})
}

// Now returns the job as it is.
func (j *Job) Now() api.Job {
	now, _ := j.snapshot()
	return now
}

// snapshot returns the job as it is, and a channel that is closed when it changes.
func (j *Job) snapshot() (api.Job, <-chan struct{}) {
	j.mu.Lock()
	defer j.mu.Unlock()
	now := j.now
	now.Remarks, now.Failures = slices.Clone(now.Remarks), slices.Clone(now.Failures)
	return now, j.changed
}

// forget deletes the record of an old job, to make room for another one. The caller holds mu.
func (l *Runner) forget(j *Job) {
	now, _ := j.snapshot()
	if err := l.store.Records().Apply(store.Change{Key: keyOf(&now), Gone: true}); err != nil {
		l.log.Warn("old job not deleted", "job", now.ID, "error", err)
	}
}

// find returns a job by its id. The error is a problem for the client.
func (l *Runner) find(id string) (*Job, error) {
	l.lock()
	defer l.mu.Unlock()
	for _, j := range l.list {
		if j.now.ID == id { // never changes
			return j, nil
		}
	}
	return nil, api.Problem(http.StatusNotFound, "unknown job %q: the last %d are remembered", id,
		maxJobs)
}

// Stop interrupts the jobs so that they can be continued later, and waits for them to end.
func (l *Runner) Stop() {
	l.mu.Lock()
	l.stop(ErrStopping)
	l.mu.Unlock()
	l.running.Wait()
}

// Stopping returns the context that all jobs run in. It ends when Stop is called.
func (l *Runner) Stopping() context.Context { return l.ctx }

// CancelFilling ends the jobs that fill a knowledge base, for a reason. It does not wait for the end.
func (l *Runner) CancelFilling(kb string, why error) {
	l.lock()
	defer l.mu.Unlock()
	for _, j := range l.list {
		if now, _ := j.snapshot(); now.KB == kb && now.State == api.JobRunning {
			j.cancel(why)
		}
	}
}

// Running returns the number of jobs that run.
func (l *Runner) Running() (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, j := range l.list {
		if j.running() {
			n++
		}
	}
	return n
}

// ListJobs lists the jobs that are remembered, newest first.
func (l *Runner) ListJobs(context.Context, api.None) (*api.JobList, error) {
	l.lock()
	defer l.mu.Unlock()
	list := &api.JobList{Jobs: []api.Job{}}
	for _, j := range slices.Backward(l.list) {
		now, _ := j.snapshot()
		list.Jobs = append(list.Jobs, now)
	}
	return list, nil
}

// GetJob returns a job as it is now.
func (l *Runner) GetJob(_ context.Context, ref api.JobRef) (*api.Job, error) {
	j, err := l.find(ref.ID)
	if err != nil {
		return nil, err
	}
	now, _ := j.snapshot()
	return &now, nil
}

// watchEvery is the least time between two events of a job.
const watchEvery = 100 * time.Millisecond

// watch calls f with a job as it is now and after each change, a few times a second at most, until it has ended. It
// returns the first error of f.
func (j *Job) watch(ctx context.Context, f func(api.Job) error) error {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		now, changed := j.snapshot()
		if err := f(now); err != nil {
			return err
		}
		if now.State != api.JobRunning {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// CancelJob cancels a job and waits until it has ended. What answered before still answers; a base that was filled for
// the first time keeps what was read, and the next refresh continues.
func (l *Runner) CancelJob(ctx context.Context, ref api.JobRef) (*api.Job, error) {
	j, err := l.find(ref.ID)
	if err != nil {
		return nil, err
	}
	j.cancel(errCancelled)
	var last api.Job
	err = j.watch(ctx, func(now api.Job) error { last = now; return nil })
	return &last, err
}

// ServeJobEvents writes the job as a line of JSON at each change, until it has ended or the daemon stops.
func (l *Runner) ServeJobEvents(w http.ResponseWriter, r *http.Request, ref api.JobRef) error {
	j, err := l.find(ref.ID)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/x-ndjson")
	if r.Method == http.MethodHead {
		return nil
	}
	enc, flush := json.NewEncoder(w), http.NewResponseController(w)
	// the status is sent: an error is a client that has gone
	_ = j.watch(r.Context(), func(now api.Job) error {
		if err := enc.Encode(now); err != nil {
			return err
		}
		return flush.Flush()
	})
	return nil
}
