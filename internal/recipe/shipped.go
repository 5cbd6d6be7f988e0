package recipe

import (
	"embed"
	"sync"
)

// shippedFiles are the recipes that are part of the program. They are for pages of no one site, but of software that
// runs many, which an element of their pages shows.
//
//go:embed shipped/*.yaml
var shippedFiles embed.FS

// Shipped returns the recipes that are part of the program, by name. They are read at the first call. The caller must
// not change them.
var Shipped = sync.OnceValue(func() []*Recipe {
	names, err := shippedFiles.ReadDir("shipped")
	if err != nil {
		panic(err) // they are in the program
	}
	var list []*Recipe
	for _, n := range names {
		text, err := shippedFiles.ReadFile("shipped/" + n.Name())
		if err != nil {
			panic(err)
		}
		more, err := Parse(text)
		if err != nil {
			panic(n.Name() + ": " + err.Error()) // a test reads them all
		}
		list = append(list, more...)
	}
	return list
})
