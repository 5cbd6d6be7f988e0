//go:build linux

package guard

// OwnedByUs is ownedByUs.
var OwnedByUs = ownedByUs
