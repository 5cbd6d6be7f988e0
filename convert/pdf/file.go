// Package pdf reads the text of PDF files (ISO 32000): its pages, and on each page the glyphs that a viewer shows,
// with their place, size and style, and the lines that were ruled.
//
// [Open] finds the pages of a file, and [File.Pages] returns them one after the other. The package does not put glyphs
// together: package readthru/convert/pdflayout makes words, lines and columns of them.
//
// Every file is treated as hostile. There are limits on depth, on decoded size and on the number of steps, and no
// reference is followed in a circle. A damaged cross-reference table is rebuilt from the objects that are found. Files
// that are encrypted with an empty password are decrypted, as viewers do. Pictures, form fields, scripts and
// attachments are not read.
package pdf

import (
	"context"
	"errors"
	"time"
)

// Errors of [Open].
var (
	ErrEncrypted = errors.New("the PDF needs a password")
	ErrDamaged   = errors.New("no pages found in the PDF")
)

// The limits of reading one PDF. They are far beyond what documents have, so that only files made to be slow or large
// meet them. What exceeds them is left out, and [File.Cut] reports true.
const (
	maxPages   = 5000
	maxDecoded = 256 << 20 // bytes of output of all filters together
	maxStream  = 64 << 20  // bytes of one decoded stream
	pageSteps  = 2e6       // steps for one page, of maxSteps
	maxGlyphs  = 300e3     // of one page
	maxNesting = 40        // of arrays, dictionaries and references
	maxForms   = 8         // forms within forms
	maxObjects = 1 << 20   // that a file may declare
	maxItems   = 1 << 18   // within one object, and objects in one stream of them
	maxString  = 1 << 20   // bytes of one string
	maxActual  = 1 << 10   // bytes of an ActualText; a longer one is ignored
	stepBytes  = 16        // bytes of a stream count as one step
	lexBytes   = 4         // bytes between streams count as one step
)

// maxSteps bounds the work on one file: the number of operators, glyphs and objects, and the bytes read for them. It is
// a variable so that tests can lower it.
var maxSteps = 20_000_000

// File is an open PDF. It must not be used by several goroutines at once.
type File struct {
	Title, Author string    // from the information dictionary; UTF-8, may be empty
	Created       time.Time // zero if not known
	Lang          string    // a language tag; may be empty

	r     *pdfReader
	pages []dict
	fonts map[ref]*font
	off   map[ref]bool // groups of optional content: true for those that are not shown
	cut   bool
}

// Open reads the structure of a PDF. It keeps content, which must not change afterwards. The error is ErrEncrypted,
// ErrDamaged or the context's error.
func Open(ctx context.Context, content []byte) (f *File, err error) {
	f = &File{fonts: map[ref]*font{}}
	f.r = &pdfReader{ctx: ctx, b: content, left: maxDecoded, stepsLeft: maxSteps}
	defer f.r.rescue(&err, ErrDamaged)
	if err := f.r.open(); err != nil {
		return nil, err
	}
	f.collect(f.r.dict(f.r.trailer["Root"]))
	if len(f.pages) == 0 && !f.r.repaired {
		if err := f.r.repair(); err != nil {
			return nil, err
		}
		f.collect(f.r.dict(f.r.trailer["Root"]))
	}
	if len(f.pages) == 0 { // the page tree is lost, but pages may be left
		f.collectAll()
	}
	if len(f.pages) == 0 {
		return nil, ErrDamaged
	}
	f.describe()
	f.layers()
	return f, nil
}

// Cut reports whether something of a PDF was left out because it was damaged or exceeded a limit.
func (f *File) Cut() bool { return f.cut || f.r.cut }

// Repaired reports whether the objects of a PDF had to be looked for, because the table that says where they stand, at
// the end of the file, was lost or wrong.
func (f *File) Repaired() bool { return f.r.repaired }

// describe reads the information dictionary and the language of a PDF. What they say is the author's, and often empty
// or the name of a program.
func (f *File) describe() {
	info := f.r.dict(f.r.trailer["Info"])
	f.Title, f.Author = f.r.text(info["Title"]), f.r.text(info["Author"])
	f.Created = parseDate(f.r.text(info["CreationDate"]))
	f.Lang = f.r.text(f.r.dict(f.r.trailer["Root"])["Lang"])
}
