package certs

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"time"

	"golang.org/x/net/idna"
)

const (
	leafLife    = 7 * 24 * time.Hour // from notBefore to notAfter; clients refuse more than 398 days
	leafReserve = 24 * time.Hour     // a leaf with less than this before it is signed anew
	leavesKept  = 4096               // some 2 KiB each
)

// Leaf returns a certificate for a host name or an address: from memory while it lasts, else newly signed, once per
// name at a time. Each has a key of its own, and is sent without the authority's certificate, which clients hold. A
// name that no certificate can stand for is an error: an empty or overlong one, a wildcard, one with characters no host
// name has.
func (a *Authority) Leaf(name string) (*tls.Certificate, error) {
	name, err := normalName(name)
	if err != nil {
		return nil, fmt.Errorf("sign a certificate: %w", err)
	}
	now := time.Now()
	if leaf, ok := a.leaves.Get(name); ok && now.Add(leafReserve).Before(leaf.Leaf.NotAfter) {
		return leaf, nil
	}
	v, err, _ := a.flight.Do(name, func() (any, error) {
		// The read lock is held until the leaf is kept, so that Renew cannot leave one of the old authority behind.
		a.mu.RLock()
		defer a.mu.RUnlock()
		leaf, err := sign(a.pair, name, now)
		if err == nil {
			a.leaves.Add(name, leaf)
		}
		return leaf, err
	})
	if err != nil {
		return nil, fmt.Errorf("sign a certificate for %s: %w", name, err)
	}
	return v.(*tls.Certificate), nil
}

// sign makes a key and a certificate for name, which is normal.
func sign(by pair, name string, now time.Time) (*tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("generate key: %w", err)
	}
	serial, err := newSerial()
	if err != nil {
		return nil, err
	}
	notBefore := now.Add(-backdate).UTC().Truncate(time.Second)
	template := &x509.Certificate{
		SerialNumber:          serial,
		NotBefore:             notBefore,
		NotAfter:              notBefore.Add(leafLife),
		KeyUsage:              x509.KeyUsageDigitalSignature,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true,
	}
	if template.NotAfter.After(by.cert.NotAfter) {
		template.NotAfter = by.cert.NotAfter
	}
	// the upper bound of a common name (RFC 5280, appendix A); the subject alternative name is what counts
	if len(name) <= 64 {
		template.Subject = pkix.Name{CommonName: name}
	}
	if addr, err := netip.ParseAddr(name); err == nil {
		template.IPAddresses = []net.IP{addr.AsSlice()}
	} else {
		template.DNSNames = []string{name}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, by.cert, &key.PublicKey, by.key)
	if err != nil {
		return nil, err
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: cert}, nil
}

// lookup maps names as a browser does before it looks them up (UTS #46), underscores allowed: DNS knows them, and so do
// hosts.
var lookup = idna.New(idna.MapForLookup(), idna.Transitional(false), idna.StrictDomainName(false))

// normalName returns the one spelling of a host name or address: lower case, IDNA mapped to ASCII, without a trailing
// dot, an address without brackets, zone or IPv4-in-IPv6 form.
func normalName(name string) (string, error) {
	bare := name
	if inner, ok := strings.CutPrefix(name, "["); ok && strings.HasSuffix(inner, "]") {
		bare = strings.TrimSuffix(inner, "]")
	}
	if addr, err := netip.ParseAddr(bare); err == nil {
		return addr.Unmap().WithZone("").String(), nil
	}
	if len(name) > 4*253 {
		return "", errors.New("the host name is longer than 253 characters")
	}
	ascii, err := lookup.ToASCII(strings.TrimSuffix(name, "."))
	if err != nil {
		return "", fmt.Errorf("host name %q: %w", name, err)
	}
	ascii = strings.TrimSuffix(ascii, ".")
	switch {
	case ascii == "":
		return "", errors.New("the host name is empty")
	case len(ascii) > 253:
		return "", errors.New("the host name is longer than 253 characters")
	}
	for label := range strings.SplitSeq(ascii, ".") {
		if label == "" || len(label) > 63 {
			return "", fmt.Errorf("host name %q: a label is empty or longer than 63 characters", name)
		}
		for i := range len(label) {
			c := label[i]
			if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '_' {
				continue
			}
			return "", fmt.Errorf("host name %q: character %q is in no host name", name, c)
		}
	}
	return ascii, nil
}

func isAddress(name string) bool {
	_, err := netip.ParseAddr(name)
	return err == nil
}
