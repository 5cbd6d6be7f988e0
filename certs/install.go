package certs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

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

// Trust is what looking for the authority's certificate in one trust store told.
type Trust struct {
	Store string // the system's trust store, or an NSS database in certutil's notation
	Has   bool
	Err   error // why nobody could look; Has says nothing then
}

// SystemStore is the name of the system's trust store among those of [Authority.Trust].
const SystemStore = "the system's trust store"

// Trust looks for the certificate where Install puts it: in the system's trust store, which comes first, and in the NSS
// database of each browser. It changes nothing and asks for no password.
func (a *Authority) Trust(ctx context.Context) []Trust {
	system := Trust{Store: SystemStore}
	system.Has, system.Err = systemTrusts(a.Certificate(), a.PEM())
	list := []Trust{system}
	home, err := os.UserHomeDir()
	if err != nil {
		return append(list, Trust{Store: "browsers' databases", Err: err})
	}
	certutil, err := exec.LookPath("certutil")
	for _, db := range nssDatabases(home) {
		t := Trust{Store: db, Err: errNoCertutil}
		if err == nil {
			t.Has, t.Err = lookNSS(ctx, certutil, db, a.nickname())
		}
		list = append(list, t)
	}
	return list
}

// Trusting returns the trust stores that Uninstall would change: the system's, if it has the certificate or cannot be
// asked, and the NSS databases that have it. An uninstaller lists them before it asks.
func (a *Authority) Trusting(ctx context.Context) (stores []string) {
	if inSystem(a.PEM()) {
		stores = append(stores, SystemStore)
	}
	for _, t := range a.Trust(ctx)[1:] {
		if t.Has && t.Err == nil {
			stores = append(stores, t.Store)
		}
	}
	return stores
}

// everyStore applies system to the system's trust store and nss to each browser's database, for Install and Uninstall;
// verb is for the notes, as in "added to". It goes on after a failure, because each store helps some clients.
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
				"browsers were not changed: "+errNoCertutil.Error()),
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

// nickname returns the name of our certificate in NSS databases, by which it is looked for and removed.
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

// nssDatabases returns the NSS databases of the browsers in a home directory, each once, in certutil's notation. Links
// lead to the same database under several names, for instance in snaps.
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
		// cert9.db is the file of the present format of such databases.
		real, err := filepath.EvalSymlinks(filepath.Join(dir, "cert9.db"))
		if err == nil && !seen[real] {
			seen[real] = true
			databases = append(databases, "sql:"+dir)
		}
	}
	return databases
}

// addNSS adds the authority's certificate to a database. The flags C,, have it trusted to issue certificates of
// servers, and for nothing else.
func addNSS(certutil, db, nickname, certFile string) error {
	return runCertutil(certutil, "-A", "-d", db, "-t", "C,,", "-n", nickname, "-i", certFile)
}

// removeNSS removes the authority's certificate from a database. It succeeds if the database does not have it.
func removeNSS(certutil, db, nickname, _ string) error {
	if !hasNSS(certutil, db, nickname) {
		return nil
	}
	return runCertutil(certutil, "-D", "-d", db, "-n", nickname)
}

// errNoCertutil says why browsers' databases are left alone.
var errNoCertutil = errors.New("certutil is not installed (Debian: libnss3-tools, Fedora: nss-tools)")

// lookTime is how long certutil may take to look into a database, which may be on a disk that does not answer.
const lookTime = 10 * time.Second

// lookNSS reports whether a database has a certificate, or why it cannot be read: certutil fails alike where there is
// no such certificate and where there is no database.
func lookNSS(ctx context.Context, certutil, db, nickname string) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	if exec.CommandContext(ctx, certutil, "-L", "-d", db, "-n", nickname).Run() == nil {
		return true, nil
	}
	out, err := exec.CommandContext(ctx, certutil, "-L", "-d", db).CombinedOutput()
	switch {
	case ctx.Err() != nil:
		return false, fmt.Errorf("certutil -L: %w", ctx.Err())
	case err != nil:
		return false, fmt.Errorf("certutil -L: %w: %s", err, strings.TrimSpace(string(out)))
	}
	return false, nil
}

// hasNSS reports whether a database has the authority's certificate.
func hasNSS(certutil, db, nickname string) bool {
	return runCertutil(certutil, "-L", "-d", db, "-n", nickname) == nil
}

// runCertutil runs certutil to its end. The error has what it wrote.
func runCertutil(certutil string, args ...string) error {
	//nolint:noctx // stopping certutil could damage the database
	out, err := exec.Command(certutil, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("certutil %s: %w: %s", args[0], err, strings.TrimSpace(string(out)))
	}
	return nil
}
