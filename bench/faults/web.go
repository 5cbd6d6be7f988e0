package main

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"

	"github.com/readthru/readthru/internal/webtest"
)

// web is an origin on loopback for every host below faults.test, over HTTP and HTTPS.
type web struct {
	*webtest.Web
	caFile    string
	authority *webtest.Authority

	mu   sync.Mutex
	leaf *tls.Certificate
}

// newWeb starts a web. serveTLS serves HTTPS connections, by HTTP/2; if it is nil, handler does.
func newWeb(ctx context.Context, dir string, handler http.Handler, serveTLS func(net.Conn)) (*web, error) {
	w := &web{caFile: filepath.Join(dir, "web.pem")}
	var err error
	if w.authority, err = webtest.NewAuthority(); err != nil {
		return nil, err
	}
	if err := errors.Join(os.WriteFile(w.caFile, w.authority.Root, 0o600), w.renew()); err != nil {
		return nil, err
	}
	w.Web, err = webtest.Serve(ctx, webtest.Config{
		Handler: handler, ServeTLS: serveTLS,
		Certificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			return w.leaf, nil
		},
	})
	return w, err
}

// renew gives the web a new certificate, with a new key.
func (w *web) renew() error {
	leaf, err := w.authority.Leaf("*.faults.test")
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.leaf = leaf
	return nil
}
