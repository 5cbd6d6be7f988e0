package store

import (
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/readthru/readthru/store/wire"
)

// encode returns the record of a stored response, without its content. Maps are written in the order of their keys, so
// that equal responses have equal records.
func (r *Response) encode() []byte {
	var e wire.Encoder
	e.Raw(r.ID[:])
	e.Raw(r.Body[:])
	e.Text(r.URL)
	e.List(r.Vary)
	e.Int(int64(len(r.Selecting)))
	for _, name := range slices.Sorted(maps.Keys(r.Selecting)) {
		e.Text(name)
		e.Text(r.Selecting[name])
	}
	e.Text(r.Partition)
	e.Text(r.Class)
	e.Int(int64(r.Status))
	e.Int(int64(len(r.Header)))
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		e.Text(name)
		e.List(r.Header[name])
	}
	e.Time(r.RequestTime)
	e.Time(r.ResponseTime)
	e.Int(r.Length)
	e.Int(r.Offset)
	e.Int(r.Total)
	e.Time(r.Retain)
	e.List(r.Tags)
	return e
}

// ResponseForm is the form that Encode writes and DecodeResponse reads.
const ResponseForm = 1

// Encode returns r, without its content, in a form for other stores.
func (r *Response) Encode() []byte { return r.encode() }

// DecodeResponse reads what Encode wrote, and reports whether it did. The response has no ID.
func DecodeResponse(b []byte) (*Response, bool) {
	r, ok := decodeResponse(b)
	r.ID = EntryID{}
	return r, ok
}

// decodeResponse reads what encode wrote, and reports whether it did.
func decodeResponse(b []byte) (*Response, bool) {
	d := wire.NewDecoder(b)
	r := &Response{}
	copy(r.ID[:], d.Raw(len(r.ID)))
	copy(r.Body[:], d.Raw(len(r.Body)))
	r.URL = d.Text()
	r.Vary = d.List()
	if n := d.Count(); n > 0 {
		r.Selecting = make(map[string]string, min(n, 64))
		for range n {
			if d.Bad() {
				return r, false
			}
			name := d.Text()
			r.Selecting[name] = d.Text()
		}
	}
	r.Partition = d.Text()
	r.Class = d.Text()
	r.Status = int(d.Int())
	n := d.Count()
	r.Header = make(http.Header, min(n, 64))
	for range n {
		if d.Bad() {
			return r, false
		}
		name := d.Text()
		r.Header[name] = d.List()
	}
	r.RequestTime = d.Time()
	r.ResponseTime = d.Time()
	r.Length = d.Int()
	r.Offset = d.Int()
	r.Total = d.Int()
	r.Retain = d.Time()
	r.Tags = d.List()
	return r, d.OK()
}

// variants is the record of a URI: which responses are stored for it, and when it was last used.
type variants struct {
	URL  string
	Used uint32 // hour of its last use
	IDs  []EntryID
}

// encode returns the record that decodeVariants reads.
func (v *variants) encode() []byte {
	var e wire.Encoder
	e.Text(v.URL)
	e.Int(int64(v.Used))
	e.Int(int64(len(v.IDs)))
	for _, id := range v.IDs {
		e.Raw(id[:])
	}
	return e
}

// decodeVariants reads the record of a URI, and reports whether it is whole.
func decodeVariants(b []byte) (v variants, ok bool) {
	d := wire.NewDecoder(b)
	v.URL = d.Text()
	v.Used = uint32(d.Int())
	for range d.Count() {
		var id EntryID
		copy(id[:], d.Raw(len(id)))
		v.IDs = append(v.IDs, id)
	}
	return v, d.OK()
}

// Fields describes the binary form of a page's record to package wire, which writes and reads it. The order is the
// form: what is new comes last, behind f.Ends.
func (r *pageRecord) Fields(f wire.Fields) {
	p := &r.Page
	for _, s := range []*string{
		&p.Doc, &p.URL, &p.FinalURL, &p.CanonicalURL, &p.NormalizedURL, &p.Display, &p.Title, &p.Description,
		&p.ContentFormat, &p.Excerpt, &p.ContentHash, &p.ContentType,
	} {
		f.Text(s)
	}
	wire.Word(f, &p.Type)
	wire.Word(f, &p.Source)
	f.Meta(&p.Meta)
	wire.Rare(f, &p.GitHub)
	wire.Rare(f, &p.Error)
	for _, n := range []*int{&p.Tokens, &p.SizeBytes, &p.StatusCode} {
		wire.Integer(f, n)
	}
	wire.Integer(f, &p.Bytes)
	for _, t := range []*time.Time{&p.CreatedAt, &p.UpdatedAt, &p.FetchedAt} {
		f.Time(t)
	}
	f.Bool(&p.Stored)
	f.List(&p.Warnings)
	i := &p.Info
	for _, n := range []*int64{&i.FetchMS, &i.ConvertMS, &i.RenderMS, &i.LLMMS} {
		wire.Integer(f, n)
	}
	for _, n := range []*int{
		&i.LLMPromptTokens, &i.LLMCompletionTokens, &i.LLMTotalTokens, &i.HTMLChars, &i.MarkdownChars, &i.HTMLTokens,
	} {
		wire.Integer(f, n)
	}
	f.Text(&i.RenderEnd)
	f.Text(&i.LLMModel)
	f.Hash((*[32]byte)(&r.Source))
	wire.Integer(f, &r.Job)
	wire.Integer(f, &r.Edition)
	// older programs do not know of what follows, and read what has none
	if f.Ends(len(p.Preferences) == 0 && p.ReadAt.IsZero()) {
		return
	}
	stated := &p.Preferences
	if f.Reading() {
		stated = nil
	}
	if wire.Rare(f, &stated); stated != nil {
		p.Preferences = *stated
	}
	if f.Ends(p.ReadAt.IsZero()) {
		return
	}
	f.Time(&p.ReadAt)
}

// Fields describes the binary form of a rendition's record, as that of a page is described.
func (r *renditionRecord) Fields(f wire.Fields) {
	f.Hash((*[32]byte)(&r.Source))
	f.Hash((*[32]byte)(&r.Body))
	for _, s := range []*string{
		&r.Recipe, &r.Title, &r.Description, &r.CanonicalURL, &r.PageType, &r.FinalURL, &r.Validator, &r.ContentHash,
		&r.Excerpt,
	} {
		f.Text(s)
	}
	wire.Word(f, &r.From)
	f.Meta(&r.Meta)
	for _, n := range []*int{
		&r.Tokens, &r.HTMLTokens, &r.HTMLChars, &r.MarkdownChars, &r.Readme.From, &r.Readme.To, &r.SymbolMap.From,
		&r.SymbolMap.To,
	} {
		wire.Integer(f, n)
	}
	wire.Integer(f, &r.Bytes)
	f.List(&r.Warnings)
	for _, t := range []*time.Time{&r.Expires, &r.Fresh, &r.FetchedAt} {
		f.Time(t)
	}
	f.Bool(&r.Rendered)
	// older programs do not know of what follows, and read what has none
	if f.Ends(r.SiteRecipe == "" && r.Links == nil) {
		return
	}
	f.Text(&r.SiteRecipe)
	f.Text(&r.Next)
	if f.Ends(r.Links == nil) {
		return
	}
	if f.Reading() {
		r.Links = new(Links)
	}
	f.List(&r.Links.URLs)
	f.Bool(&r.Links.Cut)
}
