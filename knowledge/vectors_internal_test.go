package knowledge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"iter"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"readthru/llm"
	"readthru/page"
	"readthru/store"
)

// shelf stands for the index: passages by number.
type shelf struct {
	mu      sync.Mutex
	list    map[uint32]foundPassage
	next    uint32
	cleared bool
}

func newShelf() *shelf { return &shelf{list: map[uint32]foundPassage{}} }

func (s *shelf) put(texts ...string) (numbers []uint32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, text := range texts {
		p := foundPassage{number: s.next, text: text, hash: passageHash(text)}
		p.doc = Document{Title: "Title", URL: "https://a.test/?token=secret"}
		s.list[s.next] = p
		numbers = append(numbers, s.next)
		s.next++
	}
	return numbers
}

// say has something said of a passage.
func (s *shelf) say(n uint32, said string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.list[n]
	p.said = said
	s.list[n] = p
}

func (s *shelf) remove(n uint32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.list, n)
}

func (s *shelf) passages() iter.Seq2[uint32, [16]byte] {
	return func(yield func(uint32, [16]byte) bool) {
		s.mu.Lock()
		defer s.mu.Unlock()
		for n, p := range s.list {
			if !yield(n, p.hash) {
				return
			}
		}
	}
}

func (s *shelf) passage(n uint32) (foundPassage, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p, ok := s.list[n]; ok {
		return p, nil
	}
	return foundPassage{}, store.ErrNotFound
}

func (s *shelf) byHash(hash [16]byte) (uint32, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for n, p := range s.list {
		if p.hash == hash {
			return n, true
		}
	}
	return 0, false
}

// whole is false while the shelf is cleared.
func (s *shelf) whole() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.cleared
}

// clear takes everything off the shelf, which is to be filled anew until it is whole again.
func (s *shelf) clear() (removed []uint32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for n := range s.list {
		removed = append(removed, n)
	}
	clear(s.list)
	s.cleared = true
	return removed
}

// embedder is an endpoint whose vectors depend on a text's words alone, synonyms being one word: so it knows what means
// the same.
type embedder struct {
	*httptest.Server
	mu        sync.Mutex
	dimension int
	texts     []string // that it was asked for
	instead   func(w http.ResponseWriter, texts []string) bool
}

func newEmbedder(t *testing.T) *embedder {
	t.Helper()
	e := &embedder{dimension: 64}
	e.Server = httptest.NewServer(http.HandlerFunc(e.serve))
	t.Cleanup(e.Close)
	return e
}

// set changes how the endpoint behaves.
func (e *embedder) set(dimension int, instead func(w http.ResponseWriter, texts []string) bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.dimension, e.instead = dimension, instead
}

// about returns how many texts with a word were embedded.
func (e *embedder) about(word string) (n int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, text := range e.texts {
		if strings.Contains(text, word) {
			n++
		}
	}
	return n
}

func (e *embedder) count() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.texts)
}

func (e *embedder) serve(w http.ResponseWriter, r *http.Request) {
	var body struct{ Input []string }
	if json.NewDecoder(r.Body).Decode(&body) != nil {
		http.Error(w, "bad JSON", http.StatusBadRequest)
		return
	}
	e.mu.Lock()
	dimension, instead := e.dimension, e.instead
	e.mu.Unlock()
	if instead != nil && instead(w, body.Input) {
		return
	}
	type datum struct {
		Index     int       `json:"index"`
		Embedding []float32 `json:"embedding"`
	}
	var answer struct {
		Data []datum `json:"data"`
	}
	for i, text := range body.Input {
		answer.Data = append(answer.Data, datum{i, meaningOf(text, dimension)})
	}
	e.mu.Lock()
	e.texts = append(e.texts, body.Input...)
	e.mu.Unlock()
	_ = json.NewEncoder(w).Encode(answer)
}

func meaningOf(text string, dimension int) []float32 {
	synonyms := map[string]string{"automobile": "car", "physician": "doctor", "purchase": "buy"}
	v := make([]float32, dimension)
	for _, word := range append(strings.Fields(strings.ToLower(text)), "title") {
		if s, ok := synonyms[word]; ok {
			word = s
		}
		h := fnv.New64a()
		io.WriteString(h, word)
		rng := rand.New(rand.NewPCG(h.Sum64(), 1))
		for i := range v {
			v[i] += float32(rng.NormFloat64())
		}
	}
	return v
}

