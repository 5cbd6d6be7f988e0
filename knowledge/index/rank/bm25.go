package rank

import (
	"math"

	"github.com/readthru/readthru/knowledge/index/segment"
)

var fieldNames = [...]string{"text", "title", "path"}

// The ranking: BM25F over passages. Each figure is the best, or lies where it hardly matters, on the four collections
// of docs/benchmarks.md together, with one configuration for all.
const (
	k1 = 1.4 // how soon more occurrences stop counting

	weightText, weightTitle, weightPath = 1.0, 3.0, 3.0
	lengthText, lengthTitle, lengthPath = .5, .3, .5 // BM25's b: how much a long field takes off

	partWeight = .5 // of the parts of an identifier in the query
	pairWeight = .3 // of two neighbouring words of the query that stand together

	// LeadFactor is that of the passage that begins a document: it says what the whole is about.
	LeadFactor = 1.25
	linkFactor = .7 // of a list of links: what it names is told elsewhere
)

// kindFactor returns what the BM25 score of a passage of a kind is multiplied with.
func kindFactor(k segment.Kind) float32 {
	f := float32(1)
	if k&segment.LeadPassage != 0 {
		f *= LeadFactor
	}
	if k&segment.LinkPassage != 0 {
		f *= linkFactor
	}
	return f
}

// norms are the factors by which the counts in each field are weighted, by the field's length.
type norms struct {
	text  [segment.MaxTextLen + 1]float32
	title [256]float32
	path  [256]float32
}

// Bounds returns what postings are worth at most, by BM25, in a segment whose passages have these average lengths.
func Bounds(avg segment.Averages) segment.Bounds { return newNorms(avg).bound }

// newNorms computes the weight of one occurrence in a field of each length (BM25F), so that a search looks it up.
func newNorms(avg segment.Averages) *norms {
	n := &norms{}
	fill := func(to []float32, weight, b, mean float64) {
		for length := range to {
			to[length] = float32(weight / (1 - b + b*float64(length)/mean))
		}
	}
	fill(n.text[:], weightText, lengthText, avg.Text)
	fill(n.title[:], weightTitle, lengthTitle, avg.Title)
	fill(n.path[:], weightPath, lengthPath, avg.Path)
	return n
}

// weighted returns a term's weighted number of occurrences in a passage.
func (n *norms) weighted(l segment.Lengths, text, title, path int) float32 {
	return float32(text)*n.text[l.Text] + float32(title)*n.title[l.Title] + float32(path)*n.path[l.Path]
}

// saturated returns what a weighted number of occurrences is worth by BM25, from 0 to 1.
func saturated(w float32) float32 { return w / (w + float32(k1)) }

// bound returns the least number whose 255th part is not below what a posting is worth.
func (n *norms) bound(p *segment.Posting, l segment.Lengths) uint8 {
	title, path := min(p.Title, segment.MaxFieldCount), min(p.Path, segment.MaxFieldCount)
	s := saturated(n.weighted(l, int(p.Text), int(title), int(path)))
	return uint8(math.Ceil(float64(s) * 255))
}

// loosened returns what a bound of BM25 made with other averages is worth now.
func loosened(bound uint8, ratio float64) float64 {
	if bound == 255 {
		return 1
	}
	s := float64(bound) / 255
	w := k1 * s / (1 - s) * ratio
	return w / (w + k1)
}

// growth returns by how much more a posting can be worth by BM25 with averages now than with those then: longer means
// lift all shorter ones.
func growth(then, now segment.Averages) float64 {
	r := 1.0
	for _, p := range [][2]float64{{then.Text, now.Text}, {then.Title, now.Title}, {then.Path, now.Path}} {
		r = max(r, p[1]/p[0])
	}
	return r
}

// rarity is BM25's idf of a term that df of n passages hold.
func rarity(n, df int) float64 {
	df = min(df, n)
	return math.Log(1 + (float64(n-df)+.5)/(float64(df)+.5))
}

// weighted returns the weighted number of occurrences that a posting stands for, as BM25F counts them.
func weighted(c *segment.Chunk, i int, norms *norms, length segment.Lengths) float32 {
	count := c.Count[i]
	tf := float32(count & 15)
	if count&15 == segment.TextEscape {
		tf += float32(c.Extra[i])
	}
	w := tf * norms.text[length.Text]
	if count > 15 {
		w += float32(count>>4&3)*norms.title[length.Title] + float32(count>>6)*norms.path[length.Path]
	}
	return w
}
