// Package certs signs certificates for intercepted hosts.
//
// An [Authority] is stored in one directory: a key that only its user can read, the certificate that clients must
// trust, and a bundle of the system's root certificates with ours, for clients whose trust store can only be replaced.
// It is created on first use. No two installations share an authority. [Authority.Leaf] returns the certificate for a
// host; [Authority.Install] adds the authority to the trust stores of this system.
//
// The path of a certificate: [Open] reads the key, or makes it and what is derived from it (authority.go, bundle.go);
// Leaf checks the name, takes a certificate signed before, or signs one and keeps it (leaf.go); a tunnel presents it.
//
// There is no revocation. Instead, leaves are valid for at most seven days. If the key is lost, use [Authority.Renew].
package certs

import (
	"bytes"
	"os"

	"github.com/readthru/readthru/internal/wholefile"
)

// replaceFile writes a file of the authority whole, unless it already has this content.
func replaceFile(path string, content []byte, mode os.FileMode) error {
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, content) { //nolint:gosec // of the directory of keys
		return nil
	}
	return wholefile.Write(path, content, mode)
}
