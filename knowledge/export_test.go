package knowledge

import "github.com/readthru/readthru/internal/markdown"

// HasOpenFence reports whether a text leaves a fence open, as the scanner sees it.
func HasOpenFence(md []byte) bool {
	open := false
	for b := range markdown.Blocks(md) {
		open = unclosed(&b) != ""
	}
	return open
}

// TitleText is titleText.
func TitleText(md string) string { return titleText([]byte(md)) }

// PassageHash is passageHash.
func PassageHash(text string) [16]byte { return passageHash(text) }

// Release has others fill the build's base beside it, which no caller can.
func (b *Build) Release() {
	b.k.bases.mu.Lock()
	defer b.k.bases.mu.Unlock()
	delete(b.k.bases.busy, b.g.base)
}
