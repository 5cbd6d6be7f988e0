package certs

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"time"

	"golang.org/x/net/idna"
)

const (
	leafLife    = 7 * 24 * time.Hour // from notBefore to notAfter; clients refuse more than 398 days
	leafReserve = 24 * time.Hour     // a leaf that expires sooner is replaced
	leavesKept  = 4096               // about 2 KiB each
)

// Leaf returns a certificate for a host name or an address, from memory or newly signed, for the TLS handshake of an
// intercepted connection. Concurrent calls for a name sign one certificate. Each certificate has its own key and comes
// without the authority's certificate, which clients have, and without a parsed form of itself. It is an error if the
// name is empty, too long, a wildcard, or has characters that host names cannot have.
func (a *Authority) Leaf(name string) (*tls.Certificate, error) {
	name, err := normalName(name)
	if err != nil {
		return nil, fmt.Errorf("sign a certificate: %w", err)
	}
	now := time.Now()
	if l := a.cached(name, now); l != nil {
		return &l.Certificate, nil
	}
	v, err, _ := a.flight.Do(name, func() (any, error) {
		// Hold the read lock until the leaf is in the cache, so that Renew cannot leave a leaf of the old authority there.
		a.mu.RLock()
		defer a.mu.RUnlock()
		if l := a.cached(name, now); l != nil { // a flight has just landed
			return l, nil
		}
		l, err := sign(a.pair, name, now)
		if err == nil {
			a.leaves.Add(name, l)
		}
		return l, err
	})
	if err != nil {
		return nil, fmt.Errorf("sign a certificate for %s: %w", name, err)
	}
	return &v.(*leaf).Certificate, nil
}

// cached returns the leaf that was signed for a name, or nil if there is none that is valid for leafReserve from now.
func (a *Authority) cached(name string, now time.Time) *leaf {
	l, ok := a.leaves.Get(name)
	if !ok || !now.Add(leafReserve).Before(l.notAfter) || !now.After(l.notBefore) { // or the clock was set back
		return nil
	}
	return l
}

// A leaf is a certificate for an intercepted host with its key, and when it is valid.
type leaf struct {
	tls.Certificate
	notBefore, notAfter time.Time
}

// sign creates a key and a certificate for a name from normalName, an address or a domain. It does not outlive the
// authority.
func sign(by pair, name string, now time.Time) (*leaf, error) {
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
	// A common name has at most 64 characters (RFC 5280, appendix A). Clients use only the subject alternative name.
	if len(name) <= 64 {
		template.Subject = pkix.Name{CommonName: name}
	}
	if addr, err := netip.ParseAddr(name); err == nil {
		template.IPAddresses = []net.IP{addr.AsSlice()}
	} else {
		template.DNSNames = []string{name}
	}
	der, err := certificate(template, &key.PublicKey, by)
	if err != nil {
		return nil, err
	}
	return &leaf{
		tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, template.NotBefore, template.NotAfter,
	}, nil
}

// certificate returns what [x509.CreateCertificate] does, without verifying the new signature, which takes longer than
// the rest of a certificate. Every client verifies it.
func certificate(template *x509.Certificate, key *ecdsa.PublicKey, by pair) ([]byte, error) {
	unsigned := &unsigned{PrivateKey: by.key}
	if _, err := x509.CreateCertificate(rand.Reader, template, by.cert, key, unsigned); !errors.Is(err, errUnsigned) {
		return nil, fmt.Errorf("encode certificate: %w", err)
	}
	digest := sha256.Sum256(unsigned.message)
	signature, err := ecdsa.SignASN1(rand.Reader, by.key, digest[:])
	if err != nil {
		return nil, fmt.Errorf("sign certificate: %w", err)
	}
	return asn1.Marshal(struct { // RFC 5280 §4.1
		Unsigned  asn1.RawValue
		Algorithm pkix.AlgorithmIdentifier
		Signature asn1.BitString
	}{
		asn1.RawValue{FullBytes: unsigned.message},
		pkix.AlgorithmIdentifier{Algorithm: ecdsaWithSHA256},
		asn1.BitString{Bytes: signature, BitLength: 8 * len(signature)},
	})
}

// ecdsaWithSHA256 identifies the algorithm of all signatures (RFC 5758 §3.2).
var ecdsaWithSHA256 = asn1.ObjectIdentifier{1, 2, 840, 10045, 4, 3, 2}

// unsigned keeps what it is to sign. It implements [crypto.MessageSigner].
type unsigned struct {
	*ecdsa.PrivateKey
	message []byte
}

// errUnsigned stops [x509.CreateCertificate] once it has encoded what is to be signed.
var errUnsigned = errors.New("not signed")

// SignMessage keeps the encoded certificate for certificate, and always returns an error: errUnsigned.
func (u *unsigned) SignMessage(_ io.Reader, message []byte, opts crypto.SignerOpts) ([]byte, error) {
	if opts.HashFunc() != crypto.SHA256 {
		return nil, fmt.Errorf("a certificate is signed with SHA-256, not with %v", opts.HashFunc())
	}
	u.message = message
	return nil, errUnsigned
}

// lookup maps names as a browser does before it resolves them (UTS #46). It allows underscores, which some hosts have.
var lookup = idna.New(idna.MapForLookup(), idna.Transitional(false), idna.StrictDomainName(false))

// normalName returns the canonical form of a host name or an address, which names the leaf in memory. A name is in
// lower case, mapped to ASCII by IDNA, and has no trailing dot. An address has no brackets and no zone, and is not an
// IPv4 address in IPv6 form.
func normalName(name string) (string, error) {
	bare := name
	if inner, ok := strings.CutPrefix(name, "["); ok && strings.HasSuffix(inner, "]") {
		bare = strings.TrimSuffix(inner, "]")
	}
	if addr, err := netip.ParseAddr(bare); err == nil {
		return addr.Unmap().WithZone("").String(), nil
	}
	// A character has up to four bytes; the limit in characters is checked below, on the mapped name, but mapping a long
	// name takes time.
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
	// Here rather than by idna, which would refuse the underscores that some hosts have.
	for label := range strings.SplitSeq(ascii, ".") {
		if label == "" || len(label) > 63 {
			return "", fmt.Errorf("host name %q: a label is empty or longer than 63 characters", name)
		}
		for i := range len(label) {
			c := label[i]
			if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '_' {
				continue
			}
			return "", fmt.Errorf("host name %q: a host name cannot have the character %q", name, c)
		}
	}
	return ascii, nil
}

// isAddress reports whether a canonical name is an IP address.
func isAddress(name string) bool {
	_, err := netip.ParseAddr(name)
	return err == nil
}
