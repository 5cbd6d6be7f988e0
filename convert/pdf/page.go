package pdf

import (
	"bytes"
	"context"
	"iter"
	"maps"
	"math"
)

// Page is the content of one page. Of a page that is damaged or exceeds a limit it is what was read before.
type Page struct {
	Number        int     // from 1
	Width, Height float64 // in points, after the page's rotation
	Glyphs        []Glyph // in the order of drawing
	Links         []Link
	Notes         []Note
	Images        int // pictures drawn
	Rules         []Rule
	Hidden        int    // glyphs left out because they cannot be seen
	Unseen        []byte // what they say, in the order of drawing, up to maxNote bytes
	Unmapped      int    // glyphs left out because their font does not say what they mean
}

// Glyph is a glyph on a page. Lengths are in points; the origin is the page's lower left corner. Spaces that were drawn
// are glyphs, too; many files draw none.
type Glyph struct {
	Text  string  // one character, or several for a ligature
	X, Y  float32 // where its baseline begins
	W     float32 // along the baseline
	Size  float32 // of the font
	Style Style
	Turn  uint8 // quarters by which the baseline is turned anticlockwise; X and Y are turned back by as many
}

// Style is a set of font styles. It is judged by the font's name and flags, which are all that says so.
type Style uint8

// The styles. A font may have several.
const (
	Bold Style = 1 << iota
	Italic
	Mono
)

// Link is an area of a page that links to a URL. The coordinates are those of two opposite corners, in points. It is an
// annotation of the page, and knows nothing of the text that it lies over.
type Link struct {
	URL            string
	X0, Y0, X1, Y1 float32
}

// Note is a text of an annotation, which viewers show beside the page, on a click, or not at all.
type Note struct {
	Text   string
	Hidden bool // no viewer shows it
}

// collect walks the page tree of a PDF below a catalogue and puts the pages into f.pages, in their order, with what
// they inherit. Nodes that are met twice are passed over, or a tree with a circle would never end. What has content and
// no kids counts as a page, whatever type it states.
func (f *File) collect(catalogue dict) {
	f.pages = nil
	seen := map[ref]bool{}
	var walk func(v any, above dict, depth int)
	walk = func(v any, above dict, depth int) {
		f.r.step()
		if to, ok := v.(ref); ok {
			if seen[to] {
				return
			}
			seen[to] = true
		}
		node := f.r.dict(v)
		if node == nil || depth > maxNesting {
			return
		}
		own := dict{}
		for _, key := range inherited {
			if v, ok := node[key]; ok {
				own[key] = v
			} else if v, ok := above[key]; ok {
				own[key] = v
			}
		}
		kids, isTree := f.r.resolve(node["Kids"]).([]any)
		if t, _ := f.r.resolve(node["Type"]).(name); t == "Page" || !isTree {
			if node["Contents"] == nil && t != "Page" {
				return
			}
			if len(f.pages) >= maxPages {
				f.cut = true
				return
			}
			page := dict{"Contents": node["Contents"], "Annots": node["Annots"]}
			maps.Copy(page, own)
			f.pages = append(f.pages, page)
			return
		}
		for _, kid := range kids {
			walk(kid, own, depth+1)
		}
	}
	walk(catalogue["Pages"], nil, 0)
}

// collectAll takes every page object of the PDF, in the order of their numbers. It is for files whose page tree is
// lost. Their order is a guess, and what a page inherits is not known, so that f.cut is set.
func (f *File) collectAll() {
	for _, n := range f.r.numbers() {
		node := f.r.dict(ref{num: n})
		if t, _ := node["Type"].(name); t == "Page" && len(f.pages) < maxPages {
			f.pages = append(f.pages, node)
			f.cut = true
		}
	}
}

// Pages returns the pages of a PDF one after the other. A page that cannot be read is empty, and [File.Cut] reports
// true. The only error is that of ctx, and it ends the sequence. Each page gets at most pageSteps of the steps that are
// left, so that one page that is slow to read does not take those of the others.
func (f *File) Pages(ctx context.Context) iter.Seq2[*Page, error] {
	return func(yield func(*Page, error) bool) {
		f.r.ctx = ctx
		for i, d := range f.pages {
			p := &Page{Number: i + 1}
			var err error
			func() {
				rest := f.r.stepsLeft
				f.r.stepsLeft = min(rest, pageSteps)
				defer func(begun int) { f.r.stepsLeft += rest - begun }(f.r.stepsLeft)
				defer f.r.rescue(&err, ErrDamaged)
				f.read(p, d)
			}()
			if ctx.Err() != nil {
				yield(nil, ctx.Err())
				return
			}
			f.cut = f.cut || err != nil
			if !yield(p, nil) {
				return
			}
		}
	}
}

// read reads one page of a PDF into p: its size after rotation, its links, and by its content stream the glyphs that
// are seen. A page without a usable box is of the size of a letter, 612 by 792 points. It panics with halt when a limit
// is reached; what p has by then is kept.
func (f *File) read(p *Page, d dict) {
	box := f.r.box(d["CropBox"])
	if box[2]-box[0] < 1 || box[3]-box[1] < 1 {
		if box = f.r.box(d["MediaBox"]); box[2]-box[0] < 1 || box[3]-box[1] < 1 {
			box = [4]float64{0, 0, 612, 792}
		}
	}
	w, h := box[2]-box[0], box[3]-box[1]
	base := matrix{1, 0, 0, 1, -box[0], -box[1]}
	switch turn := int(f.r.number(d["Rotate"])) % 360; (turn + 360) % 360 {
	case 90:
		base = base.then(matrix{0, -1, 1, 0, 0, w})
		w, h = h, w
	case 180:
		base = base.then(matrix{-1, 0, 0, -1, w, h})
	case 270:
		base = base.then(matrix{0, 1, -1, 0, h, 0})
		w, h = h, w
	}
	p.Width, p.Height = w, h
	c := &canvas{f: f, page: p, operators: operators}
	c.annotations(d["Annots"], base)
	defer c.finish()
	everywhere := rect{math.Inf(-1), math.Inf(-1), math.Inf(1), math.Inf(1)}
	g := state{
		ctm: base, scale: 1, fill: black, stroke: black, alpha: 1, line: 1, clip: everywhere,
		fillSpace: colorSpace{channels: 1}, strokeSpace: colorSpace{channels: 1},
	}
	c.run(f.r.contents(d["Contents"]), f.r.dict(d["Resources"]), g, 0)
	c.appearances(d["Annots"], g)
}

// contents returns the content stream of a page, which may be in several parts. A part that is no stream is left out.
// No token may begin in one part and end in the next (§7.7.3.3), so that a line break between them is right.
func (r *pdfReader) contents(v any) []byte {
	switch v := r.resolve(v).(type) {
	case *stream:
		return r.decode(v)
	case []any:
		var b bytes.Buffer
		for _, part := range v {
			if s, ok := r.resolve(part).(*stream); ok {
				b.Write(r.decode(s))
				b.WriteByte('\n')
			}
			r.spend(1)
			if b.Len() > maxStream {
				r.cut = true
				break
			}
		}
		return b.Bytes()
	}
	return nil
}

// inherited are the entries that a page inherits from the nodes above it. They are those of §7.7.3.4.
var inherited = []name{"Resources", "MediaBox", "CropBox", "Rotate"}
