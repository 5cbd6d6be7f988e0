package meaning

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/readthru/readthru/knowledge/index"
	"github.com/readthru/readthru/knowledge/vector"
)

// vectorSpace is what two vectors must have in common to be compared.
type vectorSpace struct {
	Provider  string `json:"provider"`
	Model     string `json:"model"`
	Dimension int    `json:"dimension"`
}

// id is a fingerprint of all that a vector depends on besides the text.
func (s vectorSpace) id() string {
	p := prefixesOf(s.Model)
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%d\x00%s\x00%s", s.Provider, s.Model, s.Dimension, p.query,
		p.passage))
	return string(sum[:8])
}

// Keys of vectors. A space is named by its fingerprint.
//
//	k/vm/<space8>          a space
//	k/v/<space8>/<hash16>  the vector of a passage's text, in half precision, and the sum of what was embedded with it
const (
	spacesPrefix = "k/vm/"
	vectorPrefix = "k/v/"
)

// record returns the key of what is kept of the space.
func (s vectorSpace) record() string { return spacesPrefix + s.id() }

// prefix begins the keys of the vectors of the space.
func (s vectorSpace) prefix() string { return vectorPrefix + s.id() + "/" }

// vector returns the key of a vector of the space.
func (s vectorSpace) vector(hash [16]byte) string { return s.prefix() + string(hash[:]) }

// appendVector and readVector write and read a vector as it is stored: with the sum of what was said of its passage.
func appendVector(x []float32, said string) []byte {
	b := vector.AppendHalf(nil, vector.Unit(x))
	if sum := index.SumOf(said); sum != 0 {
		b = binary.BigEndian.AppendUint64(b, sum)
	}
	return b
}

// readVector reads a stored vector into x, and reports whether it has the right length. Records of an older program
// have eight bytes more.
func readVector(x []float32, b []byte) bool {
	if len(b) == 2*len(x)+8 {
		b = b[:2*len(x)]
	}
	return vector.ReadHalf(x, b)
}

// embeddedWith reports whether a stored vector of some numbers is of a passage of which this was said.
func embeddedWith(b []byte, numbers int, said string) bool {
	sum := uint64(0)
	if rest := b[min(len(b), 2*numbers):]; len(rest) == 8 {
		sum = binary.BigEndian.Uint64(rest)
	}
	return sum == index.SumOf(said)
}

// spaces calls f for each space in the store.
func (v *Vectors) spaces(f func(s vectorSpace) bool) {
	v.o.Records.Walk(spacesPrefix, "", func(key string, value []byte) bool {
		var s vectorSpace
		if json.Unmarshal(value, &s) != nil || s.record() != key {
			return true // of another version of this program
		}
		return f(s)
	})
}

// findSpace returns what the store knows of the model's space.
func (v *Vectors) findSpace() (found vectorSpace, ok bool) {
	v.spaces(func(s vectorSpace) bool {
		if s.Provider == v.o.Model.Provider() && s.Model == v.o.Model.Model() {
			found, ok = s, true
		}
		return !ok
	})
	return found, ok
}

// dropOtherSpaces deletes the vectors of models that are no longer configured.
func (v *Vectors) dropOtherSpaces() {
	var others []vectorSpace
	v.spaces(func(s vectorSpace) bool {
		if s != v.space {
			others = append(others, s)
		}
		return true
	})
	for _, s := range others {
		var keys []string
		v.o.Records.Keys(s.prefix(), "", func(key string) bool {
			keys = append(keys, key)
			return true
		})
		v.erase(append(keys, s.record()))
		v.o.Log.Info("vectors of another model deleted", "model", s.Model, "dimension", s.Dimension, "vectors", len(keys))
	}
}

// prefixes are the texts that a model expects before a query and before a passage.
type prefixes struct{ query, passage string }

// prefixesOf returns what a model, whose space depends on that, wants before the text of a query and of a passage, by
// its name: models are trained with these, and find less without.
func prefixesOf(model string) prefixes {
	model = strings.ToLower(model)
	for name, p := range map[string]prefixes{
		"nomic-embed-text":       {"search_query: ", "search_document: "},
		"multilingual-e5":        {"query: ", "passage: "},
		"e5-base":                {"query: ", "passage: "},
		"e5-small":               {"query: ", "passage: "},
		"e5-large":               {"query: ", "passage: "},
		"mxbai-embed-large":      {"Represent this sentence for searching relevant passages: ", ""},
		"snowflake-arctic-embed": {"Represent this sentence for searching relevant passages: ", ""},
		"bge-small-en":           {"Represent this sentence for searching relevant passages: ", ""},
		"bge-base-en":            {"Represent this sentence for searching relevant passages: ", ""},
		"bge-large-en":           {"Represent this sentence for searching relevant passages: ", ""},
	} {
		if strings.Contains(model, name) {
			return p
		}
	}
	return prefixes{}
}
