//go:build linux

package server

// OwnedByUs is ownedByUs.
var OwnedByUs = ownedByUs
