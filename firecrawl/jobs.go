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
)

// The bounds of jobs.
const (
	maxJobs    = 100 // known
	maxRunning = 8   // at once
	maxErrors  = 1000
)

// lifetime is how long a job is known. A test lowers it.
var lifetime = 24 * time.Hour

// States of a job.
const (
	scraping  = "scraping"
	completed = "completed"
	broken    = "failed"
	cancelled = "cancelled"
)

// kind is what a job does, by the path that it is at.
type kind string

const (
	crawling kind = "/crawl"
	batching kind = "/batch/scrape"
)

// job is a crawl, or a batch of pages.
type job struct {
	id     string
	kind   kind
	url    string // of a crawl, where it begins
	began  time.Time
	cancel context.CancelFunc

	mu       sync.Mutex
	state    string
	total    int // documents, as far as is known
	err      string
	results  *results
	errors   []jobError
	robots   []string
	untold   int // errors beyond the list
	released bool
}

// jobError is a URL that could not be had.
type jobError struct {
	ID        string `json:"id"`
	Timestamp string `json:"timestamp"`
	URL       string `json:"url"`
	Code      string `json:"code,omitempty"`
	Error     string `json:"error"`
}

// jobs runs jobs, and knows them for a day.
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

func newJobs(dir string) *jobs {
	j := &jobs{dir: dir}
	j.ctx, j.stop = context.WithCancel(context.Background())
	return j
}

// start begins a job. The work adds documents by [job.add]; its error is the job's.
func (l *jobs) start(k kind, url string, total int, work func(ctx context.Context, j *job) error) (*job, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, &failure{http.StatusServiceUnavailable, "", "the server is stopping"}
	}
	now := time.Now().UTC()
	l.sweep(now)
	running := 0
	for _, j := range l.list {
		if j.runs() {
			running++
		}
	}
	if running >= maxRunning {
		return nil, &failure{
			http.StatusTooManyRequests, "RATE_LIMITED",
			fmt.Sprintf("%d jobs are under way, which is the most: wait for one, or cancel one", running),
		}
	}
	kept, err := newResults(l.dir, &l.size)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithDeadline(l.ctx, now.Add(lifetime))
	j := &job{id: rand.Text(), kind: k, url: url, began: now, cancel: cancel, state: scraping, total: total, results: kept}
	l.list = append(l.list, j)
	l.running.Go(func() {
		defer cancel()
		j.end(work(ctx, j))
	})
	return j, nil
}

// sweep forgets the jobs whose day is over, and the oldest that have ended where there are too many or their documents
// too large.
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

func (l *jobs) drop(gone func(*job) bool) {
	l.list = slices.DeleteFunc(l.list, func(j *job) bool {
		if !gone(j) {
			return false
		}
		j.release()
		return true
	})
}

// find returns a job. Its kind does not matter: a client of version 1 asks for a batch where crawls are.
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

// crawls returns the crawls that are under way, oldest first.
func (l *jobs) crawls() []*job {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(l.list), func(j *job) bool { return j.kind != crawling || !j.runs() })
}

// close ends all jobs, waits for them and drops their documents.
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

func (j *job) runs() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.state == scraping
}

// end notes how a job ended, unless it was cancelled before.
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

// release ends a job and drops its documents.
func (j *job) release() {
	j.cancel()
	j.mu.Lock()
	defer j.mu.Unlock()
	if !j.released {
		j.released = true
		j.results.close()
	}
}

// errEnded tells the work of a job that nobody waits for it any more.
var errEnded = errors.New("the job has ended")

// add keeps a document, which is one of total. A page that may not be kept is one of the job's errors; no room for any
// ends the job.
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

// failed notes a URL that could not be had.
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

// forbidden notes a URL that robots.txt forbids.
func (j *job) forbidden(url string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.robots) >= maxErrors {
		j.untold++
		return
	}
	j.robots = append(j.robots, url)
}
