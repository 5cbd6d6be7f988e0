package certs

import (
	"encoding/pem"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// rootFiles are the files in which systems keep all their root certificates, in the order of crypto/x509, for the
// bundle. SSL_CERT_FILE is ignored, because in an agent's environment it names our own bundle.
var rootFiles = []string{
	"/etc/ssl/certs/ca-certificates.crt",                // Debian, Ubuntu, Arch, Alpine
	"/etc/pki/tls/certs/ca-bundle.crt",                  // Fedora, RHEL 6
	"/etc/ssl/ca-bundle.pem",                            // openSUSE
	"/etc/pki/tls/cacert.pem",                           // OpenELEC
	"/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", // RHEL 7
	"/etc/ssl/cert.pem",                                 // Alpine, macOS, the BSDs
	"/usr/local/share/certs/ca-root-nss.crt",            // FreeBSD
}

// BundleFile returns the path of the bundle, which has the system's root certificates, Options.RootFile's and ours. It
// is for clients whose environment variable replaces the whole trust store.
func (a *Authority) BundleFile() string { return a.o.BundleFile() }

// BundleFile is [Authority.BundleFile] of the authority that these options open.
func (o Options) BundleFile() string { return filepath.Join(o.Dir, bundleName) }

// Bundle updates the bundle and returns the file that the system's root certificates came from. roots is empty if none
// were found. Then the bundle has only our certificate, and a client that uses it can reach only intercepted hosts.
func (a *Authority) Bundle() (roots string, err error) {
	content, roots := a.buildBundle(a.current().pem)
	return roots, replaceFile(a.BundleFile(), content, 0o644)
}

// AddedFile returns the path of the file for clients that add roots to their own: it has our certificate, and those of
// Options.RootFile.
func (o Options) AddedFile() string {
	if o.RootFile == "" {
		return filepath.Join(o.Dir, certName)
	}
	return o.BundleFile()
}

// buildBundle returns the content of the bundle and the file that the system's root certificates came from. Ours comes
// last: the rest stays as the system has it.
func (a *Authority) buildBundle(ours []byte) (bundle []byte, from string) {
	roots, from := systemRoots()
	// A file of certificates need not end with a line break; the next one must begin a line.
	var more []byte
	if a.o.RootFile != "" {
		more, _ = os.ReadFile(a.o.RootFile) // whoever connects to origins says that it cannot be read
	}
	for _, part := range [][]byte{roots, more} {
		bundle = append(bundle, part...)
		if len(part) > 0 && part[len(part)-1] != '\n' {
			bundle = append(bundle, '\n')
		}
	}
	return append(bundle, ours...), from
}

// systemRoots returns the system's root certificates in PEM form, for the bundle, and the file that they came from, or
// "" if there are none. macOS keeps its own in a keychain, which a command prints.
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

// hasCertificate reports whether a file of root certificates has something in PEM form: some systems have such files
// that are empty.
func hasCertificate(data []byte) bool {
	block, _ := pem.Decode(data)
	return block != nil
}
