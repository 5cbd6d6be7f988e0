package meaning

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/readthru/readthru/knowledge/storetest"

	"github.com/readthru/readthru/knowledge/meaning/embedtest"

	"github.com/readthru/readthru/internal/eventually"
	"github.com/readthru/readthru/knowledge/index"
)

func TestWhatMeansTheSameIsFound(t *testing.T) {
	e, s := embedtest.New(t), newShelf()
	n := s.put("the car is red", "a doctor helps", "you buy bread")
	v, _ := start(t, storetest.Open(t).Records(), s, embedtest.Model(t, e.URL, "m"))
	eventually.True(t, "three vectors", settled(v, 3))
	for query, want := range map[string]uint32{"automobile": n[0], "physician": n[1], "purchase": n[2]} {
		if got := first(t, v, query); got != want {
			t.Errorf("nearest to %q is passage %d, want %d", query, got, want)
		}
	}
	list, err := v.nearest(t.Context(), "automobile", 3, func(p uint32) bool { return p == n[2] })
	if err != nil || len(list) != 1 || list[0].Passage != n[2] {
		t.Errorf("with one passage allowed: %v, %v, want that", list, err)
	}
}

func TestPassagesThatComeAndGo(t *testing.T) {
	e, s, r := embedtest.New(t), newShelf(), storetest.Open(t).Records()
	v, _ := start(t, r, s, embedtest.Model(t, e.URL, "m"))
	n := s.put("the car is red", "a doctor helps")
	v.Changed(n, nil)
	eventually.True(t, "two vectors", settled(v, 2))

	s.remove(n[0])
	v.Changed(nil, n[:1])
	eventually.True(t, "one vector", func() bool { return v.State().Vectors == 1 && storedVectors(r) == 1 })
	if got := first(t, v, "automobile"); got != n[1] {
		t.Errorf("nearest is passage %d, which is gone", got)
	}
	again := s.put("the car is red")
	v.Changed(again, nil)
	eventually.True(t, "two vectors", settled(v, 2))
	if got := first(t, v, "automobile"); got != again[0] {
		t.Errorf("nearest is passage %d, want %d in the slot that was free", got, again[0])
	}
}

func TestATextThatComesBackKeepsItsVector(t *testing.T) {
	e, s, r := embedtest.New(t), newShelf(), storetest.Open(t).Records()
	n := s.put("the car is red", "a doctor helps")
	v, _ := start(t, r, s, embedtest.Model(t, e.URL, "m"))
	eventually.True(t, "two vectors", settled(v, 2))
	again := s.put("the car is red")
	s.remove(n[0])
	v.Changed(again, n[:1])
	eventually.True(t, "the vector again", func() bool { return settled(v, 2)() && first(t, v, "automobile") == again[0] })
	if got := e.Count(); got != 3 { // two passages and a query
		t.Errorf("%d texts were embedded, want 3", got)
	}
	if got := storedVectors(r); got != 2 {
		t.Errorf("%d vectors stored, want 2", got)
	}
}

// TestWhatIsSaidOfATextIsEmbeddedWithIt: when it comes the text is embedded anew, once.
func TestWhatIsSaidOfATextIsEmbeddedWithIt(t *testing.T) {
	e, s, r := embedtest.New(t), newShelf(), storetest.Open(t).Records()
	n := s.put("the car is red", "a doctor helps")
	v, stop := start(t, r, s, embedtest.Model(t, e.URL, "m"))
	eventually.True(t, "two vectors", settled(v, 2))
	again := s.put("the car is red")
	s.say(again[0], "vehicles have colours\n")
	s.remove(n[0])
	v.Changed(again, n[:1])
	eventually.True(t, "a vector with it", func() bool { return e.About("colours") == 1 && settled(v, 2)() })
	stop()
	v, _ = start(t, r, s, embedtest.Model(t, e.URL, "m"))
	eventually.True(t, "both after a restart", settled(v, 2))
	again2 := s.put("the car is red")
	s.say(again2[0], "vehicles have colours\n")
	s.remove(again[0])
	v.Changed(again2, again)
	eventually.True(t, "the same again", func() bool { return settled(v, 2)() && first(t, v, "automobile") == again2[0] })
	if got := e.About("colours"); got != 1 {
		t.Errorf("embedded %d times with it, want once", got)
	}
}

