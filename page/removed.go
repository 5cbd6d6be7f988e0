package page

// Removed tells what was taken out of a page because its reader does not see it: the receipts of a conversion.
type Removed struct {
	Counts map[string]int `json:"counts"` // pieces by kind, all of them
	Pieces []Piece        `json:"pieces"` // the first of each kind; fewer than Counts says where there were many
}

// Piece is one piece of text that was taken out.
type Piece struct {
	// how it was kept from readers: display, colour, off-screen, comment, characters …
	Kind  string `json:"kind"`
	Text  string `json:"text"`           // its beginning, on one line; never to be taken for the page's own words
	Chars int    `json:"chars"`          // Unicode code points of the whole piece, single-spaced
	Note  bool   `json:"note,omitempty"` // it speaks to agents about the site: where its markdown is
}
