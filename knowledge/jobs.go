package knowledge

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/readthru/readthru/knowledge/archive"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// A Job is a document that could not be indexed: it waits for another attempt, or was set aside after the last one. Its
// text stays stored, and what was indexed of it before is found. A change of the document is a new job.
type Job struct {
	ID       string    `json:"id"` // that of the document
	URL      string    `json:"url,omitempty"`
	State    string    `json:"state"` // waiting or aside
	Attempts int       `json:"attempts,omitempty"`
	Error    string    `json:"error,omitempty"` // of the last attempt
	Time     time.Time `json:"time,omitzero"`   // of the last attempt; of one that waits: of the next

	key page.Key
}

// States of a Job.
const (
	JobWaiting = "waiting"
	JobAside   = "aside"
)

// Jobs returns the documents that could not be indexed, those set aside last, the latest first.
func (k *Knowledge) Jobs() []Job {
	jobs := k.retries.jobs()
	slices.SortFunc(jobs, func(a, b Job) int { return cmp.Compare(a.ID, b.ID) })
	var aside []Job
	k.records.Walk(failedPrefix, "", func(at string, value []byte) bool {
		key, ok := archive.KeyIn(at, failedPrefix)
		if ok && !slices.ContainsFunc(jobs, func(j Job) bool { return j.key == key }) {
			aside = append(aside, asideJob(key, value))
		}
		return true
	})
	slices.SortStableFunc(aside, func(a, b Job) int { return b.Time.Compare(a.Time) })
	jobs = append(jobs, aside...)
	for i := range jobs {
		jobs[i].URL = k.urlOf(jobs[i].key)
	}
	return jobs
}

// Aside returns how many jobs, documents to index, were set aside because they could not be indexed.
func (k *Knowledge) Aside() int { return k.retries.failed() }

// asideJob returns, for the list of jobs, that of a document that was set aside, from its record.
func asideJob(key page.Key, value []byte) Job {
	var f failure
	_ = json.Unmarshal(value, &f) // without, only the reason is missing
	return Job{
		key: key, ID: key.Doc(), State: JobAside, Attempts: cmp.Or(f.Attempts, maxAttempts), Error: f.Error, Time: f.Time,
	}
}

// urlOf returns, for a list of jobs, the URL of a document, if that can be read.
func (k *Knowledge) urlOf(key page.Key) string {
	if p, err := k.store.PageAt(key); err == nil {
		return p.NormalizedURL
	}
	h, _ := k.archive.Head(key) // a document of a knowledge base, or nothing
	return h.URL
}

// RetryJob queues a document that was set aside again. The error is store.ErrNotFound if there is none with the id.
func (k *Knowledge) RetryJob(id string) error {
	key, err := k.aside(id)
	if err != nil {
		return err
	}
	k.doing.Forget(indexing, id)
	if err := k.retries.release(k.records, key, archive.Queued(key)); err != nil {
		return err
	}
	k.notify()
	return nil
}

// DropJob forgets that a document was set aside: it is not indexed until it changes. If the document is deleted, the
// index is built anew, without what it has of it. The error is store.ErrNotFound if there is none with the id.
func (k *Knowledge) DropJob(ctx context.Context, id string) error {
	k.work.Lock()
	defer k.work.Unlock()
	key, err := k.aside(id)
	if err != nil {
		return err
	}
	if _, err := k.readTask(key); nothingToIndex(err) {
		if err := k.startRebuildLocked(ctx, nil); err != nil {
			return err
		}
		defer k.notify()
	}
	return k.retries.release(k.records, key)
}

// aside returns the key of the document of a job that was set aside.
func (k *Knowledge) aside(id string) (found page.Key, err error) {
	err = store.ErrNotFound
	k.records.Keys(failedPrefix, "", func(at string) bool {
		key, ok := archive.KeyIn(at, failedPrefix)
		if ok && key.Doc() == id {
			found, err = key, nil
		}
		return err != nil
	})
	return found, err
}
