package store_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

var monday = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

func learn(t *testing.T, s *store.Store, host string, trait store.Trait, client string,
	at time.Time,
) (store.Fact, bool) {
	t.Helper()
	var f store.Fact
	var news bool
	for n := range 3 { // enough cases for each trait
		again, isNews, err := s.Learn(host, trait, client, fmt.Sprint("page ", n), at)
		if err != nil {
			t.Fatal(err)
		}
		f, news = again, news || isNews
	}
	return f, news
}

func TestOneOddPageSaysNothingAboutItsHost(t *testing.T) {
	for _, trait := range []store.Trait{store.MarkdownOff, store.NeedsBrowser} {
		s := openStore(t, store.Options{})
		for n, tt := range []struct {
			about string
			after time.Duration
			holds bool
		}{
			{"/odd", 0, false},
			{"/odd", time.Minute, false},
			{"/odd", time.Hour, false},
			{"/other", 2 * time.Hour, false},
			{"/third", 3 * time.Hour, true},
			{"/fourth", 4 * time.Hour, true},
		} {
			at := monday.Add(tt.after)
			f, news, err := s.Learn("a.test", trait, "", tt.about, at)
			h, _ := s.Host("a.test")
			if err != nil || f.Holds(at) != tt.holds || h.Knows(trait, at) != tt.holds ||
				news != (tt.about == "/third") {
				t.Errorf("%s, case %d: %+v, news %t, %v; want it to hold: %t", trait, n, f, news, err, tt.holds)
			}
		}
	}
}

func TestCasesFarApartAreNoneOfOneFact(t *testing.T) {
	s := openStore(t, store.Options{})
	for n := range 9 {
		at := monday.Add(time.Duration(n) * 11 * time.Hour)
		if f, _, err := s.Learn("a.test", store.MarkdownOff, "", fmt.Sprint("page ", n), at); err != nil ||
			n < 2 && f.Holds(at) {
			t.Errorf("page %d: %+v, %v", n, f, err)
		}
		if h, _ := s.Host("a.test"); n == 0 && (len(h.Facts) != 1 || len(h.Holding(at)) != 0) {
			t.Errorf("after one page: %+v", h)
		}
	}
	s = openStore(t, store.Options{})
	for n := range 9 {
		at := monday.Add(time.Duration(n) * 25 * time.Hour)
		f, _, err := s.Learn("a.test", store.MarkdownOff, "", fmt.Sprint("page ", n), at)
		if err != nil || f.Holds(at) {
			t.Errorf("page %d, a day after the one before: %+v, %v", n, f, err)
		}
	}
	if n, err := s.Forget("a.test", monday, func(store.Fact) bool { return true }); n != 0 || err != nil {
		t.Errorf("forgot %d, %v: nothing held", n, err)
	}
	if h, _ := s.Host("a.test"); len(h.Facts) != 0 {
		t.Errorf("left: %+v", h)
	}
}

func TestARejectionHoldsForTenMinutesAndTwiceAsLongEachTime(t *testing.T) {
	s := openStore(t, store.Options{})
	at := monday
	for n, minutes := range []int{10, 20, 40, 80, 160, 320, 640, 1280, 1440, 1440} {
		want := time.Duration(minutes) * time.Minute
		f, news := learn(t, s, "a.test", store.RejectsCA, "curl", at)
		if !news || f.Until.Sub(at) != want || f.Times != n+1 {
			t.Fatalf("rejection %d at %s: %+v, %t, want it to hold for %s", n+1, at, f, news, want)
		}
		// the client's other connections, which were open already
		again, news := learn(t, s, "a.test", store.RejectsCA, "curl", at.Add(want/4))
		if news || !again.Until.Equal(f.Until) {
			t.Fatalf("another connection is news: %+v, %t", again, news)
		}
		if f.Holds(f.Until) || !f.Holds(f.Until.Add(-1)) {
			t.Fatalf("%+v does not hold until its end", f)
		}
		at = f.Until.Add(time.Minute)
	}
	if f, _ := learn(t, s, "a.test", store.RejectsCA, "curl", at.Add(3*24*time.Hour)); f.Times != 1 {
		t.Errorf("a rejection after two days of none: %+v, want it to count anew", f)
	}
}

