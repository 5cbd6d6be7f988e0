// Package outline finds in a markdown text what its places are called, where they end, and which of them is meant. It
// works on the bytes of one text: it knows no index, no clock and no network, and all its functions may be called at
// once.
//
// [Split] cuts a text into passages, which are what is searched: passage.go packs the blocks that package markdown
// finds, and longblock.go cuts a block that is too long for one. [Of] lists the headings and [Section] finds one of
// them, or a term that is defined; landmark.go finds both, and the anchor of the page that leads there; definition.go
// says which of them defines a name. [FindQuote] looks for a quote in what quotetext.go leaves of a text without its
// marks, and [Changes] compares the sections of two versions of a text.
//
// All places are bytes of the text that was given. Texts have no front matter: whoever reads them from the store has
// cut it off.
//
// # Who owns what
//
//   - how markdown is cut into passages, and when two are the same: [Split], [PassageHash] (passage.go)
//   - what a place in a text is called, and which anchor leads there: [Landmarks], [AnchorOf] (landmark.go)
//   - how headings above a place are written as one text: [JoinPath] (outline.go)
//   - what defines a name: [DefinitionOf] (definition.go)
package outline
