package store

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store/keys"
	"github.com/readthru/readthru/store/kv"
	"github.com/readthru/readthru/store/wire"
)

// Job is one change of a page in the change log, which the index of package knowledge and the fleet consume. The log
// keeps only the newest job of a page, so a consumer that lags sees only the last of several changes. A job may be
// delivered twice: doing it again must change nothing.
type Job struct {
	Seq      uint64
	Kind     string // JobStored, JobChanged or JobDeleted
	Page     page.Key
	URL      string // normalised
	Time     time.Time
	Attempts int // how often it was given back by RetryJob
}

// Kinds of a Job.
const (
	JobStored  = "stored"
	JobChanged = "changed"
	JobDeleted = "deleted"
)

// jobRecord is what j/ holds.
type jobRecord struct {
	Kind string
	Page Sum // the page's key, in hex
	URL  string
	At   int64 `json:",omitempty"` // milliseconds since 1970; 0 in records of older programs
}

// retryRecord is what jr/ holds.
type retryRecord struct {
	Attempts int
	Error    string
}

// addJob writes a change of a page into the change log in b, in the place of the page's old job (0 for none), and
// returns its number. The caller holds s.mu, and sets s.seq once b is applied: a number of a batch that was refused is
// given again.
func (s *Store) addJob(b *kv.Batch, j Job, old uint64) uint64 {
	seq := s.seq + 1
	b.Delta.Jobs++
	if old != 0 {
		if _, err := s.kv.Get(keys.Job(old)); err == nil {
			b.Del(keys.Job(old))
			b.Delta.Jobs--
		}
	}
	if j.Time.IsZero() {
		j.Time = time.Now()
	}
	b.Set(keys.Job(seq), wire.JSON(jobRecord{j.Kind, Sum(j.Page), j.URL, j.Time.UnixMilli()}))
	b.Delta.Seq = seq
	return seq
}

// JobsAdded returns a channel that gets a value, unless it holds one, after jobs were added. There is one channel, for
// one waiting goroutine.
func (s *Store) JobsAdded() <-chan struct{} { return s.added }

// LastJob returns the number of the newest job; 0 if there has been none.
func (s *Store) LastJob() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seq
}

// checkConsumer refuses names of consumers of jobs that cannot stand in a key.
func checkConsumer(name string) error {
	if name == "" || strings.Contains(name, "\x00") {
		return fmt.Errorf("change log: %q is not a consumer name", name)
	}
	return nil
}

// Jobs returns the next jobs of a consumer, oldest first, with the jobs to retry; at most limit (0: 50). The first
// call of a consumer starts at the beginning of the log.
func (s *Store) Jobs(consumer string, limit int) ([]Job, error) {
	if err := checkConsumer(consumer); err != nil {
		return nil, err
	}
	s.settle()
	limit = clampLimit(limit)
	var jobs []Job
	prefix := keys.Retries(consumer)
	gone := &kv.Batch{Must: true}
	s.kv.Walk(kv.Scan{Prefix: prefix}, func(key string, value []byte) bool {
		var r retryRecord
		_ = json.Unmarshal(value, &r) // without, it is a first attempt
		j, err := s.job(binary.BigEndian.Uint64([]byte(key[len(prefix):])))
		if err != nil {
			gone.Del(key) // its page has changed since, which is a newer job
			return gone.Len() < kv.MaxBatchChanges/2
		}
		j.Attempts = r.Attempts
		jobs = append(jobs, j)
		return len(jobs) < limit
	})
	if gone.Len() > 0 {
		_ = s.kv.Apply(gone) // refused only while closing
	}
	next := keys.Job(s.cursor(consumer) + 1)
	s.kv.Walk(kv.Scan{Prefix: "j/", From: next, Keys: true}, func(key string, _ []byte) bool {
		if len(jobs) >= limit {
			return false
		}
		if j, err := s.job(binary.BigEndian.Uint64([]byte(key[len("j/"):]))); err == nil {
			jobs = append(jobs, j)
		}
		return true
	})
	return jobs, nil
}

// job reads one job of the change log. The error is ErrNotFound for one that a newer job of its page replaced.
func (s *Store) job(seq uint64) (Job, error) {
	var r jobRecord
	if err := s.kv.GetJSON(&kv.Batch{}, keys.Job(seq), &r); err != nil {
		return Job{}, err
	}
	return Job{Seq: seq, Kind: r.Kind, Page: page.Key(r.Page), URL: r.URL, Time: time.UnixMilli(r.At).UTC()}, nil
}

// cursor returns the number of the last job that a consumer has passed; 0 for a consumer that has taken none.
func (s *Store) cursor(consumer string) uint64 {
	value, err := s.kv.Get(keys.Cursor(consumer))
	if err != nil || len(value) != 8 {
		return 0
	}
	return binary.BigEndian.Uint64(value)
}

// AckJobs durably marks jobs of a consumer as done. Jobs before the last of them that are neither done nor to be
// retried are retried.
func (s *Store) AckJobs(consumer string, seqs ...uint64) error {
	return s.settleJobs(consumer, seqs, nil)
}

// RetryJob gives a job back: it will come again, with one attempt more. Cause is kept for people.
func (s *Store) RetryJob(consumer string, j Job, cause error) error {
	r := retryRecord{Attempts: j.Attempts + 1}
	if cause != nil {
		r.Error = cause.Error()
	}
	return s.settleJobs(consumer, []uint64{j.Seq}, &r)
}

