package certs

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/singleflight"

	"github.com/readthru/readthru/internal/wholefile"
)

// The files of an authority in Options.Dir.
const (
	// private key, then certificate; mode 0600. The other files are derived from it.
	keyName    = "ca.key"
	certName   = "ca.pem"     // certificate alone; mode 0644
	bundleName = "bundle.pem" // system roots, then our certificate; mode 0644
)

// How long certificates of an authority are valid, and from when.
const (
	authorityLife = 10 * 365 * 24 * time.Hour
	backdate      = 24 * time.Hour // lets clients whose clock is slow accept a new certificate
)

// Options configures an Authority.
type Options struct {
	// Dir is the directory of the authority's files. It is created with mode 0700 if it does not exist.
	Dir string

	// Permitted limits the names that a new authority may sign (name constraints, RFC 5280 §4.2.1.10). An entry is a
	// domain, which includes its subdomains, or an address range in CIDR form. If empty, every name is permitted. It
	// has no effect on an existing authority.
	Permitted []string

	// RootFile is a PEM file of root certificates that the bundle has besides the system's: those of a network that
	// intercepts connections itself. A file that cannot be read adds none. If empty, there are none.
	RootFile string
}

// Authority signs leaf certificates for intercepted hosts. Its methods are safe for concurrent use. It keeps its key in
// memory, and reads the files again only when it is opened.
type Authority struct {
	o      Options
	leaves *lru.Cache[string, *leaf]
	flight singleflight.Group

	mu   sync.RWMutex // guards what Renew replaces
	pair pair
}

// A pair is the authority's certificate with its key. It is not changed once it is made: Renew makes another one.
type pair struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pem  []byte // the certificate
}

// Error is an error that the operator can repair: a key that others can read, or that is damaged or expired.
type Error struct {
	Err    error
	Remedy string // what to do, as a sentence without a full stop
}

func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the error without its remedy.
func (e *Error) Unwrap() error { return e.Err }

// Hint returns the remedy.
func (e *Error) Hint() string { return e.Remedy }

// Open loads the authority in o.Dir, or creates one if there is none. It rewrites the certificate file and the bundle
// if they are missing or differ from what they should be. The error is an [*Error] if the key is unreadable, damaged,
// expired, or readable by other users.
func Open(o Options) (*Authority, error) {
	if o.Dir == "" {
		return nil, errors.New("open certificate authority: no directory given")
	}
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("open certificate authority: %w", err)
	}
	if err := os.Chmod(o.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("open certificate authority: %w", err)
	}
	// A host beyond leavesKept is signed again when it comes.
	leaves, err := lru.New[string, *leaf](leavesKept)
	if err != nil {
		return nil, fmt.Errorf("open certificate authority: %w", err)
	}
	a := &Authority{o: o, leaves: leaves}
	if a.pair, err = loadPair(a.keyFile(), time.Now()); errors.Is(err, fs.ErrNotExist) {
		a.pair, err = a.create()
	}
	if err != nil {
		return nil, fmt.Errorf("open certificate authority: %w", err)
	}
	if err := a.writeDerived(); err != nil {
		return nil, fmt.Errorf("open certificate authority: %w", err)
	}
	return a, nil
}

// Exist reports whether a directory has an authority, which Open then loads.
func Exist(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, keyName))
	return err == nil
}

// Certificate returns the authority's certificate. The caller must not change it.
func (a *Authority) Certificate() *x509.Certificate { return a.current().cert }

// PEM returns the authority's certificate in PEM form, which is the content of ca.pem.
func (a *Authority) PEM() []byte { return bytes.Clone(a.current().pem) }

// CertFile returns the path of the authority's certificate.
func (a *Authority) CertFile() string { return filepath.Join(a.o.Dir, certName) }

// keyFile returns the path of the authority's private key.
func (a *Authority) keyFile() string { return filepath.Join(a.o.Dir, keyName) }

// current returns the pair that signs now.
func (a *Authority) current() pair {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return a.pair
}

