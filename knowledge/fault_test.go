package knowledge_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/readthru/readthru/internal/fault"
	"github.com/readthru/readthru/knowledge"
	"github.com/readthru/readthru/store"
)

// panicAt has the work with a name panic until the test ends, or release is called, as often as times says: for ever if
// it is negative.
func panicAt(t *testing.T, name string, times int) (release func()) {
	t.Helper()
	fault.Inject(func(work string) {
		if work == name && times != 0 {
			times--
			panic("injected")
		}
	})
	t.Cleanup(func() { fault.Inject(nil) })
	return func() { fault.Inject(nil) }
}

// A document whose indexing panics is tried three times more and set aside; all others are indexed.
func TestADocumentThatPanicsIsSetAside(t *testing.T) {
	k := open(t, "", knowledge.Options{})
	k.read(t, "https://a.test/one", prose("walrus", 1), true)
	k.drain(t)
	release := panicAt(t, "knowledge: read a document", -1)
	k.read(t, "https://a.test/poison", prose("walrus", 2), true)
	k.drain(t)
	release()
	k.read(t, "https://a.test/three", prose("walrus", 3), true)
	k.drain(t)
	if got := k.find(t, "", "walrus"); len(got) != 2 {
		t.Errorf("found %q, want the pages before and after the poison", got)
	}
	jobs := k.Jobs()
	if len(jobs) != 1 || jobs[0].State != knowledge.JobAside || jobs[0].URL != "https://a.test/poison" ||
		jobs[0].Attempts != 4 || !strings.Contains(jobs[0].Error, "injected") {
		t.Fatalf("jobs %+v, want the poison, set aside after 4 attempts", jobs)
	}
	if err := k.RetryJob("0123456789abcdef"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("retry of an unknown job: %v", err)
	}
	if err := k.RetryJob(jobs[0].ID); err != nil {
		t.Fatal(err)
	}
	k.drain(t)
	if got := k.find(t, "", "walrus"); len(got) != 3 || len(k.Jobs()) != 0 {
		t.Errorf("tried again: found %q, jobs %+v", got, k.Jobs())
	}
}

// What was set aside is forgotten when it is dropped, and when its page changes.
func TestAJobThatWasSetAsideEnds(t *testing.T) {
	k := open(t, "", knowledge.Options{})
	release := panicAt(t, "knowledge: read a document", -1)
	k.read(t, "https://a.test/a", prose("walrus", 1), true)
	k.read(t, "https://a.test/b", prose("walrus", 2), true)
	k.drain(t)
	release()
	jobs := k.Jobs()
	if len(jobs) != 2 {
		t.Fatalf("jobs %+v, want two", jobs)
	}
	for _, j := range jobs {
		if j.URL == "https://a.test/a" {
			if err := k.DropJob(t.Context(), j.ID); err != nil {
				t.Fatal(err)
			}
		}
	}
	k.read(t, "https://a.test/b", prose("walrus", 3), true)
	k.drain(t)
	if got := k.find(t, "", "walrus"); len(got) != 1 || len(k.Jobs()) != 0 {
		t.Errorf("found %q, jobs %+v, want b alone and no job", got, k.Jobs())
	}
}

// A panic while documents leave the index is tried again, too: it is no reason to stop.
func TestAPanicWhileADocumentIsForgottenIsTriedAgain(t *testing.T) {
	k := open(t, "", knowledge.Options{})
	key := k.read(t, "https://a.test/0", prose("walrus", 0), true)
	k.drain(t)
	if err := k.store.DeletePage(key); err != nil {
		t.Fatal(err)
	}
	panicAt(t, "knowledge: change the index", 3)
	k.drain(t)
	if got := k.find(t, "", "walrus"); len(got) != 0 || len(k.Jobs()) != 0 {
		t.Errorf("found %q, jobs %+v, want none", got, k.Jobs())
	}
}

// Words of a deleted document do not stay in the index when its deletion, which was set aside, is dropped.
func TestADeletionThatIsDroppedLeavesNoWords(t *testing.T) {
	k := open(t, "", knowledge.Options{})
	key := k.read(t, "https://a.test/0", prose("walrus", 0), true)
	k.read(t, "https://a.test/1", prose("heron", 1), true)
	k.drain(t)
	if err := k.store.DeletePage(key); err != nil {
		t.Fatal(err)
	}
	release := panicAt(t, "knowledge: change the index", -1)
	k.drain(t)
	release()
	jobs := k.Jobs()
	if len(jobs) != 1 || jobs[0].State != knowledge.JobAside {
		t.Fatalf("jobs %+v, want the deletion, set aside", jobs)
	}
	if err := k.DropJob(t.Context(), jobs[0].ID); err != nil {
		t.Fatal(err)
	}
	k.drain(t)
	if n := k.Stats().Documents; n != 1 || len(k.find(t, "", "heron")) != 1 || len(k.Jobs()) != 0 {
		t.Errorf("%d documents, jobs %+v, want the page that is stored, and no job", n, k.Jobs())
	}
}

// A panic while the index changes may leave memory behind the disk: it is read again, and the documents of the batch
// are indexed one by one.
func TestAPanicWhileTheIndexChangesLosesNothing(t *testing.T) {
	for _, times := range []int{1, 2, 3} {
		k := open(t, "", knowledge.Options{})
		k.read(t, "https://a.test/0", prose("walrus", 0), true)
		k.drain(t)
		release := panicAt(t, "knowledge: change the index", times)
		for _, url := range []string{"https://a.test/1", "https://a.test/2", "https://a.test/3"} {
			k.read(t, url, prose("walrus", len(url)), true)
		}
		k.drain(t)
		release()
		if got := k.find(t, "", "walrus"); len(got) != 4 || len(k.Jobs()) != 0 {
			t.Errorf("%d panics: found %q, jobs %+v, want all four pages", times, got, k.Jobs())
		}
	}
}
