package certs

import (
	"bytes"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/smallstep/truststore"
)

// leaveNoLinks makes update-ca-certificates build /etc/ssl/certs anew, until undo is called, for Uninstall. Otherwise
// the command leaves links there to what was removed.
func leaveNoLinks() (undo func()) {
	command := truststore.SystemTrustCommand
	if len(command) == 1 && filepath.Base(command[0]) == "update-ca-certificates" {
		truststore.SystemTrustCommand = []string{command[0], "--fresh"}
	}
	return func() { truststore.SystemTrustCommand = command }
}

// systemTrusts reports whether the system's root certificates, or the folder from which they are built, have ours. A
// machine without either is an error: nobody knows.
func systemTrusts(_ *x509.Certificate, pem []byte) (bool, error) {
	if inSystem(pem) {
		return true, nil
	}
	if _, from := systemRoots(); from == "" {
		return false, errors.New("no file with the system's root certificates was found")
	}
	return false, nil
}

// inSystem reports whether the system's trust store has a certificate, or the folder from which it is built. Uninstall
// asks it first, since removing asks for a password.
func inSystem(pem []byte) bool {
	if roots, _ := systemRoots(); bytes.Contains(roots, bytes.TrimSpace(pem)) {
		return true
	}
	if truststore.SystemTrustFilename == "" {
		return false
	}
	names, _ := filepath.Glob(fmt.Sprintf(truststore.SystemTrustFilename, "readthru-*")) // the pattern is well-formed
	for _, name := range names {
		if text, err := os.ReadFile(name); err == nil && bytes.Equal(bytes.TrimSpace(text), bytes.TrimSpace(pem)) {
			return true
		}
	}
	return false
}
