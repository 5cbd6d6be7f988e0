package certs

import (
	"bytes"
	"encoding/pem"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// rootFiles are where systems keep all their roots in one PEM file, in the order in which crypto/x509 looks for them.
// The environment's SSL_CERT_FILE is not asked: in an agent's environment it names our own bundle.
var rootFiles = []string{
	"/etc/ssl/certs/ca-certificates.crt",                // Debian, Ubuntu, Arch, Alpine
	"/etc/pki/tls/certs/ca-bundle.crt",                  // Fedora, RHEL 6
	"/etc/ssl/ca-bundle.pem",                            // openSUSE
	"/etc/pki/tls/cacert.pem",                           // OpenELEC
	"/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", // RHEL 7
	"/etc/ssl/cert.pem",                                 // Alpine, macOS, the BSDs
	"/usr/local/share/certs/ca-root-nss.crt",            // FreeBSD
}

// BundleFile returns the path of the bundle: the system's roots and ours, for clients whose variable replaces their
// whole trust store.
func (a *Authority) BundleFile() string { return filepath.Join(a.o.Dir, bundleName) }

// Bundle writes the bundle again when the system's roots or our certificate have changed, and returns where the roots
// came from: a file, or a command. It is empty when none were found; then the bundle holds our certificate alone, and a
// client that uses it can reach nothing but what is intercepted.
func (a *Authority) Bundle() (roots string, err error) {
	content, roots := buildBundle(a.current().pem)
	return roots, replaceFile(a.BundleFile(), content, 0o644)
}

// buildBundle returns the bundle and where its roots came from.
func buildBundle(ours []byte) (bundle []byte, from string) {
	roots, from := systemRoots()
	if from == "" {
		return bytes.Clone(ours), ""
	}
	bundle = make([]byte, 0, len(roots)+len(ours)+1)
	bundle = append(bundle, roots...)
	if !bytes.HasSuffix(bundle, []byte("\n")) {
		bundle = append(bundle, '\n')
	}
	return append(bundle, ours...), from
}

func systemRoots() (roots []byte, from string) {
	for _, path := range rootFiles {
		if data, err := os.ReadFile(path); err == nil && hasCertificate(data) {
			return data, path
		}
	}
	if runtime.GOOS == "darwin" {
		const keychain = "/System/Library/Keychains/SystemRootCertificates.keychain"
		//nolint:noctx // it reads a file
		if data, err := exec.Command("security", "find-certificate", "-a", "-p", keychain).Output(); err == nil &&
			hasCertificate(data) {
			return data, keychain
		}
	}
	return nil, ""
}

func hasCertificate(data []byte) bool {
	block, _ := pem.Decode(data)
	return block != nil
}
