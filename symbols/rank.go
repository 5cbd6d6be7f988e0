package symbols

import (
	"cmp"
	"slices"
)

// Ranking: a symbol weighs as much as there are other files that refer to its name, shared among the files that define
// that name. Tests and examples count little, on both sides. A method weighs no more than what it belongs to: names
// such as "get" and "append" are called everywhere and mostly belong to others.
const (
	trialReference = 1.0 / 8  // of another file
	trialSymbol    = 1.0 / 32 // of a symbol elsewhere
	strayMember    = 1.0 / 8  // a use as x.name, of what is no member
	methodShare    = 0.9      // of what it belongs to, at most
)

// ranked is a symbol with its weight.
type ranked struct {
	file, index int
	references  int // files
	weight      float64
}

// rank returns all symbols worth showing of files, which are ordered by path, the heaviest first.
func rank(files []*file, names map[name]*count) []ranked {
	weights := map[name]float64{} // of types, by their name
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
			case d.kind == Impl: // comes along with its methods
				continue
			case d.kind == Prototype && d.owner == "" && functions[key]: // the definition says it better
				continue
			case d.kind != Prototype && d.parent < 0 && members[[2]name{owner, key}]: // stands in its class already
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

func weigh(f *file, index int, c *count) ranked {
	if c == nil {
		return ranked{}
	}
	others := *c
	switch own := f.own[index]; { // the file itself does not count
	case own == usedAlone && f.trial:
		others.trialAlone--
	case own == usedAlone:
		others.alone--
	case own == usedOf && f.trial:
		others.trialMember--
	case own == usedOf:
		others.member--
	}
	r := ranked{references: int(others.alone + others.trialAlone)}
	r.weight = float64(others.alone) + trialReference*float64(others.trialAlone)
	ofMembers := float64(others.member) + trialReference*float64(others.trialMember)
	if f.definitions[index].owner != "" {
		r.references += int(others.member + others.trialMember)
	} else {
		ofMembers *= strayMember
	}
	r.weight = (r.weight + ofMembers) / float64(max(1, c.definitions))
	if f.trial {
		r.weight *= trialSymbol
	}
	return r
}
