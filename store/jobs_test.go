package store_test

import (
	"errors"
	"testing"

	"readthru/page"
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

func TestJobsThatAreDoneAtOnceLeaveNoDeletions(t *testing.T) {
	s := openStore(t, store.Options{})
	for _, path := range []string{"one", "two", "three"} {
		putPage(t, s, "https://a.test/"+path, path)
	}
	jobs, err := s.Jobs("index", 0)
	if err != nil || len(jobs) != 3 {
		t.Fatalf("Jobs = %v, %v, want three", jobs, err)
	}
	if err := s.AckJobs("index", jobs[0].Seq, jobs[1].Seq, jobs[2].Seq); err != nil {
		t.Fatal(err)
	}
	flush(t, s)
	if n := s.Deletions("jr/"); n != 0 {
		t.Errorf("%d deletions of retries that were never made, want none", n)
	}
}

func TestJobsAddedIsToldOncePerSilence(t *testing.T) {
	s := openStore(t, store.Options{})
	told := func() bool {
		select {
		case <-s.JobsAdded():
			return true
		default:
			return false
		}
	}
	if told() {
		t.Errorf("told before anything was stored")
	}
	const url = "https://a.test/"
	for _, content := range []string{"one", "two", "three"} {
		putPage(t, s, url, content)
	}
	if !told() || told() {
		t.Errorf("three changes are not told as one")
	}
	if jobs, err := s.Jobs("index", 10); err != nil || len(jobs) == 0 {
		t.Errorf("Jobs = %v, %v: what was told of is not there", jobs, err)
	}
	if err := s.DeletePage(page.KeyOf(url)); err != nil {
		t.Fatalf("DeletePage: %v", err)
	}
	if !told() {
		t.Errorf("a deletion is not told")
	}
}
