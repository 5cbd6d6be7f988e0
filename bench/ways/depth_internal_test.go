package main

import (
	"strings"
	"testing"
)

// depths are the deepest stacks of own functions that the ways have reached so far, at each door: lower them when one
// becomes shorter. They are exact. The goals are met: a hit at most 8 deep, a page at most 12 deep to the origin.
var depths = map[string]struct{ store, origin, renderer int }{
	"page":   {16, 12, 0},
	"hit":    {8, 0, 0},
	"again":  {0, 0, 0},
	"search": {15, 0, 0},
	"hook":   {15, 0, 0},
	"crawl":  {30, 27, 0},
	"script": {17, 12, 15},
}

// No request runs further through our own code than it did. How many functions it runs is reported by "make ways"
// alone: that grows with what a request does. Building the program for it, which no other test can use, takes a minute
// of a processor.
func TestNoWayIsDeeperThanItWas(t *testing.T) {
	if testing.Short() {
		t.Skip("short: make slow runs it")
	}
	ways, err := measure(t.Context(), "../..", false)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range ways {
		limit := depths[w.name]
		for door, most := range map[string]int{"store": limit.store, "origin": limit.origin, "renderer": limit.renderer} {
			if _, deepest, _ := w.door(door); len(deepest) > most {
				t.Errorf("%s: %d own functions on the stack at the %s, want at most %d:\n%s", w.name, len(deepest), door, most,
					strings.Join(deepest, "\n"))
			}
		}
	}
}
