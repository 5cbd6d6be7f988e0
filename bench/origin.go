package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/readthru/readthru/internal/webtest"
)

// hosts are the names that the origin answers to; a file in the form of /etc/hosts maps them for peers.
var hosts = 8

func hostName(n int) string { return fmt.Sprintf("h%d.bench.test", n%hosts) }

// origin is a small web on loopback: every path names its content and size, fresh for an hour.
type origin struct {
	plain, secure string // port numbers
	caFile        string // root of its certificate, with its key also lent to peers that sign
	keyFile       string
	leafFile      string // certificate of the names, and its key
	hostsFile     string
	roots         *x509.CertPool
}

func newOrigin(ctx context.Context, s settings) (*origin, error) {
	o := &origin{
		caFile: filepath.Join(s.dir, "root.pem"), keyFile: filepath.Join(s.dir, "root.key"),
		leafFile: filepath.Join(s.dir, "leaf.pem"), hostsFile: filepath.Join(s.dir, "hosts"),
	}
	authority, err := webtest.NewAuthority()
	if err != nil {
		return nil, err
	}
	leaf, err := authority.Leaf("*.bench.test")
	if err != nil {
		return nil, err
	}
	if err := o.write(authority, leaf); err != nil {
		return nil, fmt.Errorf("write certificates: %w", err)
	}
	var names strings.Builder
	for n := range hosts {
		fmt.Fprintf(&names, "127.0.0.1 %s\n", hostName(n))
	}
	if err := os.WriteFile(o.hostsFile, []byte(names.String()), 0o644); err != nil {
		return nil, err
	}
	web, err := webtest.Serve(ctx, webtest.Config{ // until the program ends
		Handler:     http.HandlerFunc(pages),
		Certificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return leaf, nil },
	})
	if err != nil {
		return nil, err
	}
	_, o.plain, _ = net.SplitHostPort(web.HTTP)
	_, o.secure, _ = net.SplitHostPort(web.HTTPS)
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

// write writes the certificates and keys that peers need.
func (o *origin) write(authority *webtest.Authority, leaf *tls.Certificate) error {
	o.roots = authority.Roots()
	rootKey, err := webtest.EncodeKey(authority.Key)
	if err != nil {
		return err
	}
	leafKey, err := webtest.EncodeKey(leaf.PrivateKey)
	if err != nil {
		return err
	}
	return errors.Join(
		os.WriteFile(o.caFile, authority.Root, 0o644),
		os.WriteFile(o.keyFile, rootKey, 0o600),
		os.WriteFile(o.leafFile, append(webtest.EncodeCertificate(leaf.Certificate[0]), leafKey...), 0o600),
	)
}
