package judge

import (
	"compress/gzip"
	_ "embed"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
)

// packedModel is the model, compressed: a line for each name and word with its odds, then a line for each tree. How it
// was made is told in train_internal_test.go.
//
//go:embed content.model.gz
var packedModel string

// model judges blocks.
type model struct {
	odds   odds
	forest forest
}

// contentModel reads the model when it is first needed.
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

// unpackModel returns the text of a compressed model.
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

// readModel reads a model's text.
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

func parseWeight(s string) (float32, error) {
	v, err := strconv.ParseFloat(s, 32)
	return float32(v), err
}

// forest is a sum of decision trees: log odds that a block is content.
type forest [][]fork

// fork is a node of a tree. A block whose feature is at most value goes on at low, other blocks at low+1. A leaf has
// feature -1 and the answer value.
type fork struct {
	feature, low int16
	value        float32
}

// grow adds the tree that fields describe: FEATURE:LOW:VALUE for a split, VALUE for a leaf.
func (t *forest) grow(fields []string) error {
	tree := make([]fork, len(fields))
	for i, field := range fields {
		tree[i].feature = -1
		if feature, rest, ok := strings.Cut(field, ":"); ok {
			low, value, _ := strings.Cut(rest, ":")
			f, err := strconv.Atoi(feature)
			l, err2 := strconv.Atoi(low)
			if err != nil || err2 != nil || f < 0 || f >= featureCount || l <= i || l+1 >= len(fields) {
				return fmt.Errorf("split %q", field)
			}
			tree[i].feature, tree[i].low, field = int16(f), int16(l), value
		}
		var err error
		if tree[i].value, err = parseWeight(field); err != nil {
			return err
		}
	}
	*t = append(*t, tree)
	return nil
}

// sum adds up the trees' answers.
func (t forest) sum(f *[featureCount]float32) float32 {
	total := float32(0)
	for _, tree := range t {
		i := int16(0)
		for tree[i].feature >= 0 {
			s := &tree[i]
			i = s.low
			if f[s.feature] > s.value {
				i++
			}
		}
		total += tree[i].value
	}
	return total
}