func TestARejectionIsOfOneClientAndHost(t *testing.T) {
	s := openStore(t, store.Options{})
	learn(t, s, "a.test", store.RejectsCA, "curl", monday)
	learn(t, s, "b.test", store.RejectsCA, "wget", monday)
	for _, tt := range []struct {
		host, client string
		want         bool
	}{{"a.test", "curl", true}, {"a.test", "wget", false}, {"b.test", "curl", false}, {"a.test", "", false}} {
		h, err := s.Host(tt.host)
		if _, got := h.Fact(store.RejectsCA, tt.client); err != nil || got != tt.want {
			t.Errorf("%s at %s: %t, %v, want %t", tt.client, tt.host, got, err, tt.want)
		}
	}
}

func TestNothingIsBelievedForLongerAfterTheClockWasSetBack(t *testing.T) {
	s := openStore(t, store.Options{})
	ahead := time.Now().AddDate(10, 0, 0)
	learn(t, s, "a.test", store.RejectsCA, "curl", ahead)
	h, err := s.Host("a.test")
	f, known := h.Fact(store.RejectsCA, "curl")
	if err != nil || !known || !f.Holds(ahead) || f.Holds(time.Now()) {
		t.Fatalf("learnt ten years ahead: %+v, %v, holds now %v", f, err, f.Holds(time.Now()))
	}
	again, _ := learn(t, s, "a.test", store.RejectsCA, "curl", time.Now())
	if left := time.Until(again.Until); !again.Holds(time.Now()) || left > time.Hour {
		t.Errorf("learnt again: %+v, for %v", again, left)
	}
}

func TestWhatIsLearntCanBeForgotten(t *testing.T) {
	s := openStore(t, store.Options{})
	for _, host := range []string{"a.test", "b.test"} {
		learn(t, s, host, store.RejectsCA, "curl", monday)
		learn(t, s, host, store.NeedsBrowser, "", monday)
	}
	rejections := func(f store.Fact) bool { return f.Trait == store.RejectsCA }
	if n, err := s.ForgetEverywhere(monday.Add(time.Minute), rejections); n != 2 || err != nil {
		t.Errorf("forgot %d, %v, want 2", n, err)
	}
	if n, err := s.Forget("a.test", monday, func(store.Fact) bool { return true }); n != 1 || err != nil {
		t.Errorf("forgot %d, %v, want 1", n, err)
	}
	got := map[string]int{}
	if err := s.Hosts(func(name string, h store.Host) bool { got[name] = len(h.Facts); return true }); err != nil ||
		len(got) != 1 || got["b.test"] != 1 {
		t.Errorf("left: %v, %v, want one fact of b.test", got, err)
	}
	if _, err := s.Forget("no/host", monday, rejections); err == nil {
		t.Error("a name that is no host is accepted")
	}
}

func TestAHostHasABoundedNumberOfFacts(t *testing.T) {
	s := openStore(t, store.Options{})
	for i := range 300 {
		learn(t, s, "a.test", store.RejectsCA, fmt.Sprint("client ", i), monday)
	}
	h, err := s.Host("a.test")
	if err != nil || len(h.Facts) != 256 {
		t.Errorf("%d facts, %v, want 256", len(h.Facts), err)
	}
	if _, known := h.Fact(store.RejectsCA, "client 299"); !known {
		t.Error("the last client is forgotten")
	}
	// those that have ended go first
	learn(t, s, "a.test", store.RejectsCA, "late", monday.Add(time.Hour))
	if h, _ = s.Host("a.test"); len(h.Facts) != 1 {
		t.Errorf("%d facts, want only the one that holds", len(h.Facts))
	}
}

func TestTheSweepRemovesFactsThatEndedLongAgo(t *testing.T) {
	s := openStore(t, store.Options{})
	now := time.Now()
	learn(t, s, "ended.test", store.RejectsCA, "curl", now.Add(-25*time.Hour))
	learn(t, s, "half.test", store.RejectsCA, "curl", now.Add(-25*time.Hour))
	learn(t, s, "half.test", store.RejectsCA, "wget", now.Add(-23*time.Hour)) // it ended, but counts if it comes again
	learn(t, s, "holds.test", store.NeedsBrowser, "", now.Add(-25*time.Hour))
	if _, err := s.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	var got []string
	if err := s.Hosts(func(name string, h store.Host) bool {
		got = append(got, fmt.Sprint(name, " ", len(h.Facts)))
		return true
	}); err != nil {
		t.Fatal(err)
	}
	if want := []string{"half.test 1", "holds.test 1"}; !slices.Equal(got, want) {
		t.Errorf("left: %q, want %q", got, want)
	}
}

