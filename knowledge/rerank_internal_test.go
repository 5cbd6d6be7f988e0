package knowledge

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/readthru/readthru/knowledge/meaning/embedtest"

	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// ranker is an endpoint that finds the more relevant what has more ivory.
type ranker struct {
	*httptest.Server
	asked   atomic.Int64
	sent    atomic.Pointer[string] // the last request
	instead atomic.Pointer[func(w http.ResponseWriter, r *http.Request)]
}

func newRanker(t *testing.T) *ranker {
	t.Helper()
	k := &ranker{}
	k.Server = httptest.NewServer(http.HandlerFunc(k.serve))
	t.Cleanup(k.Close)
	return k
}

func (k *ranker) serve(w http.ResponseWriter, r *http.Request) {
	k.asked.Add(1)
	body, _ := io.ReadAll(r.Body)
	sent := string(body)
	k.sent.Store(&sent)
	if instead := k.instead.Load(); instead != nil {
		(*instead)(w, r)
		return
	}
	var q struct{ Documents []string }
	_ = json.Unmarshal(body, &q)
	var results []map[string]any
	for i, d := range q.Documents {
		results = append(results, map[string]any{"index": i, "relevance_score": strings.Count(d, "ivory")})
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"results": results})
}

// rankedBy returns a knowledge of pages with a reranker. What is on intranet.test must not be told to that.
func rankedBy(t *testing.T, k *ranker, pages ...string) *Knowledge {
	t.Helper()
	st, err := store.Open(store.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	know, err := Open(Options{
		Store: st, Reranker: embedtest.Model(t, k.URL, "m"),
		WithholdRanked: func(d *Document) bool { return d.Host == "intranet.test" },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = know.Close()
		_ = st.Close()
	})
	for i := 0; i < len(pages); i += 2 {
		u, err := page.Parse(pages[i])
		if err != nil {
			t.Fatal(err)
		}
		p := page.New(u)
		p.ContentHash = pages[i+1]
		if _, err := st.PutPage(&p.Record, []byte(pages[i+1]), store.Sum{}); err != nil {
			t.Fatal(err)
		}
	}
	if err := know.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	return know
}

var walruses = []string{
	"https://a.test/words", "The walrus and the tusk. A walrus has a tusk, and the tusk is long.",
	"https://a.test/best", "A walrus of ivory ivory ivory has a tusk on the shore of the northern sea.",
	"https://intranet.test/secret", "Our walrus Herbert has a tusk, which nobody may know of at all.",
}

func TestARerankerMovesWhatIsRelevantUp(t *testing.T) {
	r := newRanker(t)
	k := rankedBy(t, r, walruses...)
	res, err := k.Search(t.Context(), Query{Text: "walrus tusk", Explain: true})
	if err != nil || len(res.Hits) != 3 || res.Hits[0].URL != "https://a.test/best" || res.Degraded {
		t.Fatalf("Search = %+v, %v, want what the reranker prefers first", res, err)
	}
	sum, reranked := 0.0, false
	for _, term := range res.Hits[0].Explain {
		sum += term.Score
		reranked = reranked || term.Field == "reranker"
	}
	if !reranked || math.Abs(sum-res.Hits[0].Score) > 1e-3 {
		t.Errorf("explained %+v, want the reranker's part and a sum of %v", res.Hits[0].Explain, res.Hits[0].Score)
	}
	if sent := *r.sent.Load(); strings.Contains(sent, "Herbert") || !strings.Contains(sent, "shore") {
		t.Errorf("sent %s, want nothing of what is withheld", sent)
	}
}

// Exact questions are decided by words, and nothing of them is sent.
func TestARerankerIsNotAskedWhereWordsDecide(t *testing.T) {
	r := newRanker(t)
	k := rankedBy(t, r, walruses...)
	for _, query := range []string{
		`"has a tusk"`, "walrus_tusk", "walrus 1.2", "walrus --tusk", "fatal: walrus tusk not found", "Herbert nobody",
	} {
		if res, err := k.Search(t.Context(), Query{Text: query}); err != nil || res.Degraded {
			t.Errorf("Search(%s): %+v, %v", query, res, err)
		}
	}
	if n := r.asked.Load(); n != 0 {
		t.Errorf("the reranker was asked %d times, at last %s", n, *r.sent.Load())
	}
}

// However bad its answers are, words and their order stay, and the answer says what was wrong.
func TestABadRerankerChangesNothing(t *testing.T) {
	for _, tt := range []struct{ name, answer, want string }{
		{"an index out of range", `{"results":[{"index":30,"relevance_score":1}]}`, "index 30"},
		{"NaN", `{"results":[{"index":0,"relevance_score":NaN}]}`, "not JSON"},
		{"a page", `<html>`, "not JSON"},
		{"nothing", `{}`, "ranks no document"},
		{"all alike", `{"results":[{"index":0,"relevance_score":.5},{"index":1,"relevance_score":.5}]}`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRanker(t)
			k := rankedBy(t, r, walruses...)
			instead := func(w http.ResponseWriter, _ *http.Request) {
				io.WriteString(w, strings.ReplaceAll(tt.answer, ":.5", ":0.5"))
			}
			r.instead.Store(&instead)
			res, err := k.Search(t.Context(), Query{Text: "walrus tusk"})
			if err != nil || len(res.Hits) != 3 || res.Hits[0].URL != "https://a.test/words" ||
				res.Degraded != (tt.want != "") || !strings.Contains(res.Reason, tt.want) {
				t.Errorf("Search = %+v, %v, want the order of words and %q", res, err, tt.want)
			}
		})
	}
}

// An endpoint that hangs costs one search its patience. The next ones do not ask it.
func TestARerankerThatHangsCostsOneSearch(t *testing.T) {
	r := newRanker(t)
	k := rankedBy(t, r, walruses...)
	hang := make(chan struct{})
	t.Cleanup(func() { close(hang) })
	instead := func(http.ResponseWriter, *http.Request) { <-hang }
	r.instead.Store(&instead)
	for i := range 20 {
		res, err := k.Search(t.Context(), Query{Text: fmt.Sprint("walrus tusk", strings.Repeat(" walrus", i))})
		if err != nil || len(res.Hits) != 3 || !res.Degraded || !strings.Contains(res.Reason, "no answer after 300ms") {
			t.Fatalf("Search = %+v, %v, want hits without the reranker", res, err)
		}
		if i > 0 && !strings.Contains(res.Reason, "left alone") {
			t.Errorf("search %d: %s, want the endpoint left alone", i, res.Reason)
		}
	}
	if n := r.asked.Load(); n != 1 {
		t.Errorf("the endpoint was asked %d times, want once", n)
	}
}