func TestARestartEmbedsNothingAgainAndFindsWhatIsMissing(t *testing.T) {
	e, s, r := embedtest.New(t), newShelf(), storetest.Open(t).Records()
	n := s.put("the car is red", "a doctor helps")
	v, stop := start(t, r, s, embedtest.Model(t, e.URL, "m"))
	eventually.True(t, "two vectors", settled(v, 2))
	stop()
	s.remove(n[0])
	s.put("you buy bread")
	v, _ = start(t, r, s, embedtest.Model(t, e.URL, "m"))
	eventually.True(t, "two vectors", settled(v, 2))
	eventually.True(t, "what is gone deleted", func() bool { return storedVectors(r) == 2 })
	if got := e.Count(); got != 3 {
		t.Errorf("%d texts were embedded in all, want 3", got)
	}
}

func TestAnIndexThatIsMadeAnewKeepsItsVectors(t *testing.T) {
	e, s, r := embedtest.New(t), newShelf(), storetest.Open(t).Records()
	s.put("the car is red", "a doctor helps")
	v, stop := start(t, r, s, embedtest.Model(t, e.URL, "m"))
	eventually.True(t, "two vectors", settled(v, 2))
	v.Changed(nil, s.clear())
	eventually.True(t, "none in memory", settled(v, 0))
	stop()
	v, _ = start(t, r, s, embedtest.Model(t, "http://127.0.0.1:1", "m")) // also over a restart, and with the endpoint down
	eventually.True(t, "the vectors of the space", func() bool { return v.State().Dimension == 64 })
	v.Changed(s.put("a doctor helps", "the car is red"), nil)
	eventually.True(t, "two vectors", settled(v, 2))
	if got := e.Count(); got != 2 {
		t.Errorf("%d texts were embedded, want 2", got)
	}
}

func TestAnotherModelEmbedsAnewAndTheOldVectorsGo(t *testing.T) {
	e, s, r := embedtest.New(t), newShelf(), storetest.Open(t).Records()
	n := s.put("the car is red", "a doctor helps")
	v, stop := start(t, r, s, embedtest.Model(t, e.URL, "old"))
	eventually.True(t, "two vectors", settled(v, 2))
	stop()
	e.Set(96, nil)
	v, _ = start(t, r, s, embedtest.Model(t, e.URL, "new"))
	eventually.True(t, "two vectors of the new model alone", func() bool {
		s := v.State()
		return s.Vectors == 2 && s.Dimension == 96 && storedVectors(r) == 2
	})
	if got := first(t, v, "automobile"); got != n[0] {
		t.Errorf("nearest is passage %d, want %d", got, n[0])
	}
}

func TestAnotherDimensionIsNeverMixed(t *testing.T) {
	e, s, r := embedtest.New(t), newShelf(), storetest.Open(t).Records()
	s.put("the car is red")
	v, stop := start(t, r, s, embedtest.Model(t, e.URL, "m"))
	eventually.True(t, "a vector", settled(v, 1))
	e.Set(32, nil)
	v.Changed(s.put("a doctor helps"), nil)
	eventually.True(t, "the background to wait", func() bool { return strings.Contains(v.State().Trouble, "numbers") })
	if _, err := v.nearest(t.Context(), "automobile", 3, nil); err == nil {
		t.Error("a query of another dimension is answered")
	}
	if got := v.State(); got.Vectors != 1 || got.Waiting != 1 || got.Dimension != 64 {
		t.Errorf("state = %+v, want the one vector kept and the other passage waiting", got)
	}
	stop()
	v, _ = start(t, r, s, embedtest.Model(t, e.URL, "m"))
	eventually.True(t, "all of the new dimension after a restart", func() bool {
		s := v.State()
		return s.Vectors == 2 && s.Dimension == 32 && storedVectors(r) == 2
	})
}

func TestADeadEndpointLosesNothing(t *testing.T) {
	e, s, r := embedtest.New(t), newShelf(), storetest.Open(t).Records()
	var down sync.Map
	down.Store("now", true)
	e.Set(64, func(w http.ResponseWriter, _ []string) bool {
		if _, ok := down.Load("now"); ok {
			http.Error(w, `{"error":{"message":"loading"}}`, http.StatusServiceUnavailable)
			return true
		}
		return false
	})
	s.put("the car is red")
	v, _ := start(t, r, s, embedtest.Model(t, e.URL, "m"))
	eventually.True(t, "the background to wait", func() bool { return strings.Contains(v.State().Trouble, "503") })
	if _, err := v.nearest(t.Context(), "automobile", 3, nil); err == nil || strings.Contains(err.Error(), "not ready") {
		t.Errorf("nearest: %v, want the endpoint's error, not the end of patience", err)
	}
	down.Delete("now")
	eventually.True(t, "the vector", settled(v, 1))
	if got := v.State().Trouble; got != "" {
		t.Errorf("trouble = %q, want none any more", got)
	}
}

