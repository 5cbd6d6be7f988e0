package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// hosts are the names that the origin answers to; a file in the form of /etc/hosts maps them for peers.
const hosts = 8

func hostName(n int) string { return fmt.Sprintf("h%d.bench.test", n%hosts) }

// origin is a small web on loopback: every path names its content and size, fresh for an hour.
type origin struct {
	plain, secure string // port numbers
	caFile        string // root and key of its certificate, also lent to peers that sign
	keyFile       string
	leafFile      string // certificate of the names, under the same key
	hostsFile     string
	roots         *x509.CertPool
}

func newOrigin(ctx context.Context, s settings) (*origin, error) {
	o := &origin{
		caFile: filepath.Join(s.dir, "root.pem"), keyFile: filepath.Join(s.dir, "root.key"),
		leafFile: filepath.Join(s.dir, "leaf.pem"), hostsFile: filepath.Join(s.dir, "hosts"), roots: x509.NewCertPool(),
	}
	cert, err := o.certificates()
	if err != nil {
		return nil, fmt.Errorf("make certificates: %w", err)
	}
	var names strings.Builder
	for n := range hosts {
		fmt.Fprintf(&names, "127.0.0.1 %s\n", hostName(n))
	}
	if err := os.WriteFile(o.hostsFile, []byte(names.String()), 0o644); err != nil {
		return nil, err
	}
	server := &http.Server{
		Handler: http.HandlerFunc(pages), ReadHeaderTimeout: 10 * time.Second, ErrorLog: log.New(io.Discard, "", 0),
		TLSConfig: &tls.Config{
			Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12,
			NextProtos: []string{"h2", "http/1.1"},
		},
	}
	plain, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	secure, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	o.plain, o.secure = port(plain), port(secure)
	go server.Serve(plain)             //nolint:errcheck // ends with the program
	go server.ServeTLS(secure, "", "") //nolint:errcheck // ends with the program
	return o, nil
}

func port(l net.Listener) string { return strconv.Itoa(l.Addr().(*net.TCPAddr).Port) }

// pages answers with the content that a path names.
func pages(w http.ResponseWriter, r *http.Request) {
	kind, content := contentOf(r.URL.Path)
	h := w.Header()
	switch kind {
	case htmlKind:
		h.Set("Content-Type", "text/html; charset=utf-8")
	case textKind:
		h.Set("Content-Type", "text/plain")
	default:
		http.NotFound(w, r)
		return
	}
	h.Set("Cache-Control", "max-age=3600")
	h.Set("ETag", `"`+strconv.Itoa(len(content))+`"`)
	h.Set("Content-Length", strconv.Itoa(len(content)))
	w.Write(content) //nolint:errcheck // the client left
}

func (o *origin) certificates() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	root := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "bench root"}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(24 * time.Hour),
		IsCA:     true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	rootDER, err := x509.CreateCertificate(rand.Reader, root, root, &key.PublicKey, key)
	if err != nil {
		return tls.Certificate{}, err
	}
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "bench"}, DNSNames: []string{"*.bench.test"},
		NotBefore: root.NotBefore, NotAfter: root.NotAfter,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	leafDER, err := x509.CreateCertificate(rand.Reader, leaf, root, &key.PublicKey, key)
	if err != nil {
		return tls.Certificate{}, err
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return tls.Certificate{}, err
	}
	rootPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: rootDER})
	o.roots.AppendCertsFromPEM(rootPEM)
	if err := os.WriteFile(o.caFile, rootPEM, 0o644); err != nil {
		return tls.Certificate{}, err
	}
	keyPEM := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER})
	if err := os.WriteFile(o.keyFile, keyPEM, 0o600); err != nil {
		return tls.Certificate{}, err
	}
	leafPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: leafDER})
	if err := os.WriteFile(o.leafFile, leafPEM, 0o600); err != nil {
		return tls.Certificate{}, err
	}
	return tls.Certificate{Certificate: [][]byte{leafDER}, PrivateKey: key}, nil
}
