package fleettest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	mathrand "math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/readthru/readthru/internal/wholefile"
)

// Secure is a server that is reached by TCP: by TLS alone, with passwords (SCRAM), and a certificate of an authority of
// its own.
type Secure struct {
	*Server
	Host  string // that its certificate names, an address of this machine
	Other string // that it listens on, too, and its certificate does not name
	CA    string // file of the authority's certificate
}

// Secure has the server begin again as such a one. Its certificate ends at a time. The role node, with the password
// secret, may create schemas.
func (s *Server) Secure(t *testing.T, until time.Time, settings ...string) *Secure {
	t.Helper()
	net127 := fmt.Sprintf("127.%d.%d.", 1+mathrand.IntN(254), mathrand.IntN(256)) // the port is free there
	c := &Secure{Server: s, Host: net127 + "1", Other: net127 + "2", CA: filepath.Join(t.TempDir(), "ca.pem")}
	authority := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "private authority"}, IsCA: true,
		BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign, NotAfter: time.Now().Add(time.Hour),
	}
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "database"}, NotAfter: until,
		IPAddresses: []net.IP{net.ParseIP(c.Host)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	caKey, key := newKey(t), newKey(t)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	write(t, c.CA, "CERTIFICATE", certificate(t, authority, authority, caKey, caKey))
	write(t, filepath.Join(s.dir, "server.pem"), "CERTIFICATE", certificate(t, leaf, authority, key, caKey))
	write(t, filepath.Join(s.dir, "server.key"), "PRIVATE KEY", private)
	hba := filepath.Join(s.dir, "hba.conf")
	if err := wholefile.Write(hba, []byte("local all postgres trust\nhostssl all node 127.0.0.0/8 scram-sha-256\n"),
		0o644); err != nil {
		t.Fatal(err)
	}
	if s.as != nil {
		if err := os.Chown(filepath.Join(s.dir, "server.key"), int(s.as.Uid), int(s.as.Gid)); err != nil {
			t.Fatal(err)
		}
	}
	s.Exec("CREATE ROLE node LOGIN PASSWORD 'secret'")
	s.Exec("GRANT CREATE ON DATABASE postgres TO node")
	s.End()
	s.Begin(append([]string{
		"listen_addresses=" + c.Host + "," + c.Other, "ssl=on", "hba_file=" + hba,
		"ssl_cert_file=" + filepath.Join(s.dir, "server.pem"), "ssl_key_file=" + filepath.Join(s.dir, "server.key"),
	}, settings...)...)
	return c
}

// At returns the URL of the database at a host, with a password and what follows the question mark.
func (c *Secure) At(host, password, query string) string {
	return "postgres://node:" + password + "@" + host + "/postgres?" + query
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func certificate(t *testing.T, of, by *x509.Certificate, key, byKey *ecdsa.PrivateKey) []byte {
	t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, of, by, key.Public(), byKey)
	if err != nil {
		t.Fatal(err)
	}
	return der
}

func write(t *testing.T, file, kind string, der []byte) {
	t.Helper()
	mode := os.FileMode(0o644)
	if kind == "PRIVATE KEY" {
		mode = 0o600
	}
	if err := wholefile.Write(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), mode); err != nil {
		t.Fatal(err)
	}
}
