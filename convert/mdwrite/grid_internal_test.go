package mdwrite

import (
	"fmt"
	"strings"
	"testing"
)

// gridOf makes a grid of rows of cells written as TEXT, or TEXT/COLUMNSxROWS.
func gridOf(rows ...string) *tableGrid {
	g := &tableGrid{}
	for _, row := range rows {
		cells := strings.Fields(row)
		for _, c := range cells {
			text, spans, _ := strings.Cut(c, "/")
			columns, rows := uint16(1), uint16(1)
			_, _ = fmt.Sscanf(spans, "%dx%d", &columns, &rows)
			begin := int32(len(g.texts))
			g.texts = append(g.texts, strings.Trim(text, "-")...)
			g.cells = append(g.cells, cell{begin, int32(len(g.texts)), columns, rows})
		}
		g.ends, g.widest = append(g.ends, int32(len(g.cells))), max(g.widest, len(cells))
	}
	return g
}

func TestSpansRepeatTheirCells(t *testing.T) {
	for _, tt := range []struct {
		name string
		rows []string
		want string
	}{
		{"no spans", []string{"a b", "c d"}, "a|b\nc|d\n"},
		{"over columns", []string{"a/2x1 b", "c d e"}, "a|a|b\nc|d|e\n"},
		{"over rows", []string{"a/1x2 b", "c"}, "a|b\na|c\n"},
		{"over rows in the middle", []string{"a b/1x2 c", "d e"}, "a|b|c\nd|b|e\n"},
		{"over rows at the end, after a short row", []string{"a b c/1x3", "d", "e"}, "a|b|c\nd||c\ne||c\n"},
		{"more columns than there are", []string{"a/100x1", "b c"}, "a|a\nb|c\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := gridOf(tt.rows...)
			var got strings.Builder
			for line := range g.lines {
				for i, p := range line {
					if i > 0 {
						got.WriteByte('|')
					}
					got.Write(g.text(p.cell))
				}
				got.WriteByte('\n')
			}
			if got.String() != tt.want {
				t.Errorf("lines of %q:\n%swant:\n%s", tt.rows, got.String(), tt.want)
			}
		})
	}
}

func TestColumnsWithoutTextAreUnused(t *testing.T) {
	used, ok := gridOf("a - b", "- - -", "c - -").used()
	if want := "[true false true] true"; fmt.Sprint(used, ok) != want {
		t.Errorf("used() = %v %v, want %s", used, ok, want)
	}
}

func TestSpansThatMakeTooManyPlacesAreRefused(t *testing.T) {
	for name, rows := range map[string][]string{
		"in one row":    {strings.Repeat("a/1000x1 ", 100)},
		"over all rows": append([]string{strings.Repeat("a/1x60000 ", 50)}, strings.Split(strings.Repeat("b ", 60), " ")...),
	} {
		g := gridOf(rows...)
		if _, ok := g.used(); ok {
			t.Errorf("%s: used() of %d cells is ok, want refused", name, len(g.cells))
		}
		for line := range g.lines {
			if len(line) > g.limit()+1 {
				t.Errorf("%s: a line of %d places, limit is %d", name, len(line), g.limit())
			}
		}
	}
}
