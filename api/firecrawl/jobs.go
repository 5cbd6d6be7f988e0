package firecrawl

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/readthru/readthru/internal/fault"
)

// The bounds of jobs.
const (
	maxJobs    = 100  // running and ended ones
	maxRunning = 8    // running at the same time
	maxErrors  = 1000 // listed per job
)

// lifetime is how long a job exists. A test lowers it.
var lifetime = 24 * time.Hour

// The states of a job.
const (
	scraping  = "scraping"
	completed = "completed"
	broken    = "failed"
	cancelled = "cancelled"
)

// kind is the kind of a job, as part of its path.
type kind string

const (
	crawling kind = "/crawl"
	batching kind = "/batch/scrape"
)

// job is a crawl, or a batch of pages.
type job struct {
	id     string
	kind   kind
	url    string // start page of a crawl
	began  time.Time
	cancel context.CancelFunc

	mu       sync.Mutex
	state    string
	total    int // documents, as far as is known
	err      string
	results  *results
	errors   []jobError
	robots   []string
	untold   int // errors that are not in the lists
	released bool
}

// jobError is a URL that failed.
type jobError struct {
	ID        string `json:"id"`
	Timestamp string `json:"timestamp"`
	URL       string `json:"url"`
	Code      string `json:"code,omitempty"`
	Error     string `json:"error"`
}

// jobs runs jobs and keeps them for a day.
type jobs struct {
	dir  string
	size atomic.Int64 // of all results on disk

	ctx     context.Context // ends at close
	stop    context.CancelFunc
	running sync.WaitGroup

	mu     sync.Mutex
	closed bool
	list   []*job // oldest first
}

// newJobs returns an empty list of jobs, whose documents are files of a directory.
func newJobs(dir string) *jobs {
	j := &jobs{dir: dir}
	j.ctx, j.stop = context.WithCancel(context.Background())
	return j
}

// start starts a job for who asks in ctx, whose end the job outlives. Its work adds documents with [job.add]; the error
// of the work is that of the job.
func (l *jobs) start(ctx context.Context, k kind, url string, total int,
	work func(ctx context.Context, j *job) error,
) (*job, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, &failure{http.StatusServiceUnavailable, "", "the server is stopping"}
	}
	now := time.Now().UTC()
	l.sweep(now)
	running := l.countLocked()
	if running >= maxRunning {
		return nil, &failure{
			http.StatusTooManyRequests, codeLimited,
			fmt.Sprintf("%d jobs are running, which is the maximum: wait for one to end or cancel one", running),
		}
	}
	kept, err := newResults(l.dir, &l.size)
	if err != nil {
		return nil, err
	}
	ctx, end := context.WithDeadline(context.WithoutCancel(ctx), now.Add(lifetime))
	forget := context.AfterFunc(l.ctx, end) //nolint:contextcheck // that of the service, which ends all jobs
	cancel := func() {
		forget()
		end()
	}
	j := &job{id: rand.Text(), kind: k, url: url, began: now, cancel: cancel, state: scraping, total: total, results: kept}
	l.list = append(l.list, j)
	l.running.Go(fault.Contain("firecrawl: end a job", func() {
		defer cancel()
		j.end(fault.Catch("firecrawl: job", func() error { return work(ctx, j) }))
	}))
	return j, nil
}

// countLocked returns how many jobs run.
func (l *jobs) countLocked() (n int) {
	for _, j := range l.list {
		if j.runs() {
			n++
		}
	}
	return n
}

// sweep deletes jobs that are older than lifetime. If there are too many jobs or their documents are too large, it also
// deletes the oldest ones that have ended.
func (l *jobs) sweep(now time.Time) {
	l.drop(func(j *job) bool { return !now.Before(j.began.Add(lifetime)) })
	for len(l.list) >= maxJobs || l.size.Load() > maxAll/2 {
		oldest := slices.IndexFunc(l.list, func(j *job) bool { return !j.runs() })
		if oldest < 0 {
			return
		}
		first := l.list[oldest]
		l.drop(func(j *job) bool { return j == first })
	}
}

// drop forgets jobs and deletes their documents. The caller holds mu.
func (l *jobs) drop(gone func(*job) bool) {
	l.list = slices.DeleteFunc(l.list, func(j *job) bool {
		if !gone(j) {
			return false
		}
		j.release()
		return true
	})
}

// find returns a job of any kind: clients of version 1 ask for a batch at the path of crawls.
func (l *jobs) find(id string) (*job, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sweep(time.Now())
	for _, j := range l.list {
		if j.id == id {
			return j, nil
		}
	}
	return nil, &failure{http.StatusNotFound, "NOT_FOUND", "Job not found"}
}

// crawls returns the running crawls, oldest first.
func (l *jobs) crawls() []*job {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(l.list), func(j *job) bool { return j.kind != crawling || !j.runs() })
}

// close cancels all jobs, waits for them and deletes their documents.
func (l *jobs) close() {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.stop()
	l.running.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.drop(func(*job) bool { return true })
}

// runs reports whether the job has not ended.
func (j *job) runs() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.state == scraping
}

// end records how a job ended, unless it was cancelled before.
func (j *job) end(err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.state != scraping {
		return
	}
	j.state = completed
	if err != nil {
		j.state, j.err = broken, err.Error()
	}
	if j.kind == crawling && !j.released {
		j.total = len(j.results.parts)
	}
}

// release cancels a job and deletes its documents.
func (j *job) release() {
	j.cancel()
	j.mu.Lock()
	defer j.mu.Unlock()
	if !j.released {
		j.released = true
		j.results.close()
	}
}

// errEnded tells the work of a job that the job has ended.
var errEnded = errors.New("the job has ended")

// add adds a document to a job that expects total documents. A private page for which there is no memory is recorded as
// an error of the job; add fails if there is no room for any document.
func (j *job) add(d *document, url string, total int) error {
	j.mu.Lock()
	if j.released || j.state != scraping {
		j.mu.Unlock()
		return errEnded
	}
	err := j.results.add(d)
	j.total = max(total, len(j.results.parts))
	j.mu.Unlock()
	if errors.Is(err, errPrivate) {
		j.failed(url, err)
		return nil
	}
	return err
}

// failed records a URL of a job that could not be read. Errors over maxErrors are only counted.
func (j *job) failed(url string, err error) {
	f := failed(nil, err)
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.errors) >= maxErrors {
		j.untold++
		return
	}
	j.errors = append(j.errors, jobError{
		ID: rand.Text(), Timestamp: time.Now().UTC().Format(time.RFC3339), URL: url,
		Code: f.code, Error: f.text,
	})
}

// forbidden records a URL that robots.txt forbids.
func (j *job) forbidden(url string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.robots) >= maxErrors {
		j.untold++
		return
	}
	j.robots = append(j.robots, url)
}
