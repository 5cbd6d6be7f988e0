package symbols

import (
	"cmp"
	"slices"
)

// The weight of a symbol is the number of other files that refer to its name, divided by the number of files that
// define that name. References in tests, in examples and in copies that tools made count little, and what these files
// define comes last. A method weighs less than the type that it belongs to: names such as "get" and "append" are called
// everywhere and mostly mean other methods. A macro weighs less than what it is used for, and is not shown if nothing
// uses it. Of symbols that weigh the same, those near the root of the tree come first.
const (
	asideReference = 1.0 / 8 // a reference in a test
	macroShare     = 1.0 / 4 // weight of a macro, as a share of that of other symbols
	strayMember    = 1.0 / 8 // a use as x.name of a symbol that is not a member
	methodShare    = 0.9     // maximum weight of a method, as a share of its type's weight
)

// ranked is a symbol with its weight.
type ranked struct {
	file, index int
	aside       bool // comes last
	rest        bool // not among the first symbols of its file
	references  int  // number of files
	uses        int  // by these files; known of the most important symbols only
	users       []User
	weight      float64
}

// rank returns all symbols worth showing, by descending weight; files are in the order in which equals come. The first
// symbols of each file come before what more there is in any, so that a long file does not fill the map alone.
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
			case d.kind == Macro && f.language.family == "c" && r.references == 0 && f.own[j] == unused:
				continue
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
		return cmp.Or(lastIf(a.aside, b.aside), cmp.Compare(b.weight, a.weight), cmp.Compare(a.file, b.file),
			cmp.Compare(a.index, b.index))
	})
	ofFile := make([]int, len(files))
	for i := range list {
		ofFile[list[i].file]++
		list[i].rest = ofFile[list[i].file] > maxOfFile
	}
	slices.SortStableFunc(list, func(a, b ranked) int {
		return cmp.Or(lastIf(a.aside, b.aside), lastIf(a.rest, b.rest))
	})
	return list
}

// lastIf ranks: it compares two values by a property that puts what has it last.
func lastIf(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// weigh returns the references and the weight, by which it is ranked, of a definition.
func weigh(f *file, index int, c *count) ranked {
	if c == nil {
		return ranked{aside: f.aside}
	}
	others := *c
	switch own := f.own[index]; { // subtract the file itself
	case own == usedAlone && f.aside:
		others.asideAlone--
	case own == usedAlone:
		others.alone--
	case own == usedOf && f.aside:
		others.asideMember--
	case own == usedOf:
		others.member--
	}
	r := ranked{references: int(others.alone + others.asideAlone), aside: f.aside}
	if f.unsure && f.definitions[index].owner == "" && c.definitions == 0 && others.alone > 0 {
		r.aside = false
	}
	r.weight = float64(others.alone) + asideReference*float64(others.asideAlone)
	ofMembers := float64(others.member) + asideReference*float64(others.asideMember)
	if f.definitions[index].owner != "" {
		r.references += int(others.member + others.asideMember)
	} else {
		ofMembers *= strayMember
	}
	r.weight = (r.weight + ofMembers) / float64(max(1, c.definitions))
	if f.definitions[index].kind == Macro {
		r.weight *= macroShare
	}
	return r
}
