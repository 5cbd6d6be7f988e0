package agents

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
)

// Format says how a file is edited.
type Format int

// The formats.
const (
	JSON  Format = iota // members and list items of a JSON file, comments allowed
	TOML                // tables of a TOML file, between two comments
	Text                // a block of a text file, between two comments
	Whole               // a file that is entirely ours
)

// File is a settings file of an agent with the settings that readthru needs in it.
type File struct {
	Path   string
	Format Format
	About  string // the purpose, in a word or two
	Wants  []Want // for JSON and TOML
	Body   string // for Text and Whole
}

// Want is a setting. Path has the names of the enclosing objects and, last, its own name.
type Want struct {
	Path   []string `json:"path"`
	Item   bool     `json:"item,omitempty"` // an item of the list at Path, which may have other items
	Value  any      `json:"value"`
	Group  string   `json:"group,omitempty"` // either all settings of a group are added or none
	Common bool     `json:"-"`               // others may have the same setting with the same value
}

// Name returns the path of the setting with dots.
func (w Want) Name() string { return strings.Join(w.Path, ".") }

// Record is a record of what Setup added to a file. The zero Record is that of a file without our settings.
type Record struct {
	Path    string     `json:"path"`
	Format  Format     `json:"format"`
	Created bool       `json:"created,omitempty"` // Setup created the file
	Sum     string     `json:"sum"`               // hex SHA-256 of the file after Setup
	Put     []Splice   `json:"put"`
	Wants   []Want     `json:"wants,omitempty"`
	Made    [][]string `json:"made,omitempty"` // objects and lists that Setup created
}

// File returns the file of the record, for [File.Remove].
func (r Record) File() *File { return &File{Path: r.Path, Format: r.Format, Wants: r.Wants} }

// Edit is the result of an edit.
type Edit struct {
	Text   []byte
	Gone   bool // the file can be deleted
	Record Record
	Notes  []string // what was not done and why
}

// edited is a text with the settings that were added to it.
type edited struct {
	text  []byte
	put   []Splice
	wants []Want // the added settings
	made  [][]string
	notes []string
}

// Setup returns the file with our settings. now is its content, or nil if the file does not exist; rec is the record of
// an earlier Setup. Settings of others do not change. If a setting already has another value, Setup leaves it and says
// so in Notes. If the file needs no change, Text is now.
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
	if len(next.wants) == taken { // the same number as before; the file may already have them all
		if again, err := f.add(now); err == nil && len(again.put) == 0 && string(next.text) != string(now) {
			return Edit{Text: now, Record: rec, Notes: next.notes}, nil
		}
	}
	return Edit{Text: next.text, Record: fresh, Notes: next.notes}, nil
}

// sumOf returns the hash of a settings file, by which a record tells whether somebody changed it.
func sumOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Remove returns the file without our settings. If nobody changed the file since Setup, the result is exactly the file
// before Setup. Otherwise only our settings are removed. If the file has none of them, Text is now.
func (f *File) Remove(now []byte, rec Record) (Edit, error) {
	base, _, err := f.without(now, rec)
	if err != nil {
		return Edit{}, err
	}
	e := Edit{Text: base, Gone: now != nil && (rec.Created || f.Format == Whole) && f.blank(base)}
	if f.Format == Whole && len(base) > 0 {
		e.Notes = append(e.Notes, "kept: the file was changed or was not written by readthru")
	}
	return e, nil
}

// without returns the file without our settings, and how many of them it had.
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

// blank reports whether the text of a settings file, in its format, is empty.
func (f *File) blank(text []byte) bool {
	left := strings.Join(strings.Fields(strings.TrimPrefix(string(text), "\ufeff")), "")
	return left == "" || f.Format == JSON && left == "{}"
}

// add adds the settings that are missing.
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
		return edited{}, errors.New("a file with this name exists that was changed or was not written by readthru")
	}
	return edited{text: []byte(f.Body), put: []Splice{{0, f.Body}}, wants: make([]Want, 1)}, nil
}

// take removes our settings from a text that may have changed, and returns how many there were. Without a record it
// recognises them by their values.
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
