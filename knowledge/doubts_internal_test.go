package knowledge

import (
	"errors"
	"testing"
	"time"

	"readthru/page"
	"readthru/store"
)

func TestDocumentThatFailsIsTriedFiveTimes(t *testing.T) {
	s, err := store.Open(store.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatalf("open store: %v", err)
	}
	defer s.Close() //nolint:errcheck // nothing in it is needed again
	var d doubts
	d.load(s.Records())
	key := page.KeyOf("https://a.test/")
	now := time.Unix(1_000_000, 0)
	for i := range 4 {
		wait := time.Second << i
		if !d.due(key, now) || !d.again(&task{key: key}, now) {
			t.Fatalf("attempt %d: it is not tried again", i+1)
		}
		if d.due(key, now.Add(wait-1)) || d.next(now) != wait {
			t.Errorf("attempt %d: it is due again in %v, want %v", i+1, d.next(now), wait)
		}
		now = now.Add(wait)
	}
	if d.again(&task{key: key}, now) {
		t.Errorf("after five attempts it is tried again")
	}
	cause := errors.New("cause")
	c, ok := d.settle(key, cause)
	if !ok || c.Gone || d.failed() != 1 || d.waiting() != 0 {
		t.Errorf("given up: change %+v, %d failed, %d waiting", c, d.failed(), d.waiting())
	}
	if err := s.Records().Apply(c); err != nil {
		t.Fatalf("Apply: %v", err)
	}
	d.load(s.Records())
	if d.failed() != 1 {
		t.Errorf("%d failed after loading again, want 1", d.failed())
	}
	if c, ok := d.settle(key, nil); !ok || !c.Gone || d.failed() != 0 {
		t.Errorf("indexed at last: change %+v, %d failed", c, d.failed())
	}
	if d.again(&task{key: key, jobs: []store.Job{{Attempts: 7}}}, now) {
		t.Errorf("attempts of an earlier process do not count")
	}
}
