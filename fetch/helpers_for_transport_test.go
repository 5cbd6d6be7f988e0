package fetch_test

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
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/readthru/readthru/fetch"
)

// quiet takes what servers say of failed handshakes.
var quiet = log.New(io.Discard, "", 0)

// authority signs for origins in tests.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	file string // PEM
}

func newAuthority(tb testing.TB) *authority {
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
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		tb.Fatal(err)
	}
	return &authority{cert, key, file}
}

// leaf describes a certificate; the zero value is a good one for site.test and its subdomains.
type leaf struct {
	name       string
	key        crypto.Signer
	expired    bool
	selfSigned bool
	stranger   bool // signed by an authority that nobody trusts
}

func (a *authority) sign(tb testing.TB, l leaf) tls.Certificate {
	tb.Helper()
	if l.name == "" {
		l.name = "site.test"
	}
	if l.key == nil {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			tb.Fatal(err)
		}
		l.key = key
	}
	tmpl := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: l.name},
		DNSNames: []string{
			l.name, "*." + l.name, "github.com", "*.github.com", "raw.githubusercontent.com", "gitlab.com", "codeberg.org",
			"bitbucket.org", "*.bitbucket.org",
		},
		NotBefore: time.Now().Add(-2 * time.Hour), NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	if l.expired {
		tmpl.NotAfter = time.Now().Add(-time.Hour)
	}
	parent, signer := a.cert, crypto.Signer(a.key)
	if l.stranger {
		other := newAuthority(tb)
		parent, signer = other.cert, other.key
	}
	if l.selfSigned {
		parent, signer = tmpl, l.key
	}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, parent, l.key.Public(), signer)
	if err != nil {
		tb.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: l.key}
}

// serve starts an origin with TLS and a certificate, and returns its address.
func (a *authority) serve(tb testing.TB, l leaf, h http.Handler) (addr string) {
	tb.Helper()
	s := httptest.NewUnstartedServer(h)
	s.TLS = &tls.Config{Certificates: []tls.Certificate{a.sign(tb, l)}}
	s.Config.ErrorLog = quiet
	s.EnableHTTP2 = true
	s.StartTLS()
	tb.Cleanup(s.Close)
	return s.Listener.Addr().String()
}

// serve starts an origin without TLS and returns its address.
func serve(tb testing.TB, h http.Handler) (addr string) {
	tb.Helper()
	s := httptest.NewServer(h)
	tb.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "http://")
}

func newTransport(tb testing.TB, o fetch.TransportOptions) *fetch.Transport {
	tb.Helper()
	tr, err := fetch.NewTransport(o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(tr.CloseIdleConnections)
	return tr
}
