package main

import (
	"strings"
	"testing"
)

// The help lists each command once, in the group of what it is for; a synonym leads to a command that there is.
func TestEveryCommandIsInOneGroup(t *testing.T) {
	listed := map[string]int{}
	for _, g := range groups {
		for name := range strings.FieldsSeq(g.commands) {
			listed[name]++
		}
	}
	all := map[string]bool{}
	for _, c := range (&program{}).app().Commands {
		all[c.Name] = true
		if want := 1; !c.Hidden && listed[c.Name] != want {
			t.Errorf("command %s is in %d groups", c.Name, listed[c.Name])
		}
		for _, sub := range c.Subcommands {
			all[sub.Name] = true
		}
	}
	for name := range listed {
		if !all[name] {
			t.Errorf("the groups list %s, which is no command", name)
		}
	}
	for name, list := range synonyms {
		if !all[name] {
			t.Errorf("%q stand for %s, which is no command", list, name)
		}
	}
}
