package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/readthru/readthru/internal/webtest"
)

// daemon is a running readthru.
type daemon struct {
	*webtest.Daemon
	roots *x509.CertPool
	web   *web // before which it was started

	mu      sync.Mutex
	clients []*http.Transport // guarded by mu
}

// start starts a web with a handler, or with serveTLS for its HTTPS connections, and a daemon before it; env is that of
// serve. end ends both.
func start(ctx context.Context, s settings, handler http.Handler, serveTLS func(net.Conn),
	env ...string,
) (d *daemon, end func(), err error) {
	w, err := newWeb(ctx, s.dir, handler, serveTLS)
	if err != nil {
		return nil, nil, err
	}
	if d, err = serve(ctx, s, w, env...); err != nil {
		w.Close()
		return nil, nil, err
	}
	return d, func() { d.kill(); w.Close() }, nil
}

// serve starts a daemon before a web, with settings of the environment's form beside those that every fault has.
func serve(ctx context.Context, s settings, w *web, env ...string) (*daemon, error) {
	return serveUnder(ctx, s, filepath.Join(s.dir, "data"), w, nil, env...)
}

// serveUnder is serve in a data directory. prepare, unless nil, changes the command before it is started.
func serveUnder(ctx context.Context, s settings, dir string, w *web, prepare func(*exec.Cmd) error,
	env ...string,
) (*daemon, error) {
	d := &daemon{roots: x509.NewCertPool(), web: w}
	var err error
	d.Daemon, err = webtest.StartDaemon(ctx, &webtest.DaemonOptions{
		Binary: s.readthru, Home: s.dir, Data: dir, Web: w.Web, Prepare: prepare,
		Env: append([]string{"READTHRU_UPSTREAM_CA_FILE=" + w.caFile}, env...),
	})
	if err != nil {
		return nil, err
	}
	ca, err := os.ReadFile(filepath.Join(dir, "ca", "ca.pem"))
	if err != nil || !d.roots.AppendCertsFromPEM(ca) {
		d.Kill()
		return nil, errors.Join(errors.New("the daemon's authority cannot be read"), err)
	}
	return d, nil
}

// client returns a client that goes through the daemon with connections of its own, in tunnels by HTTP/2 if h2.
func (d *daemon) client(h2 bool) *http.Client {
	tr := &http.Transport{
		Proxy:               http.ProxyURL(&url.URL{Scheme: "http", Host: d.Proxy}),
		TLSClientConfig:     &tls.Config{RootCAs: d.roots, MinVersion: tls.VersionTLS12},
		DisableCompression:  true,
		ForceAttemptHTTP2:   h2,
		MaxIdleConnsPerHost: 64,
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.clients = append(d.clients, tr)
	return &http.Client{Transport: tr, Timeout: time.Minute}
}

// leave closes the clients' idle connections.
func (d *daemon) leave() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, tr := range d.clients {
		tr.CloseIdleConnections()
	}
}

// get reads a URL.
func get(ctx context.Context, c *http.Client, target, accept string) (*http.Response, string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, target, http.NoBody)
	if err != nil {
		return nil, "", err
	}
	req.Header.Set("Accept", accept)
	resp, err := c.Do(req)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return resp, string(body), err
}

// metric returns a value of /metrics.
func (d *daemon) metric(ctx context.Context, name string) (float64, error) {
	text, err := d.Ask(ctx, "/metrics", "", nil)
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(line, name+" "); ok {
			return strconv.ParseFloat(strings.TrimSpace(value), 64)
		}
	}
	return 0, fmt.Errorf("/metrics has no %s", name)
}

// memory returns the resident memory of the daemon without mapped files, in bytes: those are the store's tables, which
// the kernel takes away when it needs to.
func (d *daemon) memory() int64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", d.Cmd.Process.Pid))
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, "RssAnon:"); ok {
			kb, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
			return kb << 10
		}
	}
	return 0
}

// descriptors returns how many connections and files the daemon holds, and how many of these files are the store's.
func (d *daemon) descriptors() (all, stored int) {
	dir := fmt.Sprintf("/proc/%d/fd", d.Cmd.Process.Pid)
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if name, _ := os.Readlink(filepath.Join(dir, e.Name())); strings.HasPrefix(name, d.Data) {
			stored++
		}
	}
	return len(entries), stored
}

// kill ends the daemon without a word.
func (d *daemon) kill() {
	d.leave()
	d.Cmd.Process.Kill() //nolint:errcheck // it may have ended
	d.Cmd.Wait()         //nolint:errcheck // it was killed
}

// stop ends the daemon as a user does, and returns an error if it does not end well.
func (d *daemon) stop() error {
	d.leave()
	if err := d.Cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	timer := time.AfterFunc(time.Minute, func() { d.Cmd.Process.Kill() }) //nolint:errcheck // it may have ended
	defer timer.Stop()
	if err := d.Cmd.Wait(); err != nil {
		return errors.Join(errors.New("it did not end well"), err)
	}
	return nil
}
