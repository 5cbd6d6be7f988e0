package xlsx

import (
	"encoding/xml"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/readthru/readthru/convert/xmlread"
)

// form says how a number is shown.
type form int

// The forms of numbers: as it is stored, a share of a hundred, and points in time: a day, a time of day or a duration,
// and both.
const (
	plain form = iota
	percent
	day
	clock
	moment // day and clock
)

// builtIn are the formats of shares and dates that have a number of their own (ECMA-376 part 1, §18.8.30). Workbooks do
// not describe these formats.
var builtIn = map[int]form{
	9: percent, 10: percent, 14: day, 15: day, 16: day, 17: day, 18: clock, 19: clock, 20: clock, 21: clock, 22: moment,
	45: clock, 46: clock, 47: clock,
}

// readFormats reads how styles of cells show numbers, and how each shows its text. Cells refer to an element of cellXfs
// by its place; named styles and others are passed over.
func (b *workbook) readFormats() {
	own := map[int]form{}
	tables := styles{blank: map[int][2]bool{}}
	inCells := false
	b.files.Each("xl/styles.xml", func(_ *xml.Decoder, t xml.StartElement) {
		tables.read(t)
		switch t.Name.Local {
		case "numFmt":
			if id, err := strconv.Atoi(xmlread.Attr(t, "numFmtId")); err == nil && len(own) < 10_000 {
				own[id] = formOf(xmlread.Attr(t, "formatCode"))
			}
		case "cellStyleXfs", "cellStyles", "dxfs":
			inCells = false
		case "cellXfs":
			inCells = true
		case "xf":
			if !inCells || len(b.forms) >= 100_000 {
				return
			}
			id, _ := strconv.Atoi(xmlread.Attr(t, "numFmtId"))
			f, known := own[id]
			if !known {
				f = builtIn[id]
			}
			b.forms = append(b.forms, f)
			b.looks = append(b.looks, tables.of(t))
		}
	})
}

// formOf returns what the code of a format shows. Quoted text, and what stands in brackets, are no parts of a date.
// Years, days, hours, seconds and names of months make a code one of dates; "m" alone, which is a month or minutes,
// does not.
func formOf(code string) form {
	var letters strings.Builder
	quoted, bracket := false, false
	code, _, _ = strings.Cut(code, ";") // of positive numbers
	for i := 0; i < len(code); i++ {
		switch c := code[i]; {
		case c == '\\' || c == '_' || c == '*':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[':
			bracket = true
		case c == ']':
			bracket = false
		case !bracket:
			letters.WriteByte(c | 0x20)
		}
	}
	text := letters.String()
	hasDay := strings.ContainsAny(text, "yd")
	hasClock := strings.ContainsAny(text, "hs")
	switch {
	case strings.Contains(text, "general"), strings.ContainsAny(text, "0#?") && !hasClock:
		if strings.Contains(text, "%") {
			return percent
		}
		return plain
	case hasDay && hasClock:
		return moment
	case hasDay, strings.Contains(text, "mmm"):
		return day
	case hasClock:
		return clock
	}
	return plain
}

// text returns the point in time that n stands for, as ISO 8601 writes it but with a space before the time of day, or a
// duration as hours, minutes and seconds. since is 1900 or 1904, the year in which the calendar of the workbook begins.
// In that of 1900 day 1 is 1 January, and there is a 29 February; in that of 1904 day 0 is 1 January. Numbers that no
// calendar has are returned as they are.
func (f form) text(n float64, since int) string {
	if f == percent { // of fifteen digits, as Excel has them: .07 times a hundred is not quite 7
		n, _ = strconv.ParseFloat(strconv.FormatFloat(n*100, 'g', 15, 64), 64)
		return strconv.FormatFloat(n, 'f', -1, 64) + "%"
	}
	if n < 0 || n > 2_958_465 { // the end of 9999
		return strconv.FormatFloat(n, 'f', -1, 64)
	}
	start := time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)
	switch {
	case since == 1904:
		start = time.Date(1904, 1, 1, 0, 0, 0, 0, time.UTC)
	case n < 60:
		start = start.AddDate(0, 0, 1)
	}
	days, rest := math.Modf(n)
	t := start.AddDate(0, 0, int(days)).Add(time.Duration(math.Round(rest*86400)) * time.Second)
	switch {
	case f == clock && days == 0:
		return t.Format("15:04:05")
	case f == clock: // a duration
		seconds := int(math.Round(n * 86400))
		return strconv.Itoa(seconds/3600) + t.Format(":04:05")
	case f == day:
		return t.Format(time.DateOnly)
	}
	return t.Format(time.DateTime)
}
