// Package convert turns the bytes of a response into markdown. It is pure: no I/O, no clock, and the same input always
// gives the same output.
//
// [Parse] decodes and parses a body once; the [Document] then answers [Document.Signs], by which a caller decides
// whether this is the page at all, and [Document.Convert], as often as wanted with different [Options]. The steps, each
// in a file or a package of its own: decode (package charset), read what the page says about itself (package head),
// bring elements into the few forms the renderer knows (packages normalise, formula and footnote), remove what no
// reader sees (packages hidden and css), prune what is not content and choose the root (package rules), judge each
// block by a model (package judge), render (package mdwrite).
//
// What is not HTML is told apart in format.go: source code, JSON, CSV, notebooks and bodies without text (package
// formats), XML, sitemaps and SVG (xml.go), feeds (feed.go), PDF (pdf.go, packages pdflayout and formats), web archives
// (package mhtml), and documents in zip archives (zipdocument.go, packages docx, xlsx, pptx, opendocument and epub).
// Feeds and documents become pages in HTML first, and then go the way of all pages.
//
// Every byte is treated as hostile. Input, output, nesting and spans are bounded (package guard), and the context is
// checked at every node. A conversion that fails for any reason gives the page's text alone, with the warning
// fallback-text. Whenever something is cut, a warning says so.
//
// To add a rule, add a line to a table of the package whose step it is, and a golden pair to testdata.
//
// # Who owns what
//
//   - what is a bot wall, a paywall, or a shell that scripts fill: package signs
//   - which character encoding a text has that states none, or a false one: [charset.Decode]
//   - which format a body has that is no page, and who reads it: formatOf (format.go), archiveReaders (zipdocument.go)
//   - which frames of a page can be read: [FindFrames] (frames.go)
//   - which buttons are text, as titles of what they fold: keepLabel (convert/hidden/fold.go)
//   - which text is hidden: package hidden, for other packages [CleanMarkdown], [CleanText] (clean.go)
//   - how thoroughly texts are cleaned, as a number that is stored with each: [CleanEdition] (clean.go)
//   - which elements and attributes are our own: Own (convert/dom/own.go)
//   - which addresses compact links leave out: [CompactLinks] (markdownlinks.go)
//   - which anchors a page has: [Anchors] (anchors.go)
//   - what a recipe chooses of a page, and how its items are written: recipe_serve.go
//   - which recipe suits a page that has none: [Document.Propose] (propose.go)
//   - which elements a selector of a recipe matches, and at which cost it gives up: Finder (convert/css/finder.go)
//   - how many tokens a text has: [Tokens] (tokens.go)
package convert
