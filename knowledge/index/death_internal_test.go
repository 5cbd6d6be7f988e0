package index

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/readthru/readthru/internal/needs"
	"github.com/readthru/readthru/knowledge/index/segment"
	"github.com/readthru/readthru/knowledge/storetest"

	"github.com/google/go-cmp/cmp"

	"github.com/readthru/readthru/knowledge/outline"
	"github.com/readthru/readthru/store"
)

// failing are records of which the writes after the first left fail, as if the process had died.
type failing struct {
	*store.Records
	left int // negative: all go through
	done int
}

var errDied = errors.New("the process died")

func (f *failing) Apply(changes ...store.Change) error {
	if f.left == 0 {
		return errDied
	}
	f.left--
	f.done++
	return f.Records.Apply(changes...)
}

// history is changes of every kind, with merges of the segments they leave.
func history() []step {
	var steps []step
	for i := range 18 {
		steps = append(steps, indexStep(fmt.Sprintf("https://a.test/%d", i),
			fmt.Sprintf("# Head\n\nshared licence\n\n# Own\n\nrunning word%d runs run\n\n# Mod\n\nmodulo%d text", i, i%4)))
		if i%9 == 8 {
			steps = append(steps, mergeStep)
		}
	}
	return append(steps,
		deleteStep("https://a.test/0"), // the first owner of what all share
		indexStep("https://a.test/3", "# Head\n\nshared licence\n\n# Own\n\nentirely different"),
		deleteStep("https://a.test/17"),
		func(x *Index) error { // everything into one segment, with dead passages and orphans
			return x.merge(context.Background(), slices.Clone(x.segments))
		},
		indexStep("https://a.test/0", "# Head\n\nshared licence"),
		deleteStep("https://a.test/1"),
	)
}

func TestEveryDeathLeavesTheIndexBeforeOrAfterAChange(t *testing.T) {
	// What the index is after each step, undisturbed, and how many writes that took.
	states := []map[string]string{{}}
	all := &failing{Records: storetest.Open(t).Records(), left: -1}
	x := idle(t, all)
	opening := all.done
	for _, do := range history() {
		if err := do(x); err != nil {
			t.Fatal(err)
		}
		states = append(states, dump(t, x))
	}
	if x.Stats().Segments > 3 {
		t.Fatalf("%d segments at the end: nothing was merged", x.Stats().Segments)
	}
	t.Logf("%d writes", all.done-opening)
	step := 1
	if needs.Brief() {
		step = 7
	}
	for n := 0; n < all.done-opening; n += step {
		s := storetest.Open(t)
		f := &failing{Records: s.Records(), left: -1}
		x := idle(t, f)
		f.left = n
		died := -1
		for i, do := range history() {
			if err := do(x); err != nil {
				if !errors.Is(err, errDied) {
					t.Fatalf("death after write %d, step %d: %v", n, i, err)
				}
				died = i
				break
			}
		}
		if died < 0 {
			t.Fatalf("nobody died after write %d", n)
		}
		x = idle(t, s.Records())
		if x.Rebuilt {
			t.Fatalf("death after write %d: the index could not be read", n)
		}
		got := dump(t, x)
		if diff := cmp.Diff(states[died], got); diff != "" {
			if diffAfter := cmp.Diff(states[died+1], got); diffAfter != "" {
				t.Fatalf("death after write %d in step %d: neither before (-) the step:\n%s\nnor after it (-):\n%s", n, died, diff,
					diffAfter)
			}
		}
		noLeftovers(t, s, x)
		for _, do := range history()[died:] {
			if err := do(x); err != nil {
				t.Fatalf("death after write %d: doing the rest: %v", n, err)
			}
		}
		if diff := cmp.Diff(states[len(states)-1], dump(t, x)); diff != "" {
			t.Fatalf("death after write %d, then the rest (-undisturbed +got):\n%s", n, diff)
		}
	}
}

// noLeftovers checks that no record belongs to a segment that is not listed.
func noLeftovers(t *testing.T, s *store.Store, x *Index) {
	t.Helper()
	for _, prefix := range []string{segment.BlockPrefix, segment.TablePrefix, segment.ChangesPrefix} {
		s.Records().Keys(prefix, "", func(key string) bool {
			if !slices.ContainsFunc(x.segments, func(s *segment.Segment) bool {
				return strings.HasPrefix(key,
					prefix+segment.BigEndian(s.ID))
			}) {
				t.Errorf("%q belongs to no segment", key)
			}
			return true
		})
	}
}

// full are records of a store that is full: those that set a key fail, but for the first few.
type full struct {
	*store.Records
	room int
}

func (f *full) Apply(changes ...store.Change) error {
	for i := range changes {
		if !changes[i].Gone {
			if f.room == 0 {
				return store.ErrFull
			}
			f.room--
			break
		}
	}
	return f.Records.Apply(changes...)
}

func TestAChangeThatDoesNotFitLeavesNothingBehind(t *testing.T) {
	needs.Long(t, "a change that is too large takes a second")
	s := storetest.Open(t)
	f := &full{Records: s.Records(), room: 1}
	x := idle(t, f)
	var text strings.Builder
	for i := range 130_000 { // too much for one transaction
		fmt.Fprintf(&text, "word%d ", i)
	}
	d := doc("https://a.test/", "", text.String())
	if err := x.Index(t.Context(), d, outline.Split(d.Markdown, outline.SplitOptions{})); !errors.Is(err, store.ErrFull) {
		t.Fatalf("Index with room for a part of it: %v, want ErrFull", err)
	}
	noLeftovers(t, s, x)
	f.room = -1
	if err := x.Index(t.Context(), d, outline.Split(d.Markdown, outline.SplitOptions{})); err != nil {
		t.Fatalf("Index with room: %v", err)
	}
}
