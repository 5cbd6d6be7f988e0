package store_test

import (
	"errors"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
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
	if got := s.QueuedJobs("index"); got != 0 {
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

func TestAConsumerBeginsWhereItIsTold(t *testing.T) {
	begun := time.Now()
	s := openStore(t, store.Options{})
	paths := func() (list []string) {
		t.Helper()
		jobs, err := s.Jobs("fleet", 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, j := range jobs {
			if j.Time.Before(begun.Add(-time.Second)) || j.Time.After(time.Now().Add(time.Second)) {
				t.Errorf("the job of %s is of %s, want a time since %s", j.URL, j.Time, begun)
			}
			list = append(list, j.URL[len("https://a.test/"):])
		}
		return list
	}
	begin := func(after uint64) {
		t.Helper()
		if err := s.BeginJobs("fleet", after); err != nil {
			t.Fatal(err)
		}
	}
	putPage(t, s, "https://a.test/one", "one")
	begin(s.LastJob())
	putPage(t, s, "https://a.test/two", "two")
	if got := paths(); !slices.Equal(got, []string{"two"}) || s.QueuedJobs("fleet") != 1 {
		t.Errorf("jobs of %v, %d queued: want what came since", got, s.QueuedJobs("fleet"))
	}
	jobs, _ := s.Jobs("fleet", 0)
	if err := s.RetryJob("fleet", jobs[0], errors.New("not now")); err != nil {
		t.Fatal(err)
	}
	begin(0)
	if got := paths(); !slices.Equal(got, []string{"one", "two"}) || s.QueuedJobs("fleet") != 2 {
		t.Errorf("jobs of %v, %d queued: want each once", got, s.QueuedJobs("fleet"))
	}
	if err := s.ForgetConsumer("fleet"); err != nil {
		t.Fatal(err)
	}
	flush(t, s)
	if left := slices.Concat(s.Keys("jc/"), s.Keys("jr/")); len(left) != 0 {
		t.Errorf("%q is left of a consumer that is forgotten", left)
	}
}

func TestThePositionInAFleetIsKept(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, store.Options{Dir: dir})
	want := store.FleetPosition{Database: "a", Joined: 3, XID: 700, Key: []byte{1, 0xff}}
	if err := s.SetFleetPosition(want); err != nil {
		t.Fatal(err)
	}
	closeStore(t, s)
	s = openStore(t, store.Options{Dir: dir})
	if got := s.FleetPosition(); !reflect.DeepEqual(got, want) {
		t.Errorf("position %+v, want %+v", got, want)
	}
}

// The title of a page is searched, so a change of it alone is a job; one of what is only shown is none.
func TestATitleThatChangesIsAJob(t *testing.T) {
	s := openStore(t, store.Options{})
	put := func(title, element, description string) (jobs int) {
		t.Helper()
		p, md, _ := newPage("https://a.test/x", "text")
		p.Title, p.Description, p.Meta = title, description, page.Meta{"title": element}
		if _, err := s.PutPage(p, md, store.Sum{}); err != nil {
			t.Fatal(err)
		}
		list, err := s.Jobs("c", 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, j := range list {
			if err := s.AckJobs("c", j.Seq); err != nil {
				t.Fatal(err)
			}
		}
		return len(list)
	}
	for _, tt := range []struct {
		title, element, description string
		want                        int
	}{
		{"Yak", "Yak - A", "", 1},
		{"Yak", "Yak - A", "", 0},
		{"Yak", "Yak - A", "long hair", 0},
		{"Yaks", "Yak - A", "long hair", 1},
		{"Yaks", "Yak - B", "long hair", 1},
	} {
		if got := put(tt.title, tt.element, tt.description); got != tt.want {
			t.Errorf("%+v: %d jobs, want %d", tt, got, tt.want)
		}
	}
}
