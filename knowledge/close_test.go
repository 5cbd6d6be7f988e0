package knowledge_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/readthru/readthru/internal/eventually"
	"github.com/readthru/readthru/knowledge"
)

// TestCloseWhileEverythingGoesOn closes knowledge and store under searches, builds, deletions, rebuilds and Run. All
// end, and what is on the disk is an index that a rebuild would make, too.
func TestCloseWhileEverythingGoesOn(t *testing.T) {
	dir := t.TempDir()
	for round := range 3 {
		k := open(t, dir, knowledge.Options{})
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		var ingested atomic.Int64
		loop := func(do func(n int) error) {
			all.Go(func() {
				for n := 0; ctx.Err() == nil && do(n) == nil; n++ {
				}
			})
		}
		all.Go(func() { _ = k.Run(ctx) })
		loop(func(n int) error {
			_, err := k.Search(ctx, knowledge.Query{Text: fmt.Sprint("walrus number", n), KB: "docs", Explain: true})
			return ignoreUnknown(err)
		})
		loop(func(n int) error {
			_, err := k.Ingest(ctx, knowledge.Ingestion{Text: prose("heron", round*100_000+n)})
			ingested.Add(1)
			return err
		})
		loop(func(int) error { return k.Rebuild(ctx, nil) })
		loop(func(int) error {
			k.Stats()
			k.Bases()
			_, _, err := k.Documents("docs", "", 10)
			return ignoreUnknown(err)
		})
		loop(func(n int) error {
			if _, err := k.CreateBase(knowledge.Base{Name: "docs"}); err != nil && n > 0 {
				return err
			}
			b, err := k.Build("docs")
			if err != nil {
				return err
			}
			defer b.Close()
			for i := range 10 {
				if err := b.Add(ctx, knowledge.Document{
					URL:      fmt.Sprint("doc-", i),
					Markdown: []byte(prose("walrus", n*i)),
				}); err != nil {
					return err
				}
			}
			if _, err := b.Commit(ctx); err != nil {
				return err
			}
			_, err = k.DeleteBase(ctx, "docs")
			return err
		})
		eventually.True(t, "texts", func() bool { return ingested.Load() >= int64(20*(round+1)) }) // however far the others come
		if round == 1 {
			k.shut(t)
		}
		cancel()
		all.Wait()
		k.shut(t)
	}
	k := open(t, dir, knowledge.Options{})
	k.drain(t)
	checkAgainstRebuild(t, k)
}

// ignoreUnknown returns an error unless it says that a base is not there.
func ignoreUnknown(err error) error {
	if _, unknown := errors.AsType[*knowledge.UnknownBaseError](err); unknown {
		return nil
	}
	return err
}
