package agents

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
)

// Format is how a file is edited.
type Format int

// Formats.
const (
	JSON  Format = iota // members and list items of a JSON file, comments allowed
	TOML                // tables of a TOML file, between two comments
	Text                // a block of a text, between two comments
	Whole               // a file of ours alone
)

// File is a settings file of an agent, and what of ours belongs into it.
type File struct {
	Path   string
	Format Format
	About  string // what it is for, in a word or two
	Wants  []Want // of JSON and TOML
	Body   string // of Text and Whole
}

// Want is a setting. Its path are the names of the objects that lead to it, its own name last.
type Want struct {
	Path   []string `json:"path"`
	Item   bool     `json:"item,omitempty"` // an item of the list at Path, beside those of others
	Value  any      `json:"value"`
	Group  string   `json:"group,omitempty"` // settings that are of use together alone: all are put in, or none
	Common bool     `json:"-"`               // its value does not tell that it is ours
}

// Name is the setting's path as people write it.
func (w Want) Name() string { return strings.Join(w.Path, ".") }

// Record remembers what was put into a file. The zero Record remembers nothing.
type Record struct {
	Path    string     `json:"path"`
	Format  Format     `json:"format"`
	Created bool       `json:"created,omitempty"` // the file was not there before
	Sum     string     `json:"sum"`               // hex SHA-256 of the file as we left it
	Put     []Splice   `json:"put"`
	Wants   []Want     `json:"wants,omitempty"`
	Made    [][]string `json:"made,omitempty"` // objects and lists that were not there before
}

// File returns what the record is of, so that it can be removed.
func (r Record) File() *File { return &File{Path: r.Path, Format: r.Format, Wants: r.Wants} }

// Edit is what becomes of a file.
type Edit struct {
	Text   []byte
	Gone   bool // the file is of no more use
	Record Record
	Notes  []string // what could not be done, and why
}

// edited is a text with what was put into it.
type edited struct {
	text  []byte
	put   []Splice
	wants []Want // that were put in
	made  [][]string
	notes []string
}

// Setup returns the file with our settings in it: now is its content, nil when it is not there, and rec what an earlier
// Setup put in. Settings of others stay as they are; one that has another value already is told in Notes. Where all is
// as it should be Text is now.
func (f *File) Setup(now []byte, rec Record) (Edit, error) {
	base, taken, err := f.without(now, rec)
	if err != nil {
		return Edit{}, err
	}
	next, err := f.add(base)
	if err != nil {
		return Edit{}, err
	}
	if len(next.put) == 0 {
		return Edit{Text: base, Notes: next.notes}, nil
	}
	created := rec.Created
	if now == nil {
		created = true
	}
	fresh := Record{
		Path: f.Path, Format: f.Format, Created: created, Sum: sumOf(next.text), Put: next.put,
		Wants: next.wants, Made: next.made,
	}
	if len(next.wants) == taken { // as many as it had: has it them all, somewhere?
		if again, err := f.add(now); err == nil && len(again.put) == 0 && string(next.text) != string(now) {
			return Edit{Text: now, Record: rec, Notes: next.notes}, nil
		}
	}
	return Edit{Text: next.text, Record: fresh, Notes: next.notes}, nil
}

func sumOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Remove returns the file without our settings. A file that was not changed since Setup comes back to the byte; from
// one that was, ours alone is taken. Where nothing of ours is in it Text is now.
func (f *File) Remove(now []byte, rec Record) (Edit, error) {
	base, _, err := f.without(now, rec)
	if err != nil {
		return Edit{}, err
	}
	e := Edit{Text: base, Gone: now != nil && (rec.Created || f.Format == Whole) && f.blank(base)}
	if f.Format == Whole && len(base) > 0 {
		e.Notes = append(e.Notes, "it was changed since it was written, or is not ours, and stays")
	}
	return e, nil
}

// without returns the file as it is without ours, and how many settings of ours it had.
func (f *File) without(now []byte, rec Record) (base []byte, taken int, err error) {
	if now == nil {
		return nil, 0, nil
	}
	if rec.Sum != "" && sumOf(now) == rec.Sum {
		if base, ok := Undo(now, rec.Put); ok {
			return base, len(rec.Wants), nil
		}
	}
	return f.take(now, rec)
}

// blank reports whether nothing is left in a file.
func (f *File) blank(text []byte) bool {
	left := strings.Join(strings.Fields(strings.TrimPrefix(string(text), "\ufeff")), "")
	return left == "" || f.Format == JSON && left == "{}"
}

// add puts in what is not there.
func (f *File) add(text []byte) (edited, error) {
	switch f.Format {
	case JSON:
		return addJSON(text, f.Wants)
	case TOML:
		return addTOML(text, f.Wants)
	case Text:
		return addBlock(text, f.Body, htmlMarks), nil
	}
	if string(text) == f.Body {
		return edited{text: text}, nil
	}
	if len(text) > 0 {
		return edited{}, errors.New("there is a file of that name already, which is not ours or was changed since")
	}
	return edited{text: []byte(f.Body), put: []Splice{{0, f.Body}}, wants: make([]Want, 1)}, nil
}

// take takes ours out of a text that may have changed, and says how many settings that were. Without a record, what is
// ours is told by its value.
func (f *File) take(text []byte, rec Record) ([]byte, int, error) {
	switch f.Format {
	case JSON:
		put := rec.Wants
		if rec.Sum == "" {
			put = slices.DeleteFunc(slices.Clone(f.Wants), func(w Want) bool { return w.Common })
		}
		return takeJSON(text, put, f.Wants, rec.Made)
	case TOML:
		return takeTOML(text)
	case Text:
		rest, n := takeBlocks(text, htmlMarks)
		return rest, n, nil
	}
	if string(text) == f.Body {
		return nil, 1, nil
	}
	return text, 0, nil
}
