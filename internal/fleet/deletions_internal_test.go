package fleet

import (
	"errors"
	"testing"
	"time"

	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

const deletedURL = "https://a.test/deleted"

// readHere has s read a page at a time, or take over that another store did.
func readHere(t *testing.T, s *store.Store, at time.Time, wanted func(store.Known) bool) (taken bool) {
	t.Helper()
	r := &page.Record{
		URL: deletedURL, NormalizedURL: deletedURL, ContentHash: "one", Source: page.Local, FetchedAt: at, ReadAt: at,
	}
	var err error
	if wanted == nil {
		_, err = s.PutPage(r, []byte("# One"), store.Sum{})
	} else {
		taken, err = s.ImportPage(r, []byte("# One"), 0, wanted)
	}
	if err != nil {
		t.Fatal(err)
	}
	return taken
}

// A node may hear of its own reading, or that of another node, when it has deleted the page since: the page stays
// deleted, and the deletion is told.
func TestADeletionOutlivesTheReadingBeforeIt(t *testing.T) {
	s, err := store.Open(store.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close() //nolint:errcheck // a test of what it has
	k := page.KeyOf(deletedURL)
	at := time.Now().Add(-time.Minute).UTC().Truncate(time.Millisecond)
	readHere(t, s, at, nil)
	if err := s.DeletePage(k); err != nil {
		t.Fatal(err)
	}
	before := &row{key: k, fetchedAt: at, hash: "one"}
	if readHere(t, s, at, before.replaces) {
		t.Error("the reading from before the deletion brings the page back")
	}
	f := &Fleet{o: Options{Store: s}}
	for _, c := range []struct {
		name string
		at   time.Time
		want string
	}{
		{"was taken over by a program that knew of no deletion", at, store.JobDeleted},
		{"was read after its deletion", time.Now().Add(time.Minute), store.JobStored},
	} {
		readHere(t, s, c.at, func(store.Known) bool { return true })
		jobs, err := s.Jobs(Consumer, batchPages)
		if err != nil {
			t.Fatal(err)
		}
		newest, err := f.newestOf(jobs)
		if err != nil || newest[k].Kind != c.want {
			t.Errorf("a page that %s: told is %+v, %v, want %s", c.name, newest[k], err, c.want)
		}
		if _, err := s.Page(k); (c.want == store.JobDeleted) != errors.Is(err, store.ErrNotFound) {
			t.Errorf("a page that %s: %v", c.name, err)
		}
	}
}

// A deletion that is taken over happened when it did elsewhere: it is no newer one that would delete what was read
// since, by whatever clock.
func TestADeletionThatIsTakenOverIsNoNewOne(t *testing.T) {
	s, err := store.Open(store.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close() //nolint:errcheck // a test of what it has
	k := page.KeyOf(deletedURL)
	at := time.Now().Add(-time.Hour).UTC().Truncate(time.Millisecond)
	readHere(t, s, at, nil)
	gone := at.Add(time.Minute)
	deletion := &row{key: k, fetchedAt: gone, goneAt: &gone}
	if deleted, err := s.ImportDeletion(k, gone, deletion.replaces); !deleted || err != nil {
		t.Fatalf("deleted %v, %v", deleted, err)
	}
	jobs, err := s.Jobs(Consumer, batchPages)
	if err != nil || len(jobs) != 1 || !jobs[0].Time.Equal(gone) {
		t.Errorf("the change log has %+v, %v, want the deletion of %v", jobs, err, gone)
	}
	after := &row{key: k, fetchedAt: gone.Add(time.Millisecond), hash: "one"}
	if !readHere(t, s, after.fetchedAt, after.replaces) {
		t.Error("what another node read a millisecond after the deletion is not taken over")
	}
	if deleted, err := s.ImportDeletion(k, gone, deletion.replaces); deleted || err != nil {
		t.Errorf("an older deletion: deleted %v, %v", deleted, err)
	}
}
