package page

import "slices"

// Removed says what was removed from a page because its readers do not see it.
type Removed struct {
	Counts map[string]int `json:"counts"` // number of pieces by kind
	Pieces []Piece        `json:"pieces"` // the first ones of each kind

	// Unsure says why more may be hidden than could be told.
	Unsure []string `json:"unsure,omitempty"`
}

// Reasons in [Removed].Unsure.
const (
	UnsureSheets  = "sheets"  // the page links style sheets that were not read
	UnsureScripts = "scripts" // it has scripts that did not run
)

// AfterScripts returns r for a page whose scripts have run: they leave nothing open.
func (r Removed) AfterScripts() *Removed {
	r.Unsure = slices.DeleteFunc(slices.Clone(r.Unsure), func(why string) bool { return why == UnsureScripts })
	return &r
}

// Piece is a piece of text that was removed.
type Piece struct {
	// how it was kept from readers: display, colour, off-screen, comment, characters …
	Kind  string `json:"kind"`
	Text  string `json:"text"`           // its beginning, on one line; never to be taken for the page's own words
	Chars int    `json:"chars"`          // Unicode code points of the whole piece, single-spaced
	Note  bool   `json:"note,omitempty"` // it speaks to agents about the site: where its markdown is
}
