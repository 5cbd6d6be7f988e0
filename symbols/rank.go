package symbols

import (
	"cmp"
	"slices"
)

// The weight of a symbol is the number of other files that refer to its name, divided by the number of files that
// define that name. Tests and examples count little, both as references and as definitions. A method weighs less than
// the type that it belongs to: names such as "get" and "append" are called everywhere and mostly mean other methods.
const (
	testReference = 1.0 / 8  // a reference in a test
	testSymbol    = 1.0 / 32 // a symbol in a test
	strayMember   = 1.0 / 8  // a use as x.name of a symbol that is not a member
	methodShare   = 0.9      // maximum weight of a method, as a share of its type's weight
)

// ranked is a symbol with its weight.
type ranked struct {
	file, index int
	references  int // number of files
	weight      float64
}

// rank returns all symbols worth showing, by descending weight. files are ordered by path.
func rank(files []*file, names map[name]*count) []ranked {
	weights := map[name]float64{} // weights of types by name
	functions, members := map[name]bool{}, map[[2]name]bool{}
	all := make([][]ranked, len(files))
	for i, f := range files {
		all[i] = make([]ranked, len(f.definitions))
		for j, d := range f.definitions {
			all[i][j] = weigh(f, j, names[name{f.language.family, d.name}])
			all[i][j].file, all[i][j].index = i, j
			key := name{f.language.family, d.name}
			switch {
			case d.kind.holdsMethods() && d.kind != Impl, d.kind == Type:
				weights[key] = max(weights[key], all[i][j].weight)
			case d.kind == Function:
				functions[key] = true
			}
			if d.kind == Prototype && d.owner != "" {
				members[[2]name{{f.language.family, d.owner}, key}] = true
			}
		}
	}
	var list []ranked
	for i, f := range files {
		for j, d := range f.definitions {
			r := all[i][j]
			key := name{f.language.family, d.name}
			owner := name{f.language.family, d.owner}
			switch {
			case d.kind == Impl: // is shown together with its methods
				continue
			case d.kind == Prototype && d.owner == "" && functions[key]: // the definition is shown instead
				continue
			case d.kind != Prototype && d.parent < 0 && members[[2]name{owner, key}]: // its class shows it already
				continue
			}
			if d.owner != "" {
				r.weight = min(r.weight, methodShare*weights[owner])
			}
			list = append(list, r)
		}
	}
	slices.SortFunc(list, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(a.file, b.file), cmp.Compare(a.index, b.index))
	})
	return list
}

// weigh returns the references and the weight of a definition.
func weigh(f *file, index int, c *count) ranked {
	if c == nil {
		return ranked{}
	}
	others := *c
	switch own := f.own[index]; { // subtract the file itself
	case own == usedAlone && f.test:
		others.testAlone--
	case own == usedAlone:
		others.alone--
	case own == usedOf && f.test:
		others.testMember--
	case own == usedOf:
		others.member--
	}
	r := ranked{references: int(others.alone + others.testAlone)}
	r.weight = float64(others.alone) + testReference*float64(others.testAlone)
	ofMembers := float64(others.member) + testReference*float64(others.testMember)
	if f.definitions[index].owner != "" {
		r.references += int(others.member + others.testMember)
	} else {
		ofMembers *= strayMember
	}
	r.weight = (r.weight + ofMembers) / float64(max(1, c.definitions))
	if f.test {
		r.weight *= testSymbol
	}
	return r
}
