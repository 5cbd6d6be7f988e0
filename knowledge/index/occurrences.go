package index

import "slices"

// occurrences calls f for each passage in which the terms stand at these offsets from each other, with how often they
// do so in the title and in the text.
func occurrences(lists []*list, offsets []int, f func(ord uint32, title, text int)) error {
	cursors := cursorsOf(lists)
	return common(cursors, func(ord uint32) bool {
		if title, text := occurrencesIn(ord, cursors, offsets); title+text > 0 {
			f(ord, title, text)
		}
		return true
	})
}

// common calls f for the passages that all cursors have, until f returns false.
func common(cursors []*cursor, f func(ord uint32) bool) error {
	for ord := uint32(0); ; ord++ {
		for i := 0; i < len(cursors); {
			at, ok := cursors[i].seek(ord)
			if !ok {
				return cursors[i].err
			}
			if at > ord {
				ord, i = at, 0
				continue
			}
			i++
		}
		if !f(ord) {
			return nil
		}
	}
}

// occurrencesIn returns how often the terms stand at the offsets from each other in the title and the text of a
// passage.
func occurrencesIn(ord uint32, cursors []*cursor, offsets []int) (title, text int) {
	var at termPlaces
	for i, places := range placesIn(cursors, ord) {
		if i == 0 {
			at = places
			continue
		}
		at.title = following(at.title, places.title, offsets[i])
		at.text = following(at.text, places.text, offsets[i])
	}
	return len(at.title), len(at.text)
}

// following keeps the positions after which, offset further, one of next stands. Both are ascending.
func following(at, next []uint32, offset int) []uint32 {
	return slices.DeleteFunc(at, func(p uint32) bool {
		_, ok := slices.BinarySearch(next, p+uint32(offset))
		return !ok
	})
}

// termPlaces is where a term stands in a passage.
type termPlaces struct{ title, text []uint32 }

// placesIn returns where the terms of cursors stand in a passage. Cursors only move forward.
func placesIn(cursors []*cursor, ord uint32) []termPlaces {
	places := make([]termPlaces, len(cursors))
	for t, c := range cursors {
		if c == nil {
			continue
		}
		if at, ok := c.seek(ord); ok && at == ord {
			places[t].title, places[t].text = c.positions()
		}
	}
	return places
}
