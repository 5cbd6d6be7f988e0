package store_test

import (
	"errors"
	"testing"

	"readthru/store"
)

func TestJobToRetryGoesWithItsPagesNextChange(t *testing.T) {
	s := openStore(t, store.Options{})
	const url = "https://a.test/"
	putPage(t, s, url, "one")
	jobs, err := s.Jobs("index", 0)
	if err != nil || len(jobs) != 1 {
		t.Fatalf("Jobs = %v, %v, want one", jobs, err)
	}
	if err := s.RetryJob("index", jobs[0], errors.New("not now")); err != nil {
		t.Fatal(err)
	}
	putPage(t, s, url, "two")
	jobs, err = s.Jobs("index", 0)
	if err != nil || len(jobs) != 1 || jobs[0].Kind != store.JobChanged {
		t.Fatalf("Jobs = %v, %v, want the change alone", jobs, err)
	}
	if err := s.AckJobs("index", jobs[0].Seq); err != nil {
		t.Fatal(err)
	}
	flush(t, s)
	if got := s.Totals().QueuedJobs; got != 0 {
		t.Errorf("QueuedJobs = %d after all were done, want 0", got)
	}
	if left := s.Keys("jr/"); len(left) != 0 {
		t.Errorf("%d jobs to retry are left, want none", len(left))
	}
}
