// Package archive keeps the documents of knowledge bases that are no pages: files, texts, records of files. It knows
// neither bases nor the index.
//
// An [Archive] keeps a document as a [Head], which says what it is, and the parts of its markdown. It is found by its
// key, its URL and its metadata. What else changes in the same transaction (which bases have it; that the index is to
// look at it, see [Queued]) is handed in. limits.go says what cannot be kept. Texts
// that an older edition of the cleaner left are cleaned when they are read.
package archive
