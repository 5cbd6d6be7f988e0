//go:build !linux

package certs

import (
	"crypto/x509"
	"errors"
	"runtime"
)

// leaveNoLinks does nothing: only Linux distributions keep links to certificates.
func leaveNoLinks() (undo func()) { return func() {} }

// inSystem reports whether the system's trust store may have a certificate: here only removing it tells.
func inSystem([]byte) bool { return true }

// systemTrusts asks the system's verifier whether it trusts our certificate, on macOS and Windows. On other systems the
// error says that nobody can tell.
func systemTrusts(c *x509.Certificate, _ []byte) (bool, error) {
	if runtime.GOOS != "darwin" && runtime.GOOS != "windows" { // crypto/x509 asks no system, and reads its files once
		return false, errors.New("this system does not tell")
	}
	_, err := c.Verify(x509.VerifyOptions{})
	if _, unknown := errors.AsType[x509.UnknownAuthorityError](err); unknown {
		return false, nil
	}
	return err == nil, err
}
