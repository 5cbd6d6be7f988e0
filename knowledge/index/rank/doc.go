// Package rank finds the passages whose words suit a query best: BM25F over the fields of a passage, with phrases,
// prefixes, and more for neighbours in the query that stand near each other. It knows queries and segments, and no
// documents.
//
// [New] makes a [Scorer] for a query over a view of the segments; [Scorer.Rank] goes through these one after the other
// and returns the best passages, [Scorer.Explain] says how a score came about. score.go has the loops, bm25.go the
// constants; prune.go leaves out what cannot matter.
package rank
