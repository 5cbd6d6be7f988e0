package e2e_test

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/readthru/readthru/internal/eventually"
	"github.com/readthru/readthru/internal/fleet/fleettest"
)

// What is read by each door of any node of a fleet comes to all of them: in the end they have the same pages, and each
// word finds the same on each, also in an index that is built anew.
func TestRandomSequencesLeaveTheNodesOfAFleetAlike(t *testing.T) {
	runSequences(t, 1, func(t *testing.T, seed uint64) *sequence {
		t.Helper()
		s := newSequence(t, seed)
		server := fleettest.Start(t)
		var daemons []*daemon
		for i := range 2 + s.rng.IntN(2) {
			daemons = append(daemons, nodeIn(t, server, s.web, t.TempDir(), fmt.Sprint("node", i), s.env...))
		}
		s.start(daemons...)
		for _, d := range daemons {
			d.awaitFleet()
		}
		s.end = s.checkAlike
		return s
	})
}

// checkAlike compares the nodes with each other, and their indexes with new ones.
func (s *sequence) checkAlike() {
	s.t.Helper()
	s.note("all alike")
	var all []map[string]string
	var changing error // of the last comparison
	same := func() bool {
		all, changing = nil, nil
		for _, n := range s.nodes {
			has, err := s.contents(n)
			all, changing = append(all, has), cmp.Or(changing, err)
		}
		return changing == nil && !slices.ContainsFunc(all, func(m map[string]string) bool { return !maps.Equal(m, all[0]) })
	}
	if err := eventually.Holds(s.t.Context(), same); err != nil {
		if changing != nil {
			s.wrong("%s", changing)
		}
		for i, m := range all {
			for url := range m {
				if m[url] != all[0][url] {
					s.wrong("%s: node 0 has %.400q, node %d %.400q", url, all[0][url], i, m[url])
				}
			}
			for url := range all[0] {
				if _, ok := m[url]; !ok {
					s.wrong("%s: node 0 has %.400q, node %d nothing", url, all[0][url], i)
				}
			}
		}
		return
	}
	s.check()
	for _, n := range s.nodes {
		if got := n.post("/api/v1/index/rebuild", object{}); got.status != http.StatusOK {
			s.wrong("rebuild: %d %s", got.status, got.text)
		}
		eventually.True(s.t, "the index is built anew", func() bool {
			var jobs struct{ Jobs []struct{ State string } }
			n.get("/api/v1/jobs", &jobs)
			return !slices.ContainsFunc(jobs.Jobs, func(j struct{ State string }) bool { return j.State == "running" })
		})
	}
	s.check()
}

// contents returns what a node has of each page, and the error of pages.
func (s *sequence) contents(n *node) (map[string]string, error) {
	list := map[string]string{}
	pages, err := s.pages(n)
	for _, p := range pages {
		text := strings.TrimSpace(p.text)
		if p.gone() {
			text = fmt.Sprint(p.Error.Status, " ", text)
		}
		list[p.NormalizedURL] = text
	}
	return list, err
}
