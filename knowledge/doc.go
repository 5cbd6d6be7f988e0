// Package knowledge answers what the stored pages say about a query. It cuts documents into passages, keeps an index of
// them, ranks hits, and holds the knowledge bases. It runs behind every request, never on its path, and needs no model
// and no network.
//
// [Open] makes a [Knowledge] over a store, [Knowledge.Run] keeps it up to date, and [Knowledge.Search] asks it. All its
// records have keys that begin with k/; [Knowledge.Rebuild] makes the index again from the others at any time.
//
// Read the files in this order:
//
//   - open.go opens the knowledge; consumer.go and rebuild.go bring stored documents into the index, and
//     retry.go repeats what failed; documents.go reads a document of any kind;
//   - package outline cuts markdown into passages, and finds headings, sections, definitions and quotes;
//   - package index finds passages by words, and package excerpt shows them; search.go asks them;
//   - base.go holds knowledge bases, membership.go which documents belong to them; build.go fills a base, and
//     deletebase.go deletes one; package archive keeps documents that are not pages, ingest.go and package files accept
//     them; pack.go and unpack.go write and read a base as one file, in the form of package pack;
//   - package meaning finds passages that are near in meaning, over package vector, and package index combines the
//     two rankings; package annotation describes passages, and annotations.go has that indexed with them; package note
//     keeps what agents add, notes.go and relations.go have it searched with the rest; passages.go finds passages by
//     what they are about.
//
// # Who owns what
//
//   - how markdown is cut into passages, and what its places are called: package outline
//   - which texts are cleaned before the index keeps them: Knowledge.prepare (documents.go)
//   - what a note is as a document, and which pages it is about: package note
//   - what a text is about, without a model: package statement
//   - what a node keeps of the knowledge bases of others: sharing.go
//   - which documents wait for the index before a search: catchup.go
//   - which documents are retried, and which are set aside: retry.go, jobs.go
package knowledge
