package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
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
)

// daemon is a running readthru.
type daemon struct {
	cmd          *exec.Cmd
	dir          string // its data directory
	proxy, admin string // addresses
	token        string
	log          string // the file with its log
	roots        *x509.CertPool
	web          *web // before which it was started

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
	d := &daemon{dir: dir, log: filepath.Join(s.dir, "log"), roots: x509.NewCertPool(), web: w}
	out, err := os.OpenFile(d.log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer out.Close() //nolint:errcheck // the daemon has its own copy
	d.cmd = exec.CommandContext(context.WithoutCancel(ctx), s.readthru, "serve", "--listen", "127.0.0.1:0", "--admin",
		"127.0.0.1:0")
	d.cmd.Env = append([]string{
		"HOME=" + s.dir, "PATH=" + os.Getenv("PATH"), "READTHRU_DATA_DIR=" + dir, "READTHRU_MARKDOWN_NEW_MODE=off",
		"READTHRU_RENDER_MODE=never", "READTHRU_FETCH_ALLOW_PRIVATE=true", "READTHRU_LOG_LEVEL=warn",
		"READTHRU_UPSTREAM_CA_FILE=" + w.caFile, "READTHRU_UPSTREAM_RESOLVE=*:443=" + w.HTTPS + ",*:80=" + w.HTTP,
	}, env...)
	d.cmd.Stdout, d.cmd.Stderr = out, out
	if prepare != nil {
		if err := prepare(d.cmd); err != nil {
			return nil, err
		}
	}
	if err := d.cmd.Start(); err != nil {
		return nil, err
	}
	for began := time.Now(); time.Since(began) < time.Minute; time.Sleep(5 * time.Millisecond) {
		if d.found() {
			return d, nil
		}
		if exited(d.cmd.Process.Pid) {
			break
		}
	}
	d.kill()
	said, _ := os.ReadFile(d.log)
	return nil, fmt.Errorf("readthru does not serve: %s", said)
}

// exited reports whether a child has ended and was not waited for yet.
func exited(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, after, _ := strings.Cut(string(text), ") ")
	return err != nil || strings.HasPrefix(after, "Z")
}

// found reads where the daemon is, once it has said so.
func (d *daemon) found() bool {
	text, err := os.ReadFile(filepath.Join(d.dir, "daemon.json"))
	var where struct {
		PID                 int
		Proxy, Admin, Token string
	}
	if err != nil || json.Unmarshal(text, &where) != nil || where.PID != d.cmd.Process.Pid {
		return false
	}
	ca, err := os.ReadFile(filepath.Join(d.dir, "ca", "ca.pem"))
	d.proxy, d.admin, d.token = where.Proxy, where.Admin, where.Token
	return err == nil && d.roots.AppendCertsFromPEM(ca)
}

// client returns a client that goes through the daemon with connections of its own, in tunnels by HTTP/2 if h2.
func (d *daemon) client(h2 bool) *http.Client {
	tr := &http.Transport{
		Proxy:               http.ProxyURL(&url.URL{Scheme: "http", Host: d.proxy}),
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

// ask asks the admin port, by POST if there is something to send, and decodes its JSON into v, unless v is nil.
func (d *daemon) ask(ctx context.Context, path, sent string, v any) (text string, err error) {
	method := http.MethodGet
	if sent != "" {
		method = http.MethodPost
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://"+d.admin+path, strings.NewReader(sent))
	if err != nil {
		return "", err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+d.token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %d %s", path, resp.StatusCode, body)
	}
	if err == nil && v != nil {
		err = json.Unmarshal(body, v)
	}
	return string(body), err
}

// metric returns a value of /metrics.
func (d *daemon) metric(ctx context.Context, name string) (float64, error) {
	text, err := d.ask(ctx, "/metrics", "", nil)
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
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", d.cmd.Process.Pid))
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
	dir := fmt.Sprintf("/proc/%d/fd", d.cmd.Process.Pid)
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if name, _ := os.Readlink(filepath.Join(dir, e.Name())); strings.HasPrefix(name, d.dir) {
			stored++
		}
	}
	return len(entries), stored
}

// kill ends the daemon without a word.
func (d *daemon) kill() {
	d.leave()
	d.cmd.Process.Kill() //nolint:errcheck // it may have ended
	d.cmd.Wait()         //nolint:errcheck // it was killed
}

// stop ends the daemon as a user does, and returns an error if it does not end well.
func (d *daemon) stop() error {
	d.leave()
	if err := d.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	timer := time.AfterFunc(time.Minute, func() { d.cmd.Process.Kill() }) //nolint:errcheck // it may have ended
	defer timer.Stop()
	if err := d.cmd.Wait(); err != nil {
		return errors.Join(errors.New("it did not end well"), err)
	}
	return nil
}