// Renew replaces the authority by a new one and discards all leaves. It keeps the old key beside the new one, under a
// name with the time. A crash never leaves the directory without a complete authority. Clients must trust the new
// certificate before they accept new leaves.
func (a *Authority) Renew() error {
	// Writers of leaves hold the lock for reading (Leaf), so that none of the old authority gets into the cache
	// afterwards.
	a.mu.Lock()
	defer a.mu.Unlock()
	now := time.Now()
	next, keyPEM, err := newPair(a.o.Permitted, now)
	if err != nil {
		return fmt.Errorf("renew certificate authority: %w", err)
	}
	tmp, err := wholefile.Beside(a.keyFile(), keyPEM)
	if err != nil {
		return fmt.Errorf("renew certificate authority: %w", err)
	}
	defer os.Remove(tmp) //nolint:errcheck // fails if the file was renamed, as it should be
	aside := a.keyFile() + ".old-" + now.UTC().Format("20060102T150405.000000000")
	if err := os.Link(a.keyFile(), aside); err != nil && !errors.Is(err, fs.ErrNotExist) {
		// The file system has no links: a crash between the two renames leaves only the old key, under its new name.
		if err := os.Rename(a.keyFile(), aside); err != nil {
			return fmt.Errorf("renew certificate authority: move the old key aside: %w", err)
		}
	}
	if err := os.Rename(tmp, a.keyFile()); err != nil {
		return fmt.Errorf("renew certificate authority: %w", err)
	}
	a.pair = next
	a.leaves.Purge()
	if err := a.writeDerivedOf(next); err != nil {
		return fmt.Errorf("renew certificate authority: %w", err)
	}
	return nil
}

// create creates an authority on disk. If another process has created one at the same time, create loads that one: a
// link to an existing name fails, where renaming would replace it.
func (a *Authority) create() (pair, error) {
	p, keyPEM, err := newPair(a.o.Permitted, time.Now())
	if err != nil {
		return pair{}, err
	}
	tmp, err := wholefile.Beside(a.keyFile(), keyPEM)
	if err != nil {
		return pair{}, err
	}
	defer os.Remove(tmp) //nolint:errcheck // fails if the file was renamed, as it should be
	switch err := os.Link(tmp, a.keyFile()); {
	case err == nil:
		return p, nil
	case errors.Is(err, fs.ErrExist):
		return loadPair(a.keyFile(), time.Now())
	}
	return p, os.Rename(tmp, a.keyFile()) // a file system without links
}

// writeDerived updates ca.pem and bundle.pem from the pair that signs now.
func (a *Authority) writeDerived() error { return a.writeDerivedOf(a.current()) }

// writeDerivedOf updates ca.pem and bundle.pem from a pair, for Renew, which holds the lock that current takes. It
// writes only files whose content differs.
func (a *Authority) writeDerivedOf(p pair) error {
	if err := replaceFile(a.CertFile(), p.pem, 0o644); err != nil {
		return err
	}
	bundle, _ := a.buildBundle(p.pem)
	return replaceFile(a.BundleFile(), bundle, 0o644)
}

// loadPair reads the authority's key file and checks that the key is the user's alone, belongs to the certificate, and
// has not expired by now. The error matches fs.ErrNotExist if there is none, and is an [*Error] otherwise.
func loadPair(path string, now time.Time) (pair, error) {
	info, err := os.Stat(path)
	if err != nil {
		return pair{}, err
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return pair{}, &Error{
			fmt.Errorf("key %s can be read by other users (mode %04o)", path, info.Mode().Perm()),
			fmt.Sprintf("if the key cannot have been copied, run chmod 600 %s; otherwise move the file away and run "+
				"\"readthru ca renew\"", path),
		}
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return pair{}, &Error{fmt.Errorf("read the key: %w", err), "the file must belong to the user that runs readthru"}
	}
	p, err := parsePair(data)
	if err != nil {
		return pair{}, &Error{
			fmt.Errorf("key %s: %w", path, err),
			"restore the file from a backup, or move it away: the next start creates a new authority, which clients must " +
				"trust",
		}
	}
	if now.After(p.cert.NotAfter) {
		return pair{}, &Error{
			fmt.Errorf("certificate in %s expired on %s", path, p.cert.NotAfter.UTC().Format(time.DateOnly)),
			"move the file away: the next start creates a new authority, which clients must trust",
		}
	}
	return p, nil
}