func TestTheLaterFactOfTwoStoresCounts(t *testing.T) {
	const host = "docs.test"
	fact := func(since time.Duration, times int) store.Fact {
		return store.Fact{
			Trait: store.Negotiates, Since: monday.Add(since), Until: monday.Add(since + 24*time.Hour), Times: times,
		}
	}
	for _, tt := range []struct {
		name      string
		own, take store.Fact
		want      int // how often it was learnt, of the fact that is kept
	}{
		{"it is new", store.Fact{}, fact(0, 7), 7},
		{"it is later", fact(-time.Hour, 3), fact(0, 7), 7},
		{"it is earlier", fact(0, 3), fact(-time.Hour, 7), 3},
		{"the own one has ended", fact(-25*time.Hour, 3), fact(-time.Hour, 7), 7},
		{"it has ended", fact(-time.Hour, 3), fact(-25*time.Hour, 7), 3},
	} {
		s := openStore(t, store.Options{})
		for _, f := range []store.Fact{tt.own, tt.take} {
			now := monday
			if f.Times == tt.own.Times {
				now = f.Since
			}
			if err := s.TakeFact(host, f, now); err != nil {
				t.Fatal(err)
			}
		}
		h, err := s.Host(host)
		if f, known := h.Fact(store.Negotiates, ""); err != nil || !known || f.Times != tt.want || len(h.Facts) != 1 {
			t.Errorf("%s: %+v, %v; want one that was learnt %d times", tt.name, h, err, tt.want)
		}
	}
}

func TestHostsAreFoundByTheirNameAndForgotten(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, store.Options{Dir: dir})
	visit := func(url string) {
		s.AddVisit(page.KeyOf(url), store.Visit{URL: url, Source: page.Local})
	}
	for _, host := range []string{"a.test", "a.test:8080", "a.test.example", "b.a.test", "[::1]:80", "[::1]"} {
		visit("https://" + host + "/")
	}
	for _, c := range []struct {
		name string
		want []string
	}{
		{"a.test", []string{"a.test", "a.test:8080"}},
		{"::1", []string{"[::1]", "[::1]:80"}},
		{"test", nil},
	} {
		if got := s.HostsNamed(c.name); !slices.Equal(got, c.want) {
			t.Errorf("HostsNamed(%q) = %q, want %q", c.name, got, c.want)
		}
	}
	visit("https://a.test/again")
	for range 2 {
		if err := s.DeleteHostTotal("a.test"); err != nil {
			t.Fatal(err)
		}
		if got := s.HostTotal("a.test"); got.Visits != 0 {
			t.Errorf("%d visits are counted", got.Visits)
		}
		closeStore(t, s)
		s = openStore(t, store.Options{Dir: dir})
	}
	if got, want := s.HostsNamed("a.test"), []string{"a.test:8080"}; !slices.Equal(got, want) {
		t.Errorf("left are %q, want %q", got, want)
	}
	visit("https://a.test/later")
	if got := s.HostTotal("a.test"); got.Visits != 1 {
		t.Errorf("%d visits are counted, want the later one", got.Visits)
	}
}

func TestCountersHostsAndLedgerSurvive(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, store.Options{Dir: dir})
	if got := s.Count("markdown.new", "2026-01-01", 2); got != 2 {
		t.Errorf("Count = %d, want 2", got)
	}
	if _, _, err := s.Learn("A.test", store.Twins, "", "", time.Now()); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		d := store.Disclosure{Service: "markdown.new", URL: fmt.Sprint("https://a.test/", i)}
		if err := s.Disclose(d); err != nil {
			t.Fatal(err)
		}
	}
	closeStore(t, s)
	s = openStore(t, store.Options{Dir: dir})
	if got := s.Count("markdown.new", "2026-01-01", 3); got != 5 {
		t.Errorf("Count = %d, want 5", got)
	}
	if h, err := s.Host("a.test"); err != nil || !h.Knows(store.Twins, time.Now()) {
		t.Errorf("Host = %+v, %v", h, err)
	}
	var names []string
	if err := s.Hosts(func(name string, _ store.Host) bool { names = append(names, name); return true }); err != nil ||
		!slices.Equal(names, []string{"a.test"}) {
		t.Errorf("Hosts = %v, %v", names, err)
	}
	first, next, err := s.Disclosures("", 2)
	if err != nil || len(first) != 2 || first[0].URL != "https://a.test/2" || next == "" {
		t.Fatalf("Disclosures = %v, %q, %v", first, next, err)
	}
	if rest, next, err := s.Disclosures(next, 2); err != nil || len(rest) != 1 || next != "" {
		t.Errorf("the rest = %v, %q, %v", rest, next, err)
	}
}
