package archive

import (
	"encoding/xml"
	"maps"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"github.com/readthru/readthru/convert/guard"
)

// The limits of what is kept of texts that a file does not show. They reach no reader: they are counted, and some are
// shown in the report.
const (
	maxUnseen     = 200     // of each kind
	maxUnseenText = 4 << 10 // bytes
)

// Kinds of text that a document has beside its own. Programs show it in a margin, or struck out.
const (
	Deleted    = "deleted"    // by a change that is on record
	Annotation = "annotation" // a comment
)

// Piece is a text of a file that its Body has nothing of. Package hidden reports it.
type Piece struct {
	Kind string // Deleted, Annotation, or "" for what is hidden
	Text string
}

// Unseen is a text that a file does not show, in the making: a sheet, a slide, rows that stand together, a comment. It
// is handed to [Document.Hide] when it is whole, and used again. The zero value is an empty text that is hidden.
type Unseen struct {
	Kind string // as that of a [Piece]
	text strings.Builder
}

// Add appends HTML, as a text that stands apart from what is there. Tags part words.
func (u *Unseen) Add(fragment string) {
	tokens := html.NewTokenizer(strings.NewReader(fragment))
	for u.text.Len() < maxUnseenText {
		switch tokens.Next() {
		case html.ErrorToken:
			u.text.WriteByte(' ')
			return
		case html.TextToken:
			text := string(tokens.Text())
			u.text.WriteString(text[:min(len(text), maxUnseenText)])
		default:
			u.text.WriteByte(' ')
		}
	}
}

// Join appends plain text that continues what is there: files part words as they were typed.
func (u *Unseen) Join(text string) {
	if u.text.Len() < maxUnseenText {
		u.text.WriteString(text[:min(len(text), maxUnseenText)])
	}
}

// Part has what comes next stand apart from what is there.
func (u *Unseen) Part() {
	if u.text.Len() > 0 && !strings.HasSuffix(u.text.String(), " ") {
		u.text.WriteByte(' ')
	}
}

// Hide notes an unseen text, which the file has and does not show, unless it is blank, and takes it out of u. Beyond
// maxUnseen of a kind none is kept.
func (d *Document) Hide(u *Unseen) {
	text := strings.ToValidUTF8(strings.TrimSpace(u.text.String()), "")
	u.text.Reset()
	if text == "" || d.hidden[u.Kind] >= maxUnseen {
		return
	}
	if d.hidden == nil {
		d.hidden = map[string]int{}
	}
	d.hidden[u.Kind]++
	d.Unseen = append(d.Unseen, Piece{u.Kind, text})
}

// Comments notes, as unseen text, the comments in the parts of an Office document that relations lead to, and what
// cells held before changes that are on record. Read them last: they take of what may still be unpacked.
func (a *Archive) Comments(relations map[string]Relation, d *Document) {
	for _, id := range slices.Sorted(maps.Keys(relations)) {
		switch r := relations[id]; r.Kind {
		case "comments", "threadedComment":
			a.texts(r.Target, Annotation, d, "comment", "threadedComment", "cm")
		case "revisionHeaders":
			for _, log := range a.Relations(r.Target) {
				a.texts(log.Target, Deleted, d, "oc")
			}
		}
	}
}

// texts notes, as unseen, the texts of a kind in one part, each of which is an element with one of some names. Who
// wrote them, and when, is left out.
func (a *Archive) texts(part, kind string, d *Document, names ...string) {
	dec := a.Decoder(part)
	if dec == nil {
		return
	}
	text := Unseen{Kind: kind}
	open, inText := false, false
	for {
		guard.Check(a.ctx)
		token, err := dec.RawToken()
		if err != nil {
			d.Hide(&text)
			return
		}
		switch t := token.(type) {
		case xml.StartElement:
			open = open || slices.Contains(names, t.Name.Local)
			inText = open && (t.Name.Local == "t" || t.Name.Local == "text")
		case xml.EndElement:
			switch inText = false; {
			case slices.Contains(names, t.Name.Local):
				open = false
				d.Hide(&text)
			case t.Name.Local == "p", t.Name.Local == "text":
				text.Part()
			}
		case xml.CharData:
			if inText {
				text.Join(string(t))
			}
		}
	}
}
