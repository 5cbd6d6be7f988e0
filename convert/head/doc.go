// Package head reads what a page says about itself: its title, author, date, language and address, from meta elements,
// JSON-LD, headings and bylines.
//
// Its door is [Read], which must see the page before anything is removed from it. [Head.Forget] takes back what was
// read from the text of a page that turned out to be a list of pages.
//
// # Who owns what
//
//   - the title of a page: title.go
//   - its author and date, where only its text has them: byline.go
//   - the price that its metadata state, and how amounts of money are written: statedprice.go
package head
