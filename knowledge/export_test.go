package knowledge

// Release has others fill the build's base beside it, which no caller can.
func (b *Build) Release() {
	b.k.bases.mu.Lock()
	defer b.k.bases.mu.Unlock()
	delete(b.k.bases.busy, b.g.base)
}
