// Package rules decides by rules alone what purpose a page has, and which part of it is its content.
//
// [TypeOf] tells the purpose. [Choose] drops what stands around the content by names, roles and shares of links, and
// chooses the element that holds the rest; when too little is left, it tries again more gently. It marks elements and
// does not change the tree.
//
// # Who owns what
//
//   - the purpose of a page, and what marks it as documentation: TypeOf (pagetype.go), ManualSigns (manualsigns.go)
//   - which headings lead away from an article: elsewhere.go
//   - which box only lists the places on its page: DropPlaces (onthispage.go)
//   - which links only lead to neighbouring pages of a manual: turnsPages (turning.go)
//   - which links of documentation are controls or lead to its source: controls.go
package rules