func modelAt(tb testing.TB, url, name string) *llm.Client {
	tb.Helper()
	transport := &http.Transport{}
	tb.Cleanup(transport.CloseIdleConnections)
	c, err := llm.New(llm.Options{Provider: llm.OpenAI, BaseURL: url, Model: name, Transport: transport, Attempts: 1})
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

// start runs vectors until the test, or stop, ends them.
func start(t *testing.T, r *store.Records, s *shelf, model *llm.Client) (v *vectors, stop func()) {
	t.Helper()
	v = newVectors(vectorOptions{
		records: r, model: model, passages: s.passages, passage: s.passage, byHash: s.byHash,
		whole: s.whole, log: slog.New(slog.DiscardHandler),
	})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := v.run(ctx); err != nil {
			t.Error(err)
		}
	}()
	var once sync.Once
	stop = func() {
		once.Do(func() {
			cancel()
			<-done
			v.close()
		})
	}
	t.Cleanup(stop)
	return v, stop
}

// eventually waits until something holds, for ten seconds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !holds(); {
		if time.Now().After(deadline) {
			t.Fatalf("not so after ten seconds: %s", what)
		}
		time.Sleep(time.Millisecond)
	}
}

func settled(v *vectors, n int) func() bool {
	return func() bool {
		s := v.state()
		return s.Vectors == n && s.Waiting == 0
	}
}

func storedVectors(r *store.Records) (n int) {
	r.Keys("k/v/", "", func(string) bool {
		n++
		return true
	})
	return n
}

// first returns the passage nearest to a text.
func first(t *testing.T, v *vectors, text string) uint32 {
	t.Helper()
	list, err := v.nearest(t.Context(), text, 3, nil)
	if err != nil {
		t.Fatalf("nearest(%q): %v", text, err)
	}
	if len(list) == 0 {
		t.Fatalf("nearest(%q) finds nothing", text)
	}
	return list[0].passage
}

func TestWhatMeansTheSameIsFound(t *testing.T) {
	e, s := newEmbedder(t), newShelf()
	n := s.put("the car is red", "a doctor helps", "you buy bread")
	v, _ := start(t, testStore(t).Records(), s, modelAt(t, e.URL, "m"))
	eventually(t, "three vectors", settled(v, 3))
	for query, want := range map[string]uint32{"automobile": n[0], "physician": n[1], "purchase": n[2]} {
		if got := first(t, v, query); got != want {
			t.Errorf("nearest to %q is passage %d, want %d", query, got, want)
		}
	}
	list, err := v.nearest(t.Context(), "automobile", 3, func(p uint32) bool { return p == n[2] })
	if err != nil || len(list) != 1 || list[0].passage != n[2] {
		t.Errorf("with one passage allowed: %v, %v, want that", list, err)
	}
}

func TestPassagesThatComeAndGo(t *testing.T) {
	e, s, r := newEmbedder(t), newShelf(), testStore(t).Records()
	v, _ := start(t, r, s, modelAt(t, e.URL, "m"))
	n := s.put("the car is red", "a doctor helps")
	v.changed(n, nil)
	eventually(t, "two vectors", settled(v, 2))

	s.remove(n[0])
	v.changed(nil, n[:1])
	eventually(t, "one vector", func() bool { return v.state().Vectors == 1 && storedVectors(r) == 1 })
	if got := first(t, v, "automobile"); got != n[1] {
		t.Errorf("nearest is passage %d, which is gone", got)
	}
	again := s.put("the car is red")
	v.changed(again, nil)
	eventually(t, "two vectors", settled(v, 2))
	if got := first(t, v, "automobile"); got != again[0] {
		t.Errorf("nearest is passage %d, want %d in the slot that was free", got, again[0])
	}
}

