package store_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/readthru/readthru/store"
)

func TestViewsOutliveTheStoreAndAreBounded(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, store.Options{Dir: dir})
	put := func(user, name, filter string) (store.View, error) {
		t.Helper()
		return s.PutView(store.View{User: user, Name: name, Filter: filter}, time.Now())
	}
	first, err := put("", "Mine", "host:a.test")
	if err != nil {
		t.Fatal(err)
	}
	second, err := put("", "mine", "host:b.test") // in its place
	if err != nil || first.ID == second.ID {
		t.Fatalf("%v, %+v", err, second)
	}
	if _, err := put("ann", "Mine", "host:c.test"); err != nil { // another person's
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openStore(t, store.Options{Dir: dir})
	if got := s.Views(); len(got) != 2 || got[0] != second || got[1].User != "ann" {
		t.Errorf("views: %+v", got)
	}
	for user, id := range map[string]string{"": first.ID, "ann": second.ID} {
		if err := s.DeleteView(user, id); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%q deletes what is gone, or another's: %v", user, err)
		}
	}
	for i := range 49 {
		if _, err := put("", fmt.Sprint("view ", i), "guide"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := put("", "one more", "guide"); !errors.Is(err, store.ErrViews) {
		t.Errorf("the 51st: %v", err)
	}
	if _, err := put("", "MINE", "host:d.test"); err != nil {
		t.Errorf("one in the place of another: %v", err)
	}
	if _, err := put("ann", "her second", "guide"); err != nil {
		t.Errorf("another person's: %v", err)
	}
}
