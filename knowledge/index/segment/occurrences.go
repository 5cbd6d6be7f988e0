package segment

import "slices"

// Occurrences calls f for each passage in which the terms stand at these offsets from each other, with how often they
// do so in the title and in the text.
func Occurrences(lists []*List, offsets []int, f func(ord uint32, title, text int)) error {
	cursors := CursorsOf(lists)
	return Common(cursors, func(ord uint32) bool {
		if title, text := OccurrencesIn(ord, cursors, offsets); title+text > 0 {
			f(ord, title, text)
		}
		return true
	})
}

// OccurrencesIn returns how often the terms stand at the offsets from each other in the title and the text of a
// passage.
func OccurrencesIn(ord uint32, cursors []*Cursor, offsets []int) (title, text int) {
	var at Places
	for i, places := range PlacesIn(cursors, ord) {
		if i == 0 {
			at = places
			continue
		}
		at.Title = following(at.Title, places.Title, offsets[i])
		at.Text = following(at.Text, places.Text, offsets[i])
	}
	return len(at.Title), len(at.Text)
}

// following keeps the positions after which, offset further, one of next stands. Both are ascending.
func following(at, next []uint32, offset int) []uint32 {
	return slices.DeleteFunc(at, func(p uint32) bool {
		_, ok := slices.BinarySearch(next, p+uint32(offset))
		return !ok
	})
}

// Places is where a term stands in a passage.
type Places struct{ Title, Text []uint32 }

// PlacesIn returns where the terms of cursors occur in a passage. Cursors only move forward.
func PlacesIn(cursors []*Cursor, ord uint32) []Places {
	places := make([]Places, len(cursors))
	for t, c := range cursors {
		if c == nil {
			continue
		}
		if at, ok := c.Seek(ord); ok && at == ord {
			places[t].Title, places[t].Text = c.positions()
		}
	}
	return places
}
