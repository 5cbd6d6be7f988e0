package knowledge

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/readthru/readthru/internal/eventually"
	"github.com/readthru/readthru/internal/llm"
	"github.com/readthru/readthru/knowledge/meaning/embedtest"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

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
	e := embedtest.New(t)
	k := reader(t, embedtest.Model(t, e.URL, "m"), map[string]string{
		"https://a.test/car": "the car is red", "https://a.test/doctor": "a doctor helps",
		"https://b.test/car":        "this car was blue",
		"https://intranet.test/car": "our car is secret",
	})
	eventually.True(t, "three vectors", func() bool {
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
	if n := e.About("secret"); n != 0 {
		t.Errorf("what is withheld was embedded %d times", n)
	}
	e.Close()
	r, err = k.Search(t.Context(), Query{Text: "doctor helps me"})
	if err != nil || len(r.Hits) == 0 || r.Hits[0].URL != "https://a.test/doctor" || !r.Degraded {
		t.Errorf("Search with a dead model = %+v, %v, want the page found by words, degraded", r, err)
	}
}
