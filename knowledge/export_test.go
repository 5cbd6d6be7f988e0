package knowledge

// HasOpenFence reports whether a text leaves a fence open, as the scanner sees it.
func HasOpenFence(md []byte) bool {
	open := false
	scanBlocks(md, func(b block) { open = unclosed(&b) != "" })
	return open
}

// PlainText is plainText.
func PlainText(md string) string { return plainText([]byte(md)) }

// PassageHash is passageHash.
func PassageHash(text string) [16]byte { return passageHash(text) }
