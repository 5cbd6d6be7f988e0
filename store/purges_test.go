package store_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/readthru/readthru/store"
)

func TestPurgesAreKeptUntilTheyAreTold(t *testing.T) {
	dir := t.TempDir()
	open := func() *store.Store {
		s, err := store.Open(store.Options{Dir: dir, Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := open()
	purge := func(url string) {
		if _, err := s.DeleteResponses(url); err != nil {
			t.Fatal(err)
		}
	}
	purge("https://a.test/before") // nobody is to be told
	if err := s.TellPurges(true); err != nil {
		t.Fatal(err)
	}
	if list := s.Purges(); len(list) != 0 {
		t.Errorf("at first: %v", list)
	}
	purge("https://a.test/1")
	purge("https://a.test/1")
	purge("https://a.test/?token=hunter2-hunter2")
	purge("http://127.0.0.1/")
	if _, err := s.DeleteHostResponses("B.test"); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open()
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	if err := s.TellPurges(true); err != nil {
		t.Fatal(err)
	}
	told := map[string]string{}
	for _, p := range s.Purges() {
		told[p.Kind] = p.Value
	}
	if len(s.Purges()) != 2 || told[store.PurgeURL] != "https://a.test/1" || told[store.PurgeHost] != "b.test" {
		t.Errorf("after a restart: %v", s.Purges())
	}
	list := s.Purges()
	purge("https://a.test/1") // again, while the first is being told
	if err := s.ToldPurges(list); err != nil {
		t.Fatal(err)
	}
	if list := s.Purges(); len(list) != 1 || list[0].Kind != store.PurgeURL {
		t.Errorf("after they were told: %v", list)
	}
	if err := s.TellPurges(false); err != nil || len(s.Purges()) != 0 {
		t.Errorf("after it ended: %v, %v", s.Purges(), err)
	}
}

// A node of a fleet begins to tell again whenever it has reached the database again.
func TestNoPurgeIsLostWhileTellingBegins(t *testing.T) {
	s, err := store.Open(store.Options{Dir: t.TempDir(), Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	if err := s.TellPurges(true); err != nil {
		t.Fatal(err)
	}
	const n = 200
	purged := make(chan struct{})
	go func() {
		defer close(purged)
		for i := range n {
			if _, err := s.DeleteResponses(fmt.Sprint("https://a.test/", i)); err != nil {
				t.Error(err)
			}
		}
	}()
	for over := false; !over; {
		if err := s.TellPurges(true); err != nil {
			t.Fatal(err)
		}
		select {
		case <-purged:
			over = true
		default:
		}
	}
	if list := s.Purges(); len(list) != n {
		t.Errorf("%d of %d purges are to be told", len(list), n)
	}
}

func TestAPurgeOfAnotherStoreRemovesWhatItCovers(t *testing.T) {
	s, err := store.Open(store.Options{Dir: t.TempDir(), Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	now := time.Now().UTC()
	put := func(url string, age time.Duration) {
		r := &store.Response{
			URL: url, Status: http.StatusOK, Header: http.Header{}, Tags: []string{"blue"}, ResponseTime: now.Add(-age),
		}
		if err := s.PutResponse(r, strings.NewReader("x"), nil); err != nil {
			t.Fatal(err)
		}
	}
	const old, young, other = "https://a.test/x/old", "https://a.test/x/young", "https://b.test/old"
	for _, tt := range []struct {
		purge store.Purge
		left  string
	}{
		{store.Purge{Kind: store.PurgeURL, Value: old}, young + " " + other},
		{store.Purge{Kind: store.PurgeURL, Value: young}, old + " " + young + " " + other},
		{store.Purge{Kind: store.PurgePrefix, Value: "https://a.test/x/"}, young + " " + other},
		{store.Purge{Kind: store.PurgePrefix, Value: "nonsense"}, old + " " + young + " " + other},
		{store.Purge{Kind: store.PurgeHost, Value: "a.test"}, young + " " + other},
		{store.Purge{Kind: store.PurgeHost, Value: "a/b"}, old + " " + young + " " + other},
		{store.Purge{Kind: store.PurgeTag, Value: "blue"}, young},
		{store.Purge{Kind: store.PurgeTag, Value: ""}, old + " " + young + " " + other},
		{store.Purge{Kind: store.PurgeAll}, young},
		{store.Purge{Kind: "unknown"}, old + " " + young + " " + other},
	} {
		put(old, time.Hour)
		put(young, 0)
		put(other, time.Hour)
		tt.purge.At = now.Add(-time.Minute)
		if err := s.ApplyPurge(tt.purge); err != nil {
			t.Errorf("%+v: %v", tt.purge, err)
		}
		var left []string
		for _, url := range []string{old, young, other} {
			if list, _ := s.Responses(url); len(list) > 0 {
				left = append(left, url)
			}
		}
		if got := strings.Join(left, " "); got != tt.left {
			t.Errorf("%+v leaves %s, want %s", tt.purge, got, tt.left)
		}
	}
}
