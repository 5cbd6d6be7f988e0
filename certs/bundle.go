package certs

import (
	"bytes"
	"encoding/pem"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// rootFiles are the files in which systems keep all their root certificates, in the order of crypto/x509. SSL_CERT_FILE
// is ignored, because in an agent's environment it names our own bundle.
var rootFiles = []string{
	"/etc/ssl/certs/ca-certificates.crt",                // Debian, Ubuntu, Arch, Alpine
	"/etc/pki/tls/certs/ca-bundle.crt",                  // Fedora, RHEL 6
	"/etc/ssl/ca-bundle.pem",                            // openSUSE
	"/etc/pki/tls/cacert.pem",                           // OpenELEC
	"/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", // RHEL 7
	"/etc/ssl/cert.pem",                                 // Alpine, macOS, the BSDs
	"/usr/local/share/certs/ca-root-nss.crt",            // FreeBSD
}

// BundleFile returns the path of the bundle, which has the system's root certificates and ours. It is for clients whose
// environment variable replaces the whole trust store.
func (a *Authority) BundleFile() string { return filepath.Join(a.o.Dir, bundleName) }

// Bundle updates the bundle and returns the file that the system's root certificates came from. roots is empty if none
// were found. Then the bundle has only our certificate, and a client that uses it can reach only intercepted hosts.
func (a *Authority) Bundle() (roots string, err error) {
	content, roots := buildBundle(a.current().pem)
	return roots, replaceFile(a.BundleFile(), content, 0o644)
}

// buildBundle returns the bundle and the file that its root certificates came from.
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

// systemRoots returns the system's root certificates and the file that they came from, or "" if there are none.
func systemRoots() (roots []byte, from string) {
	for _, path := range rootFiles {
		if data, err := os.ReadFile(path); err == nil && hasCertificate(data) {
			return data, path
		}
	}
	if runtime.GOOS == "darwin" {
		const keychain = "/System/Library/Keychains/SystemRootCertificates.keychain"
		//nolint:noctx // the command only reads a file
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
