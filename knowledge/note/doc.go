// Package note keeps what agents find out: notes, and relations between these and passages. A note is a document, too:
// document.go says which. It is indexed, described and searched by whoever holds a [Store].
package note
