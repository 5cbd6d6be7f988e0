package knowledge_test

import (
	"errors"
	"testing"
	"time"

	"github.com/readthru/readthru/knowledge"
)

// shared is a base that another node fills: it has told one page.
func (o *opened) shared(t *testing.T) knowledge.SharedBase {
	t.Helper()
	o.read(t, "https://a.test/1", "# One", false)
	o.newBase(t, "docs", knowledge.SourceCrawl)
	rounds := []knowledge.Round{{Members: []knowledge.Member{{URL: "https://a.test/1"}}}}
	if err := o.TakeRounds(t.Context(), o.sharedNow(t), 1, rounds, true); err != nil {
		t.Fatal(err)
	}
	return o.sharedNow(t)
}

func (o *opened) sharedNow(t *testing.T) knowledge.SharedBase {
	t.Helper()
	b, ok := o.SharedBase("docs")
	if !ok {
		t.Fatal("no base docs")
	}
	return b
}

func TestWhatOthersTellWaitsWhileABaseIsFilled(t *testing.T) {
	k := open(t, "", knowledge.Options{})
	k.running(t)
	b := k.shared(t)
	build := k.build(t, "docs")
	add(t, build, "https://a.test/text", "# Text")
	for what, err := range map[string]error{
		"rounds": k.TakeRounds(t.Context(), b, 1, []knowledge.Round{{}}, false),
		"filled": k.TakeFilled(t.Context(), b, time.Now()),
		"abort":  k.TakeAborted(t.Context(), b),
		"pause":  k.SetPaused(b, true),
	} {
		if !errors.Is(err, knowledge.ErrBuilding) {
			t.Errorf("%s: %v", what, err)
		}
	}
	got, err := build.Commit(t.Context())
	if err != nil || got.Generation == 0 || got.Documents != 2 {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestABuildThatWasReplacedChangesNothing ends builds whose generation the record does not have any more.
func TestABuildThatWasReplacedChangesNothing(t *testing.T) {
	k := open(t, "", knowledge.Options{})
	k.running(t)
	b := k.shared(t)
	build := k.build(t, "docs")
	build.Release()
	if err := k.TakeFilled(t.Context(), b, time.Now()); err != nil {
		t.Fatal(err)
	}
	if got, err := build.Commit(t.Context()); err == nil {
		t.Errorf("committed: %+v", got)
	}
	if err := build.Abort(t.Context()); err == nil {
		t.Error("aborted")
	}
	if got, err := k.Base("docs"); err != nil || got.Generation == 0 || got.Documents != 1 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestABaseOfAnotherNodeTakesNoPlaceOfOnesHere(t *testing.T) {
	k := open(t, "", knowledge.Options{})
	own := k.newBase(t, "own", knowledge.SourceText)
	taken := knowledge.Base{
		ID: "0123456789abcdef", Name: "taken", Source: knowledge.SourceCrawl, Generation: 7, Building: true, Paused: true,
		Documents: 8, Passages: 9, LastCrawl: time.Now(),
	}
	if err := k.TakeBase(taken); err != nil {
		t.Fatal(err)
	}
	got, err := k.BaseByID(taken.ID)
	if err != nil || got.Generation != 0 || got.Building || got.Paused || !got.LastCrawl.IsZero() || got.Documents != 0 {
		t.Errorf("%+v, %v", got, err)
	}
	for _, tt := range []struct {
		id, name string
		want     error
	}{
		{"0123456789abcde0", "own", knowledge.ErrBaseExists},
		{own.ID, "other", knowledge.ErrBaseID},
		{"0000000000000000", "other", knowledge.ErrBaseID}, // of texts that are in no base
		{"0123456789ABCDEA", "other", knowledge.ErrBaseID},
		{"01", "other", knowledge.ErrBaseID},
	} {
		if err := k.TakeBase(knowledge.Base{ID: tt.id, Name: tt.name}); !errors.Is(err, tt.want) {
			t.Errorf("%s, %s: %v, want %v", tt.id, tt.name, err, tt.want)
		}
	}
	if got, err := k.BaseByID(own.ID); err != nil || got.Name != "own" {
		t.Errorf("the base of id %s is %+v, %v", own.ID, got, err)
	}
	if _, err := k.DeleteBase(t.Context(), "taken"); err != nil {
		t.Fatal(err)
	}
	if err := k.TakeBase(taken); !errors.Is(err, knowledge.ErrDropped) || len(k.Dropped()) != 1 {
		t.Errorf("after it was deleted: %v, %v", err, k.Dropped())
	}
}
