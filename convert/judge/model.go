package judge

import (
	"compress/gzip"
	_ "embed"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"sync"
)

// packedModel is the model, compressed: a line for each name and word with its odds, then a line for each tree. How it
// was made is told in train_internal_test.go.
//
//go:embed content.model.gz
var packedModel string

// model judges blocks. The zero value judges nothing.
type model struct {
	odds   odds
	forest forest
}

// contentModel reads the model when it is first needed. Pages of documentation never need it.
var contentModel = sync.OnceValue(func() model {
	text, err := unpackModel(packedModel)
	if err != nil {
		panic(err) // the file is part of this program
	}
	m, err := readModel(text)
	if err != nil {
		panic(err) // the file is part of this program
	}
	return m
})

// unpackModel returns the text of a compressed model. The error is that of gzip.
func unpackModel(packed string) (string, error) {
	r, err := gzip.NewReader(strings.NewReader(packed))
	if err != nil {
		return "", fmt.Errorf("unpack model: %w", err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		return "", fmt.Errorf("unpack model: %w", err)
	}
	return string(text), nil
}

// readModel reads a model's text. Its lines are "name NAME … ODDS", "word WORD … ODDS" and "tree FORK …"; the
// last field of the first two counts.
func readModel(text string) (model, error) {
	m := model{odds: odds{map[string]float32{}, map[string]float32{}}}
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) < 2 {
			return m, fmt.Errorf("read model: line %q", line)
		}
		var err error
		switch fields[0] {
		case "name":
			m.odds.name[fields[1]], err = parseWeight(fields[len(fields)-1])
		case "word":
			m.odds.text[fields[1]], err = parseWeight(fields[len(fields)-1])
		case "tree":
			err = m.forest.grow(fields[1:])
		default:
			err = fmt.Errorf("unknown part %q", fields[0])
		}
		if err != nil {
			return m, fmt.Errorf("read model: %w", err)
		}
	}
	return m, nil
}

// parseWeight reads a number of the model.
func parseWeight(s string) (float32, error) {
	v, err := strconv.ParseFloat(s, 32)
	return float32(v), err
}

// forest is the model's sum of decision trees: the log odds that a block is content.
type forest []tree

// tree is a decision tree. Every path through it takes as many steps as the longest one, so that the processor can
// follow those of several blocks at once: a leaf leads to itself. A fork leads only to later ones, so that no path is
// endless.
type tree struct {
	forks   [maxForks]fork
	answers [maxForks]float32 // of leaves
	size    int               // how many forks there are
	steps   int
}

// maxForks is the largest number of forks of a tree, a power of two: an index that is cut to it needs no check. Places
// in a tree fit into a byte.
const maxForks = 32

// fork is a node of a tree. A block whose feature is at most value goes on at low, other blocks at low+1.
type fork struct {
	value        float32
	feature, low uint8
}

// leafAt returns, for the model, the fork that is a leaf of a tree: any value of a feature leads back to its place.
func leafAt(at int) fork { return fork{low: uint8(at), value: float32(math.Inf(1))} }

// grow adds, as the model is read, the tree that fields describe: FEATURE:LOW:VALUE for a split, VALUE for a leaf. It
// refuses trees that are too large, features that do not exist, and splits that lead backwards, so that sum needs no
// checks.
func (t *forest) grow(fields []string) error {
	n := tree{size: len(fields)}
	if n.size > maxForks {
		return fmt.Errorf("a tree of %d forks", n.size)
	}
	for i, field := range fields {
		feature, rest, split := strings.Cut(field, ":")
		var err error
		if !split {
			n.forks[i] = leafAt(i)
			if n.answers[i], err = parseWeight(field); err != nil {
				return err
			}
			continue
		}
		low, value, _ := strings.Cut(rest, ":")
		f, err := strconv.Atoi(feature)
		l, err2 := strconv.Atoi(low)
		if err != nil || err2 != nil || f < 0 || f >= featureCount || l <= i || l+1 >= len(fields) {
			return fmt.Errorf("split %q", field)
		}
		n.forks[i].feature, n.forks[i].low = uint8(f), uint8(l)
		if n.forks[i].value, err = parseWeight(value); err != nil {
			return err
		}
	}
	n.measure()
	*t = append(*t, n)
	return nil
}

// measure sets, for the model's answers, how many steps the longest path through a tree takes.
func (n *tree) measure() {
	var depth [maxForks]int
	for i, s := range n.forks[:n.size] {
		if n.steps = max(n.steps, depth[i]); int(s.low) != i {
			depth[s.low], depth[s.low+1] = depth[i]+1, depth[i]+1
		}
	}
}

// together is how many blocks a forest judges at once. The steps of one block depend on one another; those of several
// overlap.
const together = 8

// sum adds up the answers of the model's trees for some blocks, given their features.
func (t forest) sum(fs *[together][featureCount]float32) (totals [together]float32) {
	for k := range t {
		tree := &t[k]
		var at [together]uint8
		for range tree.steps {
			for n := range at {
				s, up := &tree.forks[at[n]%maxForks], uint8(0)
				if fs[n][s.feature] > s.value {
					up = 1 // no branch: half of them would be mispredicted
				}
				at[n] = s.low + up
			}
		}
		for n := range at {
			totals[n] += tree.answers[at[n]%maxForks]
		}
	}
	return totals
}