func TestATextThatComesBackKeepsItsVector(t *testing.T) {
	e, s, r := newEmbedder(t), newShelf(), testStore(t).Records()
	n := s.put("the car is red", "a doctor helps")
	v, _ := start(t, r, s, modelAt(t, e.URL, "m"))
	eventually(t, "two vectors", settled(v, 2))
	again := s.put("the car is red")
	s.remove(n[0])
	v.changed(again, n[:1])
	eventually(t, "the vector again", func() bool { return settled(v, 2)() && first(t, v, "automobile") == again[0] })
	if got := e.count(); got != 3 { // two passages and a query
		t.Errorf("%d texts were embedded, want 3", got)
	}
	if got := storedVectors(r); got != 2 {
		t.Errorf("%d vectors stored, want 2", got)
	}
}

// TestWhatIsSaidOfATextIsEmbeddedWithIt: when it comes the text is embedded anew, once.
func TestWhatIsSaidOfATextIsEmbeddedWithIt(t *testing.T) {
	e, s, r := newEmbedder(t), newShelf(), testStore(t).Records()
	n := s.put("the car is red", "a doctor helps")
	v, stop := start(t, r, s, modelAt(t, e.URL, "m"))
	eventually(t, "two vectors", settled(v, 2))
	again := s.put("the car is red")
	s.say(again[0], "vehicles have colours\n")
	s.remove(n[0])
	v.changed(again, n[:1])
	eventually(t, "a vector with it", func() bool { return e.about("colours") == 1 && settled(v, 2)() })
	stop()
	v, _ = start(t, r, s, modelAt(t, e.URL, "m"))
	eventually(t, "both after a restart", settled(v, 2))
	again2 := s.put("the car is red")
	s.say(again2[0], "vehicles have colours\n")
	s.remove(again[0])
	v.changed(again2, again)
	eventually(t, "the same again", func() bool { return settled(v, 2)() && first(t, v, "automobile") == again2[0] })
	if got := e.about("colours"); got != 1 {
		t.Errorf("embedded %d times with it, want once", got)
	}
}

func TestARestartEmbedsNothingAgainAndFindsWhatIsMissing(t *testing.T) {
	e, s, r := newEmbedder(t), newShelf(), testStore(t).Records()
	n := s.put("the car is red", "a doctor helps")
	v, stop := start(t, r, s, modelAt(t, e.URL, "m"))
	eventually(t, "two vectors", settled(v, 2))
	stop()
	s.remove(n[0])
	s.put("you buy bread")
	v, _ = start(t, r, s, modelAt(t, e.URL, "m"))
	eventually(t, "two vectors", settled(v, 2))
	eventually(t, "what is gone deleted", func() bool { return storedVectors(r) == 2 })
	if got := e.count(); got != 3 {
		t.Errorf("%d texts were embedded in all, want 3", got)
	}
}

func TestAnIndexThatIsMadeAnewKeepsItsVectors(t *testing.T) {
	e, s, r := newEmbedder(t), newShelf(), testStore(t).Records()
	s.put("the car is red", "a doctor helps")
	v, stop := start(t, r, s, modelAt(t, e.URL, "m"))
	eventually(t, "two vectors", settled(v, 2))
	v.changed(nil, s.clear())
	eventually(t, "none in memory", settled(v, 0))
	stop()
	v, _ = start(t, r, s, modelAt(t, "http://127.0.0.1:1", "m")) // also over a restart, and with the endpoint down
	eventually(t, "the vectors of the space", func() bool { return v.state().Dimension == 64 })
	v.changed(s.put("a doctor helps", "the car is red"), nil)
	eventually(t, "two vectors", settled(v, 2))
	if got := e.count(); got != 2 {
		t.Errorf("%d texts were embedded, want 2", got)
	}
}

func TestAnotherModelEmbedsAnewAndTheOldVectorsGo(t *testing.T) {
	e, s, r := newEmbedder(t), newShelf(), testStore(t).Records()
	n := s.put("the car is red", "a doctor helps")
	v, stop := start(t, r, s, modelAt(t, e.URL, "old"))
	eventually(t, "two vectors", settled(v, 2))
	stop()
	e.set(96, nil)
	v, _ = start(t, r, s, modelAt(t, e.URL, "new"))
	eventually(t, "two vectors of the new model alone", func() bool {
		s := v.state()
		return s.Vectors == 2 && s.Dimension == 96 && storedVectors(r) == 2
	})
	if got := first(t, v, "automobile"); got != n[0] {
		t.Errorf("nearest is passage %d, want %d", got, n[0])
	}
}

