package store_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/readthru/readthru/store"
)

func TestNothingIsDisclosedToAServiceThatIsOff(t *testing.T) {
	dir := t.TempDir()
	s, err := store.Open(store.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.SwitchService("a", true); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = store.Open(store.Options{Dir: dir}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() }) // nothing is written after it
	if err := s.Disclose(store.Disclosure{Service: "a"}); !errors.Is(err, store.ErrServiceOff) {
		t.Errorf("Disclose = %v, want ErrServiceOff", err)
	}
	if err := s.Disclose(store.Disclosure{Service: "b"}); err != nil {
		t.Errorf("Disclose to another service = %v", err)
	}
	if err := s.SwitchService("a", false); err != nil || s.ServiceOff("a") {
		t.Errorf("SwitchService = %v", err)
	}
	if err := s.Disclose(store.Disclosure{Service: "a"}); err != nil {
		t.Errorf("Disclose to a service that is on again = %v", err)
	}
}

func TestDisclosuresAreSummedByDayServiceAndHost(t *testing.T) {
	s := openStore(t, store.Options{})
	day := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, d := range []store.Disclosure{
		{Time: day.AddDate(0, 0, -9), Service: "x", URL: "https://old.test/"},
		{Time: day.AddDate(0, 0, -1), Service: "x", URL: "https://a.test/1", Bytes: 1},
		{Time: day, Service: "x", URL: "https://a.test/1", Bytes: 2},
		{Time: day.Add(time.Hour), Service: "x", URL: "https://a.test:8443/2", Bytes: 3},
		{Time: day.Add(2 * time.Hour), Service: "y", Bytes: 4},
	} {
		if err := s.Disclose(d); err != nil {
			t.Fatal(err)
		}
	}
	list, more := s.DisclosureTotals(day.AddDate(0, 0, -2), 10)
	want := []store.DisclosureTotal{
		{Day: "2026-03-01", Service: "y", Sent: 1, Bytes: 4, Last: day.Add(2 * time.Hour)},
		{Day: "2026-03-01", Service: "x", Host: "a.test", Sent: 2, Bytes: 5, Last: day.Add(time.Hour)},
		{Day: "2026-02-28", Service: "x", Host: "a.test", Sent: 1, Bytes: 1, Last: day.AddDate(0, 0, -1)},
	}
	if diff := cmp.Diff(want, list); diff != "" || more {
		t.Errorf("DisclosureTotals (-want +got):\n%s; more %v", diff, more)
	}
	if list, more := s.DisclosureTotals(time.Time{}, 2); len(list) != 2 || !more {
		t.Errorf("of the newest two: %+v, more %v", list, more)
	}
}
