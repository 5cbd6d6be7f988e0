package outline

import "github.com/readthru/readthru/internal/markdown"

// HasOpenFence reports whether a text leaves a fence open, as the scanner sees it.
func HasOpenFence(md []byte) bool {
	open := false
	for b := range markdown.Blocks(md) {
		open = unclosed(&b) != ""
	}
	return open
}
