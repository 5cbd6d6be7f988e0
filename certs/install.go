package certs

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/smallstep/truststore"
)

// Install adds the authority's certificate to the system's trust store, which may ask for a password, and, if certutil
// is installed, to the NSS databases of Chromium and of each Firefox profile. The notes are sentences that say what was
// done and what was not. The error joins all failures; a failure does not stop the rest.
func (a *Authority) Install() (notes []string, err error) {
	return a.everyStore(
		func() error { return truststore.InstallFile(a.CertFile(), truststore.WithPrefix("readthru-")) },
		"added to", addNSS)
}

// Uninstall removes the certificate from the places where Install puts it. Notes and error are as for Install.
func (a *Authority) Uninstall() (notes []string, err error) {
	return a.everyStore(
		func() error {
			if !inSystem(a.PEM()) {
				return nil // and nobody is asked for a password
			}
			defer leaveNoLinks()()
			return truststore.UninstallFile(a.CertFile(), truststore.WithPrefix("readthru-"))
		},
		"removed from", removeNSS)
}

// Trusting returns the trust stores that Uninstall would change: the system's, if it has the certificate or cannot be
// asked, and the NSS databases that have it.
func (a *Authority) Trusting() (stores []string) {
	if inSystem(a.PEM()) {
		stores = append(stores, "the system's trust store")
	}
	certutil, err := exec.LookPath("certutil")
	if err != nil {
		return stores
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return stores
	}
	for _, db := range nssDatabases(home) {
		if hasNSS(certutil, db, a.nickname()) {
			stores = append(stores, db)
		}
	}
	return stores
}

// everyStore applies system and nss to the trust stores; verb is for the notes.
func (a *Authority) everyStore(system func() error, verb string,
	nss func(certutil, db, nickname, certFile string) error,
) (notes []string, err error) {
	var failed []error
	if err := system(); err != nil {
		failed = append(failed, fmt.Errorf("system trust store: %w", err))
		notes = append(notes, "not "+verb+" the system's trust store: "+err.Error())
	} else {
		notes = append(notes, verb+" the system's trust store")
	}
	if roots, err := a.Bundle(); err != nil {
		failed = append(failed, err)
	} else if roots == "" {
		notes = append(notes, "no root certificates of the system were found: "+a.BundleFile()+" has only our certificate")
	}
	certutil, err := exec.LookPath("certutil")
	if err != nil {
		return append(notes,
				"browsers were not changed: certutil is not installed (Debian: libnss3-tools, Fedora: nss-tools)"),
			errors.Join(failed...)
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return append(notes, "browsers were not changed: "+err.Error()), errors.Join(failed...)
	}
	databases := nssDatabases(home)
	if len(databases) == 0 {
		notes = append(notes, "no browser's certificate database was found")
	}
	for _, db := range databases {
		if err := nss(certutil, db, a.nickname(), a.CertFile()); err != nil {
			failed = append(failed, err)
			notes = append(notes, "not "+verb+" "+db+": "+err.Error())
			continue
		}
		notes = append(notes, verb+" "+db)
	}
	return notes, errors.Join(failed...)
}

// nickname returns the name of our certificate in NSS databases.
func (a *Authority) nickname() string { return a.Certificate().Subject.CommonName }

// databasePatterns are where browsers keep their NSS databases below a home directory: Chromium and its relatives in
// the old and the new place, Firefox in each profile, and both in snaps and flatpaks.
var databasePatterns = []string{
	".pki/nssdb", ".local/share/pki/nssdb",
	"snap/*/current/.pki/nssdb", "snap/*/current/.local/share/pki/nssdb",
	".var/app/*/.pki/nssdb", ".var/app/*/data/pki/nssdb",
	".mozilla/firefox/*", ".config/mozilla/firefox/*", "snap/firefox/common/.mozilla/firefox/*",
	"snap/firefox/common/.config/mozilla/firefox/*", ".var/app/*/.mozilla/firefox/*",
	".var/app/*/config/mozilla/firefox/*",
	"Library/Application Support/Firefox/Profiles/*",
}

// nssDatabases returns the NSS databases of the browsers in a home directory, each once, in certutil's notation.
func nssDatabases(home string) []string {
	var candidates []string
	for _, pattern := range databasePatterns {
		found, _ := filepath.Glob(filepath.Join(home, filepath.FromSlash(pattern))) // the pattern is well-formed
		candidates = append(candidates, found...)
	}
	if data := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(data) {
		candidates = append(candidates, filepath.Join(data, "pki", "nssdb"))
	}
	var databases []string
	seen := map[string]bool{}
	for _, dir := range candidates {
		real, err := filepath.EvalSymlinks(filepath.Join(dir, "cert9.db"))
		if err == nil && !seen[real] {
			seen[real] = true
			databases = append(databases, "sql:"+dir)
		}
	}
	return databases
}

func addNSS(certutil, db, nickname, certFile string) error {
	return runCertutil(certutil, "-A", "-d", db, "-t", "C,,", "-n", nickname, "-i", certFile)
}

// removeNSS succeeds if the database does not have the certificate.
func removeNSS(certutil, db, nickname, _ string) error {
	if !hasNSS(certutil, db, nickname) {
		return nil
	}
	return runCertutil(certutil, "-D", "-d", db, "-n", nickname)
}

func hasNSS(certutil, db, nickname string) bool {
	return runCertutil(certutil, "-L", "-d", db, "-n", nickname) == nil
}

func runCertutil(certutil string, args ...string) error {
	//nolint:noctx // stopping certutil could damage the database
	out, err := exec.Command(certutil, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("certutil %s: %w: %s", args[0], err, strings.TrimSpace(string(out)))
	}
	return nil
}
