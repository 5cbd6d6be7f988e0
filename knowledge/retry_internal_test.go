package knowledge

import (
	"errors"
	"testing"
	"time"

	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

func TestDocumentThatFailsIsTriedFourTimes(t *testing.T) {
	s, err := store.Open(store.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatalf("open store: %v", err)
	}
	defer s.Close() //nolint:errcheck // nothing in it is needed again
	var r retries
	r.load(s.Records())
	key := page.KeyOf("https://a.test/")
	now := time.Unix(1_000_000, 0)
	for i := range 3 {
		wait := time.Second << i
		if !r.due(key, now) || !r.add(&task{key: key}, errors.New("cause"), now) {
			t.Fatalf("attempt %d: it is not tried again", i+1)
		}
		if r.due(key, now.Add(wait-1)) || r.wait(now) != wait {
			t.Errorf("attempt %d: it is due again in %v, want %v", i+1, r.wait(now), wait)
		}
		now = now.Add(wait)
	}
	if r.add(&task{key: key}, errors.New("cause"), now) {
		t.Errorf("after four attempts it is tried again")
	}
	cause := errors.New("cause")
	c, ok := r.settle(key, cause)
	if !ok || c.Gone || r.failed() != 1 || r.len() != 0 {
		t.Errorf("given up: change %+v, %d failed, %d waiting", c, r.failed(), r.len())
	}
	if err := s.Records().Apply(c); err != nil {
		t.Fatalf("Apply: %v", err)
	}
	r.load(s.Records())
	if r.failed() != 1 {
		t.Errorf("%d failed after loading again, want 1", r.failed())
	}
	if c, ok := r.settle(key, nil); !ok || !c.Gone || r.failed() != 0 {
		t.Errorf("indexed at last: change %+v, %d failed", c, r.failed())
	}
	if r.add(&task{key: key, jobs: []store.Job{{Attempts: 7}}}, cause, now) {
		t.Errorf("attempts of an earlier process do not count")
	}
}
