// Package files makes documents of files: markdown, text, HTML, PDF, and lines of JSON.
//
// Whoever may read the files packs them into a parcel with [Pack]; whoever keeps documents reads that with [Read].
// So the daemon reads no path that a request names. parcel.go is how a parcel is laid out, list.go which files are
// taken, files.go what becomes of each.
package files
