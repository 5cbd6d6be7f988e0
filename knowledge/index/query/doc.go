// Package query reads what is asked of an index: the words of a query with their stems, its phrases and prefixes, and
// the names that it uses as code does. It knows how words may be misspelt, and of an index only the segments, where it
// looks up which words there are. It does not rank.
//
// [Parse] reads a text. Words that hardly any passage has are then looked for in other forms: [Parsed.Inflect] adds the
// stems that they have in other languages, and [Parsed.Correct] puts words of the index in their place, with a
// [Correction] for whoever asked. query.go and names.go read; spelling.go decides, by way of knownwords.go (which words
// does the index know?), meant.go and mistakes.go (which was meant?) and compounds.go (one word or two?).
package query
