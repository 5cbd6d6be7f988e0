package page

import (
	"slices"
	"strconv"
	"strings"
)

// AddWarning adds a token to a list unless the list holds it.
func AddWarning(list []string, token string) []string {
	if slices.Contains(list, token) {
		return list
	}
	return append(slices.Clip(list), token)
}

// CountWarning returns a copy of a list of warnings in which the number of one, name=N, is larger by n.
func CountWarning(list []string, name string, n int) []string {
	list = slices.Clone(list)
	for i, w := range list {
		if number, ok := strings.CutPrefix(w, name+"="); ok {
			had, _ := strconv.Atoi(number)
			list[i] = name + "=" + strconv.Itoa(had+n)
			return list
		}
	}
	return append(list, name+"="+strconv.Itoa(n))
}

// HasWarning reports whether a list of warnings holds one of names, with or without a number.
func HasWarning(list []string, names ...string) bool {
	for _, w := range list {
		name, _, _ := strings.Cut(w, "=")
		if slices.Contains(names, name) {
			return true
		}
	}
	return false
}