func TestAnotherDimensionIsNeverMixed(t *testing.T) {
	e, s, r := newEmbedder(t), newShelf(), testStore(t).Records()
	s.put("the car is red")
	v, stop := start(t, r, s, modelAt(t, e.URL, "m"))
	eventually(t, "a vector", settled(v, 1))
	e.set(32, nil)
	v.changed(s.put("a doctor helps"), nil)
	eventually(t, "the background to wait", func() bool { return strings.Contains(v.state().Trouble, "numbers") })
	if _, err := v.nearest(t.Context(), "automobile", 3, nil); err == nil {
		t.Error("a query of another dimension is answered")
	}
	if got := v.state(); got.Vectors != 1 || got.Waiting != 1 || got.Dimension != 64 {
		t.Errorf("state = %+v, want the one vector kept and the other passage waiting", got)
	}
	stop()
	v, _ = start(t, r, s, modelAt(t, e.URL, "m"))
	eventually(t, "all of the new dimension after a restart", func() bool {
		s := v.state()
		return s.Vectors == 2 && s.Dimension == 32 && storedVectors(r) == 2
	})
}

func TestADeadEndpointLosesNothing(t *testing.T) {
	e, s, r := newEmbedder(t), newShelf(), testStore(t).Records()
	var down sync.Map
	down.Store("now", true)
	e.set(64, func(w http.ResponseWriter, _ []string) bool {
		if _, ok := down.Load("now"); ok {
			http.Error(w, `{"error":{"message":"loading"}}`, http.StatusServiceUnavailable)
			return true
		}
		return false
	})
	s.put("the car is red")
	v, _ := start(t, r, s, modelAt(t, e.URL, "m"))
	eventually(t, "the background to wait", func() bool { return strings.Contains(v.state().Trouble, "503") })
	begun := time.Now()
	if _, err := v.nearest(t.Context(), "automobile", 3, nil); err == nil || time.Since(begun) > time.Second {
		t.Errorf("nearest: %v after %v, want an error at once", err, time.Since(begun))
	}
	down.Delete("now")
	eventually(t, "the vector", settled(v, 1))
	if got := v.state().Trouble; got != "" {
		t.Errorf("trouble = %q, want none any more", got)
	}
}

func TestASlowModelDoesNotHoldUpASearch(t *testing.T) {
	e, s := newEmbedder(t), newShelf()
	s.put("the car is red")
	v, _ := start(t, testStore(t).Records(), s, modelAt(t, e.URL, "m"))
	eventually(t, "a vector", settled(v, 1))
	release := make(chan struct{})
	e.set(64, func(http.ResponseWriter, []string) bool {
		<-release
		return false
	})
	begun := time.Now()
	for i := range 2 * queriesAtOnce {
		if _, err := v.nearest(t.Context(), fmt.Sprint("automobile ", i), 3, nil); err == nil {
			t.Error("a query without a vector is answered")
		}
	}
	if took := time.Since(begun); took > 2*queriesAtOnce*queryPatience {
		t.Errorf("%d searches waited %v: those beyond the first %d should not have", 2*queriesAtOnce, took, queriesAtOnce)
	}
	close(release)
	eventually(t, "the late vector to be of use", func() bool {
		list, err := v.nearest(t.Context(), "automobile 0", 3, nil)
		return err == nil && len(list) == 1
	})
}

