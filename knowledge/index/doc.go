// Package index is an inverted index over the passages of documents: it keeps their terms, and answers a query with the
// documents whose passages suit it best. It knows no knowledge bases and no pages beyond what a [Document] says.
//
// [New] makes an [Index] over the records of a store, and [Index.Open] reads it. [Index.IndexAll] and [Index.Delete]
// change it, each in one transaction; [Index.Search] asks it.
//
// Read the files in this order:
//
//   - index.go holds the index; package segment keeps the terms of its passages on disk; change.go and commit.go make
//     one transaction; merging.go merges segments; load.go reads the index at the start, and lookup.go a passage by its
//     number;
//   - search.go answers a query, which package query reads; filter.go limits what may be found; package rank ranks
//     passages by their words, and fusion.go by what vectors say beside; favour.go finds documents that define what the
//     query names, and rerank.go asks a model; hits.go, explain.go and package excerpt show what was found.
package index
