// Package transporttest serves origins whose certificates a transport trusts, in tests.
package transporttest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/readthru/readthru/internal/transport"
	"github.com/readthru/readthru/internal/wholefile"
)

// Quiet takes what servers say of failed handshakes.
var Quiet = log.New(io.Discard, "", 0)

// Authority signs for origins in tests.
type Authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	File string // of its certificate, in PEM
}

// NewAuthority returns an authority of its own for a test.
func NewAuthority(tb testing.TB) *Authority {
	tb.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	tmpl := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test authority"}, IsCA: true,
		BasicConstraintsValid: true,
		NotBefore:             time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, key.Public(), key)
	if err != nil {
		tb.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		tb.Fatal(err)
	}
	file := filepath.Join(tb.TempDir(), "ca.pem")
	if err := wholefile.Write(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		tb.Fatal(err)
	}
	return &Authority{cert, key, file}
}

// Leaf describes a certificate; the zero value is a good one for site.test and its subdomains.
type Leaf struct {
	Name       string
	Key        crypto.Signer
	Expired    bool
	SelfSigned bool
	Stranger   bool // signed by an authority that nobody trusts
}

// Sign returns a certificate of the authority, with its key.
func (a *Authority) Sign(tb testing.TB, l Leaf) tls.Certificate {
	tb.Helper()
	if l.Name == "" {
		l.Name = "site.test"
	}
	if l.Key == nil {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			tb.Fatal(err)
		}
		l.Key = key
	}
	tmpl := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: l.Name},
		DNSNames: []string{
			l.Name, "*." + l.Name, "github.com", "*.github.com", "raw.githubusercontent.com", "gitlab.com", "codeberg.org",
			"bitbucket.org", "*.bitbucket.org",
		},
		NotBefore: time.Now().Add(-2 * time.Hour), NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	if l.Expired {
		tmpl.NotAfter = time.Now().Add(-time.Hour)
	}
	parent, signer := a.cert, crypto.Signer(a.key)
	if l.Stranger {
		other := NewAuthority(tb)
		parent, signer = other.cert, other.key
	}
	if l.SelfSigned {
		parent, signer = tmpl, l.Key
	}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, parent, l.Key.Public(), signer)
	if err != nil {
		tb.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: l.Key}
}

// Serve starts an origin with TLS and a certificate, and returns its address.
func (a *Authority) Serve(tb testing.TB, l Leaf, h http.Handler) (addr string) {
	tb.Helper()
	s := httptest.NewUnstartedServer(h)
	s.TLS = &tls.Config{Certificates: []tls.Certificate{a.Sign(tb, l)}}
	s.Config.ErrorLog = Quiet
	s.EnableHTTP2 = true
	s.StartTLS()
	tb.Cleanup(s.Close)
	return s.Listener.Addr().String()
}

// Serve starts an origin without TLS and returns its address.
func Serve(tb testing.TB, h http.Handler) (addr string) {
	tb.Helper()
	s := httptest.NewServer(h)
	tb.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "http://")
}

// New returns a transport, which gives up its connections at the end of the test.
func New(tb testing.TB, o transport.Options) *transport.Transport {
	tb.Helper()
	tr, err := transport.New(o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(tr.CloseIdleConnections)
	return tr
}
