package webtest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"time"
)

// lifetime is how long a certificate is valid, longer than any measurement takes.
const lifetime = 48 * time.Hour

// An Authority signs certificates of origins. It is safe for concurrent use.
type Authority struct {
	// Root is its certificate in PEM form.
	Root []byte
	// Key is its private key, which it lends to measured servers that sign too.
	Key *ecdsa.PrivateKey

	cert *x509.Certificate
}

// NewAuthority returns an authority with a new key.
func NewAuthority() (*Authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	cert := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: "a web on loopback"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(lifetime),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, cert, cert, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	return &Authority{Root: EncodeCertificate(der), Key: key, cert: cert}, nil
}

// Roots returns a pool with its certificate.
func (a *Authority) Roots() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(a.Root)
	return pool
}

// Leaf returns a certificate for host names, with a new key. A name may begin with "*.".
func (a *Authority) Leaf(names ...string) (*tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: "origin"}, DNSNames: names,
		NotBefore: a.cert.NotBefore, NotAfter: a.cert.NotAfter,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, leaf, a.cert, &key.PublicKey, a.Key)
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, err
}

// LeafFor returns a certificate for the name that a client asks for; it is a [tls.Config]'s GetCertificate.
func (a *Authority) LeafFor(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	return a.Leaf(hello.ServerName)
}

// EncodeCertificate returns a certificate in PEM form.
func EncodeCertificate(der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// EncodeKey returns a private key in PEM form.
func EncodeKey(key any) ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), err
}