// parsePair parses an authority's private key and its certificate in PEM form, in any order, and checks that they
// belong together and may sign. Blocks of other types are skipped.
func parsePair(data []byte) (pair, error) {
	var p pair
	for {
		var block *pem.Block
		if block, data = pem.Decode(data); block == nil {
			break
		}
		switch block.Type {
		case "PRIVATE KEY":
			key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
			if err != nil {
				return pair{}, fmt.Errorf("parse private key: %w", err)
			}
			var ok bool
			if p.key, ok = key.(*ecdsa.PrivateKey); !ok {
				return pair{}, fmt.Errorf("private key is a %T, not an ECDSA key", key)
			}
		case "CERTIFICATE":
			cert, err := x509.ParseCertificate(block.Bytes)
			if err != nil {
				return pair{}, fmt.Errorf("parse certificate: %w", err)
			}
			p.cert, p.pem = cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert.Raw})
		}
	}
	switch {
	case p.key == nil:
		return pair{}, errors.New("no private key in PEM form")
	case p.cert == nil:
		return pair{}, errors.New("no certificate in PEM form")
	case !p.cert.IsCA:
		return pair{}, errors.New("the certificate is not that of an authority")
	case !p.key.PublicKey.Equal(p.cert.PublicKey):
		return pair{}, errors.New("the certificate belongs to another key")
	}
	return p, nil
}

// newPair creates an authority with a P-256 key, and returns it with the content of its key file. Its path length is 0,
// so that it can sign leaves but no authorities (RFC 5280 §4.2.1.9).
func newPair(permitted []string, now time.Time) (pair, []byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return pair{}, nil, fmt.Errorf("generate key: %w", err)
	}
	serial, err := newSerial()
	if err != nil {
		return pair{}, nil, err
	}
	template := &x509.Certificate{
		SerialNumber: serial,
		// The beginning of the serial number distinguishes authorities in a list without naming a user or a machine.
		Subject: pkix.Name{
			CommonName:   fmt.Sprintf("readthru local CA %.8x", serial),
			Organization: []string{"readthru"},
		},
		NotBefore:             now.Add(-backdate).UTC().Truncate(time.Second),
		NotAfter:              now.Add(authorityLife).UTC().Truncate(time.Second),
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
		BasicConstraintsValid: true,
		IsCA:                  true,
		MaxPathLenZero:        true,
	}
	if err := constrain(template, permitted); err != nil {
		return pair{}, nil, err
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return pair{}, nil, fmt.Errorf("sign the authority's certificate: %w", err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return pair{}, nil, fmt.Errorf("parse the authority's certificate: %w", err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return pair{}, nil, fmt.Errorf("encode key: %w", err)
	}
	certPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	keyPEM := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER})
	return pair{cert, key, certPEM}, append(keyPEM, certPEM...), nil
}

// constrain adds name constraints to the certificate of a new authority. It excludes domains or addresses altogether if
// permitted has none of them: RFC 5280 leaves a kind of name without constraints unconstrained, which is not what a
// list of domains means.
func constrain(t *x509.Certificate, permitted []string) error {
	if len(permitted) == 0 {
		return nil
	}
	t.PermittedDNSDomainsCritical = true
	for _, p := range permitted {
		if prefix, err := netip.ParsePrefix(p); err == nil {
			prefix = prefix.Masked()
			t.PermittedIPRanges = append(t.PermittedIPRanges, &net.IPNet{
				IP: prefix.Addr().AsSlice(), Mask: net.CIDRMask(prefix.Bits(), prefix.Addr().BitLen()),
			})
			continue
		}
		name, err := normalName(strings.TrimPrefix(p, "."))
		if err != nil || isAddress(name) {
			return fmt.Errorf("name constraint %q is neither a domain nor an address range such as 10.0.0.0/8", p)
		}
		t.PermittedDNSDomains = append(t.PermittedDNSDomains, name)
	}
	if len(t.PermittedDNSDomains) == 0 {
		t.ExcludedDNSDomains = []string{""}
	}
	if len(t.PermittedIPRanges) == 0 {
		t.ExcludedIPRanges = []*net.IPNet{
			{IP: net.IPv4zero.To4(), Mask: net.CIDRMask(0, 32)},
			{IP: net.IPv6zero, Mask: net.CIDRMask(0, 128)},
		}
	}
	return nil
}

// newSerial returns a random serial number of a certificate, of 128 bits and not zero. Browsers reject two certificates
// of one issuer with the same serial number (RFC 5280 §4.1.2.2).
func newSerial() (*big.Int, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 128))
	if err != nil {
		return nil, fmt.Errorf("choose a serial number: %w", err)
	}
	return serial.Add(serial, big.NewInt(1)), nil
}
