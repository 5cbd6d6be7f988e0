package ui

import (
	"cmp"
	"slices"
	"time"

	"github.com/readthru/readthru/api"
)

// A span is a time that the charts of the first page show, in bars of one step of the API's series each.
type span struct {
	Name, Path, Title string
	step              string
	length            time.Duration
	bars              int
	label             string // layout of the time of a bar
}

// spans are the times that the charts can show.
var spans = []span{
	{"now", "/", "Last hour", "minute", time.Minute, 60, "15:04"},
	{"24 h", "/?span=24h", "Last 24 hours", "hour", time.Hour, 24, "2 Jan 15:04"},
	{"30 d", "/?span=30d", "Last 30 days", "day", 24 * time.Hour, 30, "2 Jan"},
}

// spanOf returns the span that a request names in its query, the last hour for any other name.
func spanOf(name string) span {
	for _, s := range spans {
		if s.Path == "/?span="+name {
			return s
		}
	}
	return spans[0]
}

// A chart is figures over time as stacked bars of an SVG drawing, which templates/charts.html draws. Positions are
// thousandths of its width, and hundredths of its height, in whole numbers: templates do no arithmetic.
type chart struct {
	ID, Title string
	Total     string // what the figures come to together
	Max       string // what the highest bar stands for
	Kinds     []chartKind
	Bars      []chartBar
}

// chartKind is an entry in the legend of a chart.
type chartKind struct {
	Name, Class string
	Sum         string
}

// chartBar is a bar of a chart, from bottom to top.
type chartBar struct {
	X, W  int
	Label string // of the time and the figures
	Parts []chartPart
}

// chartPart is what one kind of figures has of a bar.
type chartPart struct {
	Class string
	Y, H  int
}

// charts are the charts of a span, and the same figures as a table, for those who cannot see a drawing.
type charts struct {
	Span   span
	Spans  []span
	Charts []chart
	From   string
	Points []chartRow
	Sum    api.Counts
}

// chartRow is a row of that table: the figures of a step in which something happened.
type chartRow struct {
	Time string
	api.Counts
}

// A kind is a part of a chart: what it is called, the class of its colour, and which count it is.
type kind struct {
	name, class string
	of          func(c *api.Counts) int64
}

// A drawing says what a chart shows: its kinds are stacked, and text writes their figures.
type drawing struct {
	id, title string
	text      func(int64) string
	kinds     []kind
}

// drawings are the charts of the first page, in order. Colours mean the same in all of them: what came from the cache
// has that of a hit.
var drawings = []drawing{
	{"requests", "Requests", countText, []kind{
		{"cache", "hit", (*api.Counts).Reused},
		{"origins", "miss", func(c *api.Counts) int64 { return c.Miss + c.Bypass + c.Passed }},
		{"tunnelled", "stale", func(c *api.Counts) int64 { return c.Tunnel }},
		{"refused, failed", "failed", func(c *api.Counts) int64 { return c.Refused + c.Failed }},
	}},
	{"tokens", "Tokens of pages", countText, []kind{
		{"saved", "hit", func(c *api.Counts) int64 { return max(0, c.HTMLTokens-c.MarkdownTokens) }},
		{"read", "miss", func(c *api.Counts) int64 { return c.MarkdownTokens }},
	}},
	{"bytes", "Bytes", bytesText, []kind{
		{"saved", "hit", func(c *api.Counts) int64 { return c.BytesSaved }},
		{"from origins", "miss", func(c *api.Counts) int64 { return c.BytesIn }},
	}},
	{"time", "Waiting saved", savedText, []kind{
		{"saved", "hit", func(c *api.Counts) int64 { return c.SavedMS }},
	}},
}

// whole is what the kinds of a drawing come to together.
func (d drawing) whole(c *api.Counts) (sum int64) {
	for _, k := range d.kinds {
		sum += k.of(c)
	}
	return sum
}

// savedText writes how much time was saved, in milliseconds up to a minute and in coarser units from there on.
func savedText(ms int64) string {
	if ms >= 60_000 {
		return uptimeText(ms / 1000)
	}
	return tookText(time.Duration(ms) * time.Millisecond)
}

// chartsOf makes the charts of a series that ends now. The steps of the series in which nothing happened are absent, so
// that points are put where their times belong; what is outside of the span is left out.
func chartsOf(s span, series *api.Series, now time.Time) charts {
	c := charts{Span: s, Spans: spans, Sum: series.Sum}
	last := now.UTC().Truncate(s.length)
	first := last.Add(-time.Duration(s.bars-1) * s.length)
	points := make([]api.Counts, s.bars)
	for _, p := range series.Points {
		if at := int(p.Time.Sub(first) / s.length); at >= 0 && at < s.bars && !p.Time.Before(first) {
			points[at] = p.Counts
			c.Points = append(c.Points, chartRow{s.when(p.Time), p.Counts})
		}
	}
	if begin := begins(points); begin > 0 {
		points, first = points[begin:], first.Add(time.Duration(begin)*s.length)
	}
	s.bars = len(points)
	c.From = s.when(first)
	for _, d := range drawings {
		out := chart{ID: d.id, Title: d.title}
		var highest int64
		for i := range points {
			highest = max(highest, d.whole(&points[i]))
		}
		out.Total, out.Max = d.text(d.whole(&series.Sum)), d.text(highest) // what the legend adds up to
		for _, k := range d.kinds {
			out.Kinds = append(out.Kinds, chartKind{k.name, k.class, d.text(k.of(&series.Sum))})
		}
		for i := range points {
			out.Bars = append(out.Bars, d.bar(s, i, first, &points[i], cmp.Or(highest, 1)))
		}
		c.Charts = append(c.Charts, out)
	}
	return c
}

// fewestBars is how many bars a chart has at least: a single one would fill it.
const fewestBars = 12

// begins returns where a chart begins: with the first time in which something was counted.
func begins(points []api.Counts) int {
	at := slices.IndexFunc(points, func(c api.Counts) bool { return c != api.Counts{} })
	if at < 0 {
		return 0
	}
	return min(at, max(0, len(points)-fewestBars))
}

// when writes the time of a bar, in the zone of the machine, as exactly as its span needs.
func (s span) when(t time.Time) string { return t.Local().Format(s.label) }

// bar draws the bar number i of a chart, whose highest bar stands for highest. A sixth of its place is left free, so
// that bars are told apart.
func (d drawing) bar(s span, i int, first time.Time, c *api.Counts, highest int64) chartBar {
	b := chartBar{X: i * 1000 / s.bars, Label: s.when(first.Add(time.Duration(i) * s.length))}
	b.W = max(1, (i+1)*1000/s.bars-b.X-1000/s.bars/6-1)
	top := 100
	for _, k := range d.kinds {
		n := k.of(c)
		if n == 0 {
			continue
		}
		h := min(top, max(1, int(n*100/highest))) // little is not nothing
		top -= h
		b.Parts = append(b.Parts, chartPart{k.class, top, h})
		b.Label += ", " + d.text(n) + " " + k.name
	}
	return b
}
