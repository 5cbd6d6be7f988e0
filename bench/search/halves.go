package main

import (
	"fmt"
	"maps"
	"slices"
)

// tally counts how often the first hit, and one of the first five, is a right one.
type tally struct {
	queries, first, five int
	reciprocal           float64 // sum of 1 ÷ the place of the first right one, of ten
}

func (t *tally) add(place int) {
	t.queries++
	if place == 0 {
		return
	}
	if place == 1 {
		t.first++
	}
	if place <= 5 {
		t.five++
	}
	t.reciprocal += 1 / float64(place)
}

func (t *tally) String() string {
	n := float64(t.queries)
	return fmt.Sprintf("%8d %6.3f %6.3f %6.3f", t.queries, float64(t.first)/n, float64(t.five)/n, t.reciprocal/n)
}

// byClass tallies the classes of queries, and their halves.
type byClass map[string]*tally

// halfNames are how the halves are called: the constants of the ranking were chosen on the first.
var halfNames = [...]string{"first half", "second half"}

func (b byClass) add(q *query, place int) {
	for _, name := range []string{q.class, halfNames[q.half], "all"} {
		if b[name] == nil {
			b[name] = &tally{}
		}
		b[name].add(place)
	}
}

func (b byClass) print(engine string) {
	names := slices.Sorted(maps.Keys(b))
	last := []string{halfNames[0], halfNames[1], "all"}
	names = append(slices.DeleteFunc(names, func(s string) bool { return slices.Contains(last, s) }), last...)
	fmt.Printf("%-10s %-16s %8s %6s %6s %6s\n", "engine", "class", "queries", "s@1", "s@5", "MRR@10")
	for _, name := range names {
		fmt.Printf("%-10s %-16s %s\n", engine, name, b[name])
	}
}

// placeOf returns the place of the first right one, from 1, or 0.
func (q *query) placeOf(urls []string) int {
	return slices.IndexFunc(urls[:min(10, len(urls))], func(u string) bool { return q.grades[u] > 0 }) + 1
}