// settleJobs moves a consumer's cursor in the change log to the last of seqs, and returns once that is on disk. Jobs
// passed over become jobs to retry; seqs are done, or with retry, to be tried again.
func (s *Store) settleJobs(consumer string, seqs []uint64, retry *retryRecord) error {
	if err := checkConsumer(consumer); err != nil || len(seqs) == 0 {
		return err
	}
	s.settle()
	s.mu.Lock()
	b := &kv.Batch{}
	last := slices.Max(seqs)
	if last > s.seq {
		s.mu.Unlock()
		return fmt.Errorf("change log: job %d of consumer %s was never written", last, consumer)
	}
	cursor := s.cursor(consumer)
	if last > cursor {
		s.kv.Walk(kv.Scan{Prefix: "j/", From: keys.Job(cursor + 1), Keys: true}, func(key string, _ []byte) bool {
			seq := binary.BigEndian.Uint64([]byte(key[len("j/"):]))
			if seq < last && !slices.Contains(seqs, seq) {
				b.Set(keys.Retry(consumer, seq), wire.JSON(retryRecord{}))
			}
			return seq < last
		})
		b.Set(keys.Cursor(consumer), binary.BigEndian.AppendUint64(nil, last))
	}
	for _, seq := range seqs {
		key := keys.Retry(consumer, seq)
		if retry != nil {
			b.Set(key, wire.JSON(retry))
		} else if _, err := s.kv.Get(key); err == nil {
			b.Del(key) // a deletion of what is not there slows all walks over retries down
		}
	}
	err := s.kv.Apply(b)
	s.mu.Unlock()
	if err == nil {
		err = s.kv.Barrier(true)
	}
	if err != nil {
		return fmt.Errorf("change log: move consumer %s: %w", consumer, err)
	}
	return nil
}

// BeginJobs has a consumer begin after a job (0: at the beginning of the log), and forgets what it was to do again. An
// index that is built anew begins so.
func (s *Store) BeginJobs(consumer string, after uint64) error {
	if err := checkConsumer(consumer); err != nil {
		return err
	}
	return s.moveConsumer(consumer, func(b *kv.Batch) {
		b.Set(keys.Cursor(consumer), binary.BigEndian.AppendUint64(nil, after))
	})
}

// ForgetConsumer forgets a consumer that takes no jobs any more: the log keeps none for it.
func (s *Store) ForgetConsumer(consumer string) error {
	if err := checkConsumer(consumer); err != nil {
		return err
	}
	return s.moveConsumer(consumer, func(b *kv.Batch) { b.Del(keys.Cursor(consumer)) })
}

// moveConsumer changes where a consumer of the change log stands, without anything to do again. It returns once that is
// on disk.
func (s *Store) moveConsumer(consumer string, move func(*kv.Batch)) error {
	s.settle()
	s.mu.Lock()
	b := &kv.Batch{Must: true}
	s.kv.Walk(kv.Scan{Prefix: keys.Retries(consumer), Keys: true}, func(key string, _ []byte) bool {
		b.Del(key)
		return b.Len() < kv.MaxBatchChanges/2
	})
	move(b)
	err := s.kv.Apply(b)
	s.mu.Unlock()
	if err == nil {
		err = s.kv.Barrier(true)
	}
	if err != nil {
		return fmt.Errorf("change log: move consumer %s: %w", consumer, err)
	}
	return nil
}

// QueuedJobs returns how many jobs a consumer has before it, at most: the log keeps only the newest of a page.
func (s *Store) QueuedJobs(consumer string) int64 {
	t := s.visits.totals(s.kv)
	cursor := s.cursor(consumer)
	if t.Seq < cursor {
		return t.Jobs
	}
	queued := min(t.Jobs, int64(t.Seq-cursor))
	s.kv.Walk(kv.Scan{Prefix: keys.Retries(consumer), Keys: true}, func(string, []byte) bool { queued++; return true })
	return queued
}

// slowest returns the smallest cursor of all consumers of the change log, and whether there is any consumer.
func (s *Store) slowest() (cursor uint64, any bool) {
	s.kv.Walk(kv.Scan{Prefix: "jc/"}, func(_ string, value []byte) bool {
		if len(value) == 8 {
			if at := binary.BigEndian.Uint64(value); !any || at < cursor {
				cursor = at
			}
			any = true
		}
		return true
	})
	return cursor, any
}

// trimJobs deletes the jobs of deleted pages that every consumer has passed. Others go when their page changes again,
// so that the log is no longer than the pages and the deletions that wait. One call deletes what one transaction takes.
func (s *Store) trimJobs() {
	cursor, any := s.slowest()
	b := &kv.Batch{}
	s.kv.Walk(kv.Scan{Prefix: "j/"}, func(key string, value []byte) bool {
		if any && binary.BigEndian.Uint64([]byte(key[len("j/"):])) > cursor {
			return false
		}
		var r jobRecord
		if json.Unmarshal(value, &r) == nil && r.Kind == JobDeleted {
			b.Del(key)
			b.Delta.Jobs--
		}
		return b.Len() < kv.MaxBatchChanges/2
	})
	if b.Len() > 0 {
		_ = s.kv.Apply(b) // refused: the next sweep tries again
	}
}

// lastJob returns the newest number in the change log, or 0. Package kv asks for it when a store is opened whose totals
// may be older than the log.
func lastJob(k *kv.DB) (seq uint64) {
	k.Walk(kv.Scan{Prefix: "j/", Back: true, Keys: true}, func(key string, _ []byte) bool {
		if len(key) == len("j/")+8 {
			seq = binary.BigEndian.Uint64([]byte(key[len("j/"):]))
		}
		return false
	})
	return seq
}
