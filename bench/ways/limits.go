package main

import (
	"errors"
	"fmt"
)

// limits are what the ways have reached so far: lower them when one becomes shorter. Depths are exact. Functions have
// about 3 % of room, because some of what runs after an answer may run before it. The store's writer of visits begins
// at once, beside the answer, so that its functions count too: some 30 of a hit that is given again are its own, and up
// to 125 the writer's. The goals are met: a hit at most 8 deep, a page at most 12 deep to the origin, and fewer than
// 120 functions for a hit that is given again.
var limits = map[string]struct {
	functions               int // until the answer
	store, origin, renderer int // the deepest stack at the door
}{
	"page":   {985, 16, 12, 0},
	"hit":    {425, 8, 0, 0},
	"again":  {160, 0, 0, 0},
	"search": {308, 15, 0, 0},
	"hook":   {367, 15, 0, 0},
	"crawl":  {1320, 30, 27, 0},
	"script": {1058, 17, 12, 15},
}

// check returns an error that names every limit that is passed.
func check(ways []way) error {
	var errs []error
	over := func(w way, what string, got, limit int) {
		if got > limit {
			errs = append(errs, fmt.Errorf("%s: %d %s, and the limit is %d: -v shows them", w.name, got, what, limit))
		}
	}
	for _, w := range ways {
		l := limits[w.name]
		over(w, "functions", len(w.functions), l.functions)
		for door, limit := range map[string]int{"store": l.store, "origin": l.origin, "renderer": l.renderer} {
			_, deepest, _ := w.door(door)
			over(w, "own functions on the stack at the "+door, len(deepest), limit)
		}
	}
	return errors.Join(errs...)
}
