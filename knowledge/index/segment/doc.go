// Package segment is the part of an inverted index that knows only terms, numbers and bytes: which passages have a
// term, how often and where in each of their fields, laid out so that a search reads no more than it needs. It knows no
// documents beyond their numbers, no queries, and not how passages are ranked.
//
// A [Builder] collects the terms of new passages and completes a [Segment] with them, which never changes but for the
// passages that die in it. A [Merger] makes one segment of several. Whoever keeps the index writes their records, in
// the order that he answers for, and reads them with [Load].
//
// A search sees the segments as a [View]. It finds there the [List] of a term's postings and goes through it chunk by
// chunk, or with a [Cursor] from one passage to the next. Blocks of terms that were read stay in memory, see [Blocks].
//
// Read the files in this order: postings.go is how the postings of a term are laid out, terms.go how terms are laid out
// in blocks, segment.go how the table of a segment's passages is; builder.go turns text into terms; records.go says
// under which keys all that is kept.
package segment