func TestOneTextThatTheModelRefusesHoldsUpNoOther(t *testing.T) {
	e, s := newEmbedder(t), newShelf()
	e.set(64, func(w http.ResponseWriter, texts []string) bool {
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
	v, _ := start(t, testStore(t).Records(), s, modelAt(t, e.URL, "m"))
	eventually(t, "all vectors but one", settled(v, 40))
	if got := v.state().Withheld; got != 1 {
		t.Errorf("withheld = %d, want 1", got)
	}
}

func TestAnEndpointThatRefusesEverythingIsWaitedFor(t *testing.T) {
	e, s := newEmbedder(t), newShelf()
	e.set(64, func(w http.ResponseWriter, _ []string) bool {
		http.Error(w, `{"error":{"message":"this model does not support embeddings"}}`, http.StatusBadRequest)
		return true
	})
	s.put("one", "two", "three")
	v, _ := start(t, testStore(t).Records(), s, modelAt(t, e.URL, "m"))
	eventually(t, "the background to wait", func() bool { return strings.Contains(v.state().Trouble, "does not support") })
	if got := v.state(); got.Waiting != 3 || got.Withheld != 0 {
		t.Errorf("state = %+v, want all three waiting", got)
	}
}

func TestManyPassagesGetABetterCentreOnTheWay(t *testing.T) {
	e, s := newEmbedder(t), newShelf()
	for i := range 300 {
		s.put(fmt.Sprintf("passage about subject%d and matter%d", i, i))
	}
	v, _ := start(t, testStore(t).Records(), s, modelAt(t, e.URL, "m"))
	eventually(t, "300 vectors", settled(v, 300))
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
	p := foundPassage{doc: Document{URL: "https://a.test/?token=s3cr3tvalue12345"}}
	list := []foundPassage{p, p}
	for i := range 4 {
		list = append(list, foundPassage{doc: Document{URL: fmt.Sprintf("https://b.test/%d", i)}})
	}
	got := aboutPassages(list)
	if strings.Contains(got, "s3cr3t") || !strings.Contains(got, "https://b.test/0") ||
		!strings.HasSuffix(got, "and 2 more documents") {
		t.Errorf("about = %q", got)
	}
}

func TestVectorsSwitchedOff(t *testing.T) {
	v := newVectors(vectorOptions{})
	v.changed([]uint32{1}, nil)
	if err := v.run(t.Context()); err != nil || v.state() != nil {
		t.Errorf("without a model: %v, %v", err, v.state())
	}
	v.close()
}

// reader is a knowledge of pages whose passages are embedded.
func reader(t *testing.T, model *llm.Client, pages map[string]string) *Knowledge {
	t.Helper()
	st, err := store.Open(store.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	k, err := Open(Options{
		Store: st, Embeddings: model,
		Withhold: func(d *Document) bool { return d.Host == "intranet.test" },
	})
	if err != nil {
		t.Fatal(err)
	}
	for url, md := range pages {
		u, err := page.Parse(url)
		if err != nil {
			t.Fatal(err)
		}
		p := page.New(u)
		p.ContentHash = md
		if _, err := st.PutPage(&p.Record, []byte(md), store.Sum{}); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- k.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if err := errors.Join(k.Close(), st.Close()); err != nil {
			t.Error(err)
		}
	})
	return k
}

func TestASearchFindsWhatMeansTheSame(t *testing.T) {
	e := newEmbedder(t)
	k := reader(t, modelAt(t, e.URL, "m"), map[string]string{
		"https://a.test/car": "the car is red", "https://a.test/doctor": "a doctor helps",
		"https://b.test/car":        "this car was blue",
		"https://intranet.test/car": "our car is secret",
	})
	eventually(t, "three vectors", func() bool {
		s := k.Stats().Vectors
		return s.Vectors == 3 && s.Waiting == 0 && s.Withheld == 1
	})
	r, err := k.Search(t.Context(), Query{Text: "automobile", Limit: 1})
	if err != nil || len(r.Hits) != 1 || !strings.HasSuffix(r.Hits[0].URL, "/car") || r.Degraded {
		t.Errorf("Search(automobile) = %+v, %v, want a page about cars", r, err)
	}
	r, err = k.Search(t.Context(), Query{Text: "automobile", Host: "b.test"})
	if err != nil || len(r.Hits) != 1 || r.Hits[0].URL != "https://b.test/car" {
		t.Errorf("Search(automobile) on a host = %+v, %v, want its one page", r, err)
	}
	if n := e.about("secret"); n != 0 {
		t.Errorf("what is withheld was embedded %d times", n)
	}
	e.Close()
	r, err = k.Search(t.Context(), Query{Text: "doctor helps me"})
	if err != nil || len(r.Hits) == 0 || r.Hits[0].URL != "https://a.test/doctor" || !r.Degraded {
		t.Errorf("Search with a dead model = %+v, %v, want the page found by words, degraded", r, err)
	}
}
