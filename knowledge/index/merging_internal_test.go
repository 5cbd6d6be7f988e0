package index

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/readthru/readthru/knowledge/index/segment"
	"github.com/readthru/readthru/knowledge/storetest"

	"github.com/google/go-cmp/cmp"

	"github.com/readthru/readthru/knowledge/outline"
)

func TestAMergeChangesNoResult(t *testing.T) {
	x := idle(t, storetest.Open(t).Records())
	rng := rand.New(rand.NewPCG(7, 7))
	for i := range 60 {
		var text strings.Builder
		for range 3 + rng.IntN(300) {
			fmt.Fprintf(&text, "w%d ", rng.IntN(1+rng.IntN(200)))
		}
		d := doc(fmt.Sprintf("https://a.test/%d", i), fmt.Sprintf("title w%d", i%7), text.String())
		if err := x.Index(t.Context(), d, outline.Split(d.Markdown, outline.SplitOptions{})); err != nil {
			t.Fatal(err)
		}
	}
	queries := []string{"w1", "w1 w2 w3", "w150 w9 w17 w44", `"w1 w2"`, "w1*", "title"}
	ask := func() (all []*Results) {
		for _, q := range queries {
			r, err := x.Search(t.Context(), Query{Text: q, Limit: 50, Explain: true})
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, r)
		}
		return all
	}
	before := ask()
	if err := x.merge(t.Context(), slices.Clone(x.segments)); err != nil {
		t.Fatal(err)
	}
	if len(x.segments) != 1 {
		t.Fatalf("%d segments after the merge", len(x.segments))
	}
	if diff := cmp.Diff(before, ask()); diff != "" {
		t.Errorf("results (-before +after the merge):\n%s", diff)
	}
	for i, r := range before {
		if len(r.Hits) == 0 {
			t.Errorf("%q found nothing: this proves nothing", queries[i])
		}
	}
}

func TestSearchesAndChangesGoOnDuringMerges(t *testing.T) {
	x := openTestIndex(t, nil)
	var wg sync.WaitGroup
	for w := range 2 {
		wg.Go(func() {
			for i := range 120 {
				if err := indexStep(fmt.Sprintf("https://%d.test/%d", w, i%40),
					fmt.Sprintf("# A\n\nconstant\n\n# B\n\nvariable v%d", i))(x); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Go(func() {
		for range 300 {
			if _, err := x.Search(t.Context(), Query{Text: `constant "variable" v1*`}); err != nil {
				t.Error(err)
			}
		}
	})
	wg.Wait()
	if s := x.Stats(); s.Documents != 80 || s.Damaged {
		t.Errorf("stats = %+v, want 80 documents, undamaged", s)
	}
	dump(t, x)
}

func TestBackgroundMergesBoundTheSegments(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := storetest.Open(t)
		x, err := openIndex(Options{Records: s.Records(), Text: noText})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 100 {
			if err := indexStep(fmt.Sprintf("https://a.test/%d", i), fmt.Sprintf("text %d", i))(x); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		if n := x.Stats().Segments; n >= 2*mergeWidth {
			t.Errorf("100 changes left %d segments, want fewer than %d", n, 2*mergeWidth)
		}
		if err := x.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// What an earlier process left to merge rests while a start answers its first requests, also when more comes.
func TestAStartMergesLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := storetest.Open(t)
		left, err := openIdle(Options{Records: s.Records(), Text: noText})
		if err != nil {
			t.Fatal(err)
		}
		add := func(x *Index, i int) {
			t.Helper()
			if err := indexStep(fmt.Sprintf("https://a.test/%d", i), fmt.Sprintf("text %d", i))(x); err != nil {
				t.Fatal(err)
			}
		}
		for i := range 2 * mergeWidth {
			add(left, i)
		}
		if err := left.Close(); err != nil {
			t.Fatal(err)
		}
		x, err := openIdle(Options{Records: s.Records(), Text: noText})
		if err != nil {
			t.Fatal(err)
		}
		x.MergeAtStart()
		add(x, 2*mergeWidth)
		time.Sleep(restAtStart - time.Second)
		synctest.Wait()
		if n := x.Stats().Segments; n != 2*mergeWidth+1 {
			t.Errorf("%d segments before the rest is over, want %d", n, 2*mergeWidth+1)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if n := x.Stats().Segments; n >= mergeWidth {
			t.Errorf("%d segments after the rest, want fewer than %d", n, mergeWidth)
		}
		if err := x.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

func TestToMergeTakesNeighboursOfATier(t *testing.T) {
	sizes := func(live ...int) (list []segmentSize) {
		for _, n := range live {
			list = append(list, segmentSize{n, n})
		}
		return list
	}
	for _, tt := range []struct {
		name     string
		sizes    []segmentSize
		from, to int
	}{
		{"nothing", nil, 0, 0},
		{"seven small ones", sizes(1, 1, 1, 1, 1, 1, 1), 0, 0},
		{"eight small ones", sizes(1, 1, 1, 1, 1, 1, 1, 1), 0, 8},
		{"eight small ones after large ones", sizes(9000, 4000, 1, 1, 1, 1, 1, 1, 1, 1), 2, 10},
		{"eight small ones before a large one", sizes(1, 1, 1, 1, 1, 1, 1, 1, 9000), 0, 8},
		{"a large one between", sizes(1, 1, 1, 1, 9000, 1, 1, 1, 1), 0, 0},
		{"eight of the next tier, and smaller ones", sizes(4000, 4000, 4000, 4000, 4000, 4000, 4000, 4000, 9), 0, 9},
		{"a large one and seven small ones", sizes(9000, 1, 1, 1, 1, 1, 1, 1), 0, 0},
		{"ever smaller ones", sizes(40000, 9000, 2000, 500, 100, 25, 6, 1, 1), 0, 0},
		{"the largest stay", sizes(slices.Repeat([]int{segment.Largest}, 9)...), 0, 0},
		{"a third dead", []segmentSize{{9000, 9000}, {9000, 5900}}, 1, 2},
		{"all dead", []segmentSize{{9000, 9000}, {3, 0}, {9, 9}}, 1, 2},
	} {
		if from, to := toMerge(tt.sizes); from != tt.from || to != tt.to {
			t.Errorf("%s: toMerge = %d, %d, want %d, %d", tt.name, from, to, tt.from, tt.to)
		}
	}
}
