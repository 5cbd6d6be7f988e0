package gate

import "slices"

// Order moves markdown_new in the cascade to the place that its mode requires: with "prefer", before the steps that
// convert locally. If llm is listed without local, Order adds local after it: a page must not depend on a model (rule
// E12).
func Order(cascade []string, mode string) []string {
	if i := slices.Index(cascade, "llm"); i >= 0 && !slices.Contains(cascade, "local") {
		cascade = slices.Insert(slices.Clone(cascade), i+1, "local")
	}
	i := slices.Index(cascade, "markdown_new")
	to := slices.IndexFunc(cascade, func(s string) bool { return s == "local" || s == "browser" || s == "llm" })
	if mode != "prefer" || to < 0 || i < to {
		return cascade
	}
	moved := slices.Delete(slices.Clone(cascade), i, i+1)
	return slices.Insert(moved, to, "markdown_new")
}
