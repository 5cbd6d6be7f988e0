//go:build linux

package api

// OwnedByUs is ownedByUs.
var OwnedByUs = ownedByUs