func TestASlowModelDoesNotHoldUpASearch(t *testing.T) {
	e, s := embedtest.New(t), newShelf()
	s.put("the car is red")
	v, _ := start(t, storetest.Open(t).Records(), s, embedtest.Model(t, e.URL, "m"))
	eventually.True(t, "a vector", settled(v, 1))
	release := make(chan struct{})
	var asked atomic.Int64
	e.Set(64, func(http.ResponseWriter, []string) bool {
		asked.Add(1)
		<-release
		return false
	})
	for i := range 2 * queriesAtOnce {
		if _, err := v.nearest(t.Context(), fmt.Sprint("automobile ", i), 3, nil); err == nil {
			t.Error("a query without a vector is answered")
		}
	}
	if n := asked.Load(); n > queriesAtOnce {
		t.Errorf("%d of %d searches wait for the model: those beyond the first %d should not", n, 2*queriesAtOnce,
			queriesAtOnce)
	}
	close(release)
	eventually.True(t, "the late vector to be of use", func() bool {
		list, err := v.nearest(t.Context(), "automobile 0", 3, nil)
		return err == nil && len(list) == 1
	})
}

func TestOneTextThatTheModelRefusesHoldsUpNoOther(t *testing.T) {
	e, s := embedtest.New(t), newShelf()
	e.Set(64, func(w http.ResponseWriter, texts []string) bool {
		if strings.Contains(strings.Join(texts, " "), "poison") {
			http.Error(w, `{"error":{"message":"input is too long"}}`, http.StatusBadRequest)
			return true
		}
		return false
	})
	for i := range 20 {
		s.put(fmt.Sprint("passage number ", i))
	}
	s.put("poison")
	for i := range 20 {
		s.put(fmt.Sprint("further passage ", i))
	}
	v, _ := start(t, storetest.Open(t).Records(), s, embedtest.Model(t, e.URL, "m"))
	eventually.True(t, "all vectors but one", settled(v, 40))
	if got := v.State().Withheld; got != 1 {
		t.Errorf("withheld = %d, want 1", got)
	}
}

func TestAnEndpointThatRefusesEverythingIsWaitedFor(t *testing.T) {
	e, s := embedtest.New(t), newShelf()
	e.Set(64, func(w http.ResponseWriter, _ []string) bool {
		http.Error(w, `{"error":{"message":"this model does not support embeddings"}}`, http.StatusBadRequest)
		return true
	})
	s.put("one", "two", "three")
	v, _ := start(t, storetest.Open(t).Records(), s, embedtest.Model(t, e.URL, "m"))
	eventually.True(t, "the background to wait", func() bool {
		return strings.Contains(v.State().Trouble, "does not support")
	})
	if got := v.State(); got.Waiting != 3 || got.Withheld != 0 {
		t.Errorf("state = %+v, want all three waiting", got)
	}
}

func TestManyPassagesGetABetterCentreOnTheWay(t *testing.T) {
	e, s := embedtest.New(t), newShelf()
	for i := range 300 {
		s.put(fmt.Sprintf("passage about subject%d and matter%d", i, i))
	}
	v, _ := start(t, storetest.Open(t).Records(), s, embedtest.Model(t, e.URL, "m"))
	eventually.True(t, "300 vectors", settled(v, 300))
	v.mu.RLock()
	sample := v.sample
	v.mu.RUnlock()
	if sample < 75 {
		t.Errorf("the centre is the mean of %d vectors, want a quarter of 300 at least", sample)
	}
	for _, i := range []uint32{0, 123, 299} {
		if got := first(t, v, fmt.Sprintf("subject%d matter%d", i, i)); got != i {
			t.Errorf("nearest is passage %d, want %d", got, i)
		}
	}
}

func TestTheLedgerTellsWhatWasEmbeddedWithoutSecrets(t *testing.T) {
	p := index.Passage{Doc: index.Document{URL: "https://a.test/?token=s3cr3tvalue12345"}}
	list := []index.Passage{p, p}
	for i := range 4 {
		list = append(list, index.Passage{Doc: index.Document{URL: fmt.Sprintf("https://b.test/%d", i)}})
	}
	got := index.AboutPassages(list)
	if strings.Contains(got, "s3cr3t") || !strings.Contains(got, "https://b.test/0") ||
		!strings.HasSuffix(got, "and 2 more documents") {
		t.Errorf("about = %q", got)
	}
}

func TestVectorsSwitchedOff(t *testing.T) {
	v := New(Options{})
	v.Changed([]uint32{1}, nil)
	if err := v.Run(t.Context()); err != nil || v.State() != nil {
		t.Errorf("without a model: %v, %v", err, v.State())
	}
	v.Close()
}
