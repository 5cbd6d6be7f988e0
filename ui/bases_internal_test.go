package ui

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/readthru/readthru/api"
)

func TestAJobSaysHowLongItTakes(t *testing.T) {
	now := time.Now()
	list := &api.JobList{Jobs: []api.Job{
		{KB: "a", State: api.JobRunning, I: 25, Total: 100, Began: now.Add(-time.Minute), Failures: []string{
			"https://a.test/x: HTTP 404 fetching https://a.test/x",
		}},
		{KB: "a", State: api.JobDone, I: 9, Total: 9},
		{KB: "b", State: api.JobRunning, I: 1, Total: 9, Began: now},
	}}
	j := jobOf(list, "a", now)
	if j == nil || j.Percent != 25 || j.Left != 3*time.Minute {
		t.Fatalf("job %+v, want 25 percent and three minutes", j)
	}
	if want := []failedPage{{"https://a.test/x", "HTTP 404"}}; !cmp.Equal(j.Failed, want) {
		t.Errorf("failed %+v, want %+v", j.Failed, want)
	}
	if j := jobOf(list, "b", now); j.Left != 0 {
		t.Errorf("after one page of many: %v left", j.Left)
	}
	if j := jobOf(list, "c", now); j != nil {
		t.Errorf("a base without a job has %+v", j)
	}
}

func TestAnEmphasisOfASnippetStaysWithinIt(t *testing.T) {
	for _, marks := range [][][2]int{nil, {{0, 2}, {3, 99}}, {{5, 1}, {-3, 2}}, {{1, 3}, {2, 4}}} {
		text := ""
		for _, p := range pieces("aüö word", marks) {
			text += p.Text
		}
		if text != "aüö word" {
			t.Errorf("with %v: %q", marks, text)
		}
	}
}
