package docx

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"strconv"
	"strings"

	"github.com/readthru/readthru/convert/xmlread"
)

// run is how a run of text looks. A run's own properties go before those of its style.
type run struct {
	bold, italic, strike, code bool
	raised                     string // sup or sub
	vanish                     string // "on" or "off", "" where it is not stated
	thin, shaded               bool   // letters are too narrow to be read; what stands behind them is not the page
	color                      string // RRGGBB
	size                       int    // of letters, in half points; 0 where it is not stated, or usual
	sized                      bool   // it is stated
}

// tags are the elements of HTML for the look of a run. A heading is bold anyway. Whether people see text of a look is
// for the converter of HTML to say: what Word does not show is not displayed, small letters have their size, and
// letters that stand on the page itself have their color. onPage says that nothing else than the page is behind the
// text.
func (r run) tags(p *paragraph, onPage bool) []string {
	var list []string
	if !r.sized {
		r.size = cmp.Or(r.size, p.style.size)
	}
	if p.heading == 0 { // a title often stands on a picture
		r.color = cmp.Or(r.color, p.style.color)
	}
	for _, t := range []struct {
		on   bool
		name string
	}{
		{r.thin || cmp.Or(r.vanish, p.style.vanish) == "on", `span style="display:none"`},
		{r.size > 0, fmt.Sprintf(`span style="font-size:%.1fpt"`, float64(r.size)/2)},
		{onPage && !r.shaded && !p.shaded && isColor(r.color), `span style="color:#` + r.color + `"`},
		{r.bold && p.heading == 0, "strong"},
		{r.italic, "em"},
		{r.strike, "del"},
		{r.code && !p.style.code, "code"},
		{r.raised != "", r.raised},
	} {
		if t.on {
			list = append(list, t.name)
		}
	}
	return list
}

// usualSize is the size of letters, in half points, from which on it is not written: all can read them. It is eight
// points.
const usualSize = 16

// colorOf returns the color that an element states for the look of letters. That of the page has no value of its own.
// It is the background's for a theme color of that name, six digits, "auto", or "".
func colorOf(t xml.StartElement) string {
	value := xmlread.Attr(t, "val")
	if theme := xmlread.Attr(t, "themeColor"); (value == "" || value == "auto") &&
		(theme == "background1" || theme == "light1") && xmlread.Attr(t, "themeShade") == "" {
		return "FFFFFF"
	}
	return value
}

// sizeOf returns the size of letters that a run's look states, in half points, and whether it is smaller than usual.
func sizeOf(value string) (size int, small bool) {
	size, err := strconv.Atoi(value)
	return size, err == nil && size > 0 && size < usualSize
}

// isColor reports whether a value in the look of a run is a color: six hexadecimal digits. It may be "auto".
func isColor(value string) bool {
	_, err := strconv.ParseUint(value, 16, 32)
	return err == nil && len(value) == 6
}

// isShade reports whether an element of a run's look puts a color behind its text.
func isShade(t xml.StartElement) bool {
	fill := strings.ToLower(xmlread.Attr(t, "fill"))
	return fill != "" && fill != "auto" && fill != "ffffff" || xmlread.Attr(t, "themeFill") != ""
}

// shade takes, for the look of a run, what stands behind it or, before the first, behind a paragraph. Letters on it are
// not judged by their color: the color of the page is not behind them.
func (s *story) shade(t xml.StartElement) {
	if !isShade(t) {
		return
	}
	if s.inRun {
		s.runs.shaded = true
	} else {
		s.p.shaded = true
	}
}
