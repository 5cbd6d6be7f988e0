package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// peer is a server under test with the ways to reach it.
type peer struct {
	name     string
	process  *process // nil: it is in this process
	plain    target   // absolute-form requests, or origin-form to a server that stands in for the origin
	secure   target   // TLS inside CONNECT, or TLS to a server that stands in for the origin; its addr is empty without
	converts bool     // it answers HTML as markdown
	variant  string   // how it differs from readthru with the run's settings; empty for that and for other programs
}

// cpu returns the processor time that the peer's processes have used; 0 for one that has none.
func (p *peer) cpu() time.Duration {
	if p.process == nil {
		return 0
	}
	return p.process.cpu()
}

// trusting returns a client's TLS configuration that trusts roots.
func trusting(roots *x509.CertPool) func(host string) *tls.Config {
	return func(host string) *tls.Config {
		return &tls.Config{RootCAs: roots, ServerName: host, MinVersion: tls.VersionTLS12}
	}
}

// ourselves starts an origin, and readthru on free ports before it.
func ourselves(ctx context.Context, s settings) (*origin, *peer, error) {
	o, err := newOrigin(ctx, s)
	if err != nil {
		return nil, nil, err
	}
	p, err := ours(ctx, s, o)
	return o, p, err
}

// ours starts readthru on free ports.
func ours(ctx context.Context, s settings, o *origin) (*peer, error) {
	return oursIn(ctx, s, o, filepath.Join(s.dir, "data"))
}

// oursIn starts readthru on free ports with a data folder.
func oursIn(ctx context.Context, s settings, o *origin, dir string) (*peer, error) {
	proxy, admin, err := twoPorts(ctx)
	if err != nil {
		return nil, err
	}
	env := []string{
		"READTHRU_DATA_DIR=" + dir, "READTHRU_CONFIG=/dev/null", "READTHRU_UPSTREAM_CA_FILE=" + o.caFile,
		"READTHRU_UPSTREAM_RESOLVE=*:80=127.0.0.1:" + o.plain + ",*:443=127.0.0.1:" + o.secure,
		"READTHRU_LOG_LEVEL=" + s.log, "READTHRU_CACHE_MEMORY=" + s.memory, "READTHRU_MARKDOWN_NEW_MODE=off",
	}
	if s.requests > 0 {
		env = append(env, fmt.Sprint("READTHRU_REQUESTS_LAST=", s.requests), "READTHRU_REQUESTS_MAX_SIZE=1GiB")
	}
	args := []string{s.readthru, "serve", "--listen", "127.0.0.1:" + proxy, "--admin", "127.0.0.1:" + admin}
	if s.pprof != "" {
		args = append(args, "--pprof", s.pprof)
	}
	p, err := spawn(ctx, s, filepath.Base(dir), "127.0.0.1:"+proxy, env, args...)
	if err != nil {
		return nil, err
	}
	p.admin = "127.0.0.1:" + admin
	roots := x509.NewCertPool()
	text, err := os.ReadFile(filepath.Join(dir, "ca", "ca.pem"))
	if err != nil {
		return nil, err
	}
	roots.AppendCertsFromPEM(text)
	return &peer{
		name: "readthru", process: p, converts: true,
		plain:  target{addr: "127.0.0.1:" + proxy, form: absoluteForm},
		secure: target{addr: "127.0.0.1:" + proxy, form: originForm, tunnel: true, tls: trusting(roots)},
	}, nil
}

// bare starts this program as a plain net/http server of the same pages.
func bare(ctx context.Context, s settings, o *origin) (*peer, error) {
	plain, secure, err := twoPorts(ctx)
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	p, err := spawn(ctx, s, "bare", "127.0.0.1:"+secure, nil, self, "serve", "127.0.0.1:"+plain, "127.0.0.1:"+secure,
		s.dir)
	if err != nil {
		return nil, err
	}
	return reverse("net/http alone", p, plain, secure, o), nil
}

// reverse is a peer that stands in for the origin, reached as if it were the origin. Without a secure port it has no
// TLS.
func reverse(name string, p *process, plain, secure string, o *origin) *peer {
	r := &peer{name: name, process: p, plain: target{addr: "127.0.0.1:" + plain, form: originForm}}
	if secure != "" {
		r.secure = target{addr: "127.0.0.1:" + secure, form: originForm, tls: trusting(o.roots)}
	}
	return r
}

// serveBare is the peer "net/http alone": the same pages from a plain and a TLS listener, without any proxying.
func serveBare(ctx context.Context, plain, secure, dir string) error {
	handler := http.HandlerFunc(pages)
	failed := make(chan error, 2)
	for _, s := range []*http.Server{
		{Addr: plain, Handler: handler, ReadHeaderTimeout: 10 * time.Second},
		{Addr: secure, Handler: handler, ReadHeaderTimeout: 10 * time.Second},
	} {
		go func() {
			if s.Addr == plain {
				failed <- s.ListenAndServe()
				return
			}
			failed <- s.ListenAndServeTLS(filepath.Join(dir, "leaf.pem"), filepath.Join(dir, "leaf.pem"))
		}()
	}
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
		return nil
	}
}

// squid starts Debian's squid-openssl with a memory cache, intercepting with the origin's root as its authority.
func squid(ctx context.Context, s settings, o *origin) (*peer, error) {
	binary, err := installed("squid", "squid-openssl")
	if err != nil {
		return nil, err
	}
	listen, err := freePort(ctx)
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(s.dir, "squid")
	if err := errors.Join(os.RemoveAll(dir), os.Mkdir(dir, 0o777)); err != nil { // it may be of an earlier run
		return nil, err
	}
	certs := filepath.Join(dir, "certs")
	if out, err := exec.CommandContext(ctx, "/usr/lib/squid/security_file_certgen", "-c", "-s", certs, "-M",
		"16MB").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("make squid's certificate store: %w: %s", err, out)
	}
	both := filepath.Join(dir, "ca.pem")
	var joined []byte
	for _, name := range []string{o.caFile, o.keyFile} {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		joined = append(joined, text...)
	}
	if err := os.WriteFile(both, joined, 0o600); err != nil {
		return nil, err
	}
	config := fmt.Sprintf(`http_port 127.0.0.1:%[1]s ssl-bump generate-host-certificates=on dynamic_cert_mem_cache_size=16MB tls-cert=%[2]s
sslcrtd_program /usr/lib/squid/security_file_certgen -s %[3]s -M 16MB
ssl_bump bump all
tls_outgoing_options cafile=%[4]s
hosts_file %[5]s
http_access allow all
cache_mem 512 MB
maximum_object_size_in_memory 2 MB
access_log none
cache_log %[6]s/cache.log
pid_filename %[6]s/pid
coredump_dir %[6]s
shutdown_lifetime 1 second
`, listen, both, certs, o.caFile, o.hostsFile, dir)
	if os.Geteuid() == 0 { // squid refuses to run as root: it becomes the user that Debian's package makes
		config += "cache_effective_user proxy\n"
		if out, err := exec.CommandContext(ctx, "chown", "-R", "proxy", dir).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("hand the folder to squid's user: %w: %s", err, out)
		}
	}
	file := filepath.Join(dir, "squid.conf")
	if err := os.WriteFile(file, []byte(config), 0o644); err != nil {
		return nil, err
	}
	p, err := spawn(ctx, s, "squid", "127.0.0.1:"+listen, nil, binary, "-N", "-n", fmt.Sprintf("bench%d", os.Getpid()),
		"-f", file)
	if err != nil {
		return nil, err
	}
	return &peer{
		name: "Squid", process: p,
		plain:  target{addr: "127.0.0.1:" + listen, port: o.plain, form: absoluteForm},
		secure: target{addr: "127.0.0.1:" + listen, port: o.secure, form: originForm, tunnel: true, tls: trusting(o.roots)},
	}, nil
}

// installed returns the path of a peer's program.
func installed(name, hint string) (string, error) {
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	if path, err := exec.LookPath("/usr/sbin/" + name); err == nil {
		return path, nil
	}
	return "", fmt.Errorf("%s is not installed (Debian: %s)", name, hint)
}

// nginx starts nginx as a caching reverse proxy of the origin, with one worker, its cache in files and no access log.
func nginx(ctx context.Context, s settings, o *origin) (*peer, error) {
	binary, err := installed("nginx", "nginx")
	if err != nil {
		return nil, err
	}
	plain, secure, err := twoPorts(ctx)
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(s.dir, "nginx")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	config := fmt.Sprintf(`daemon off; worker_processes 1; pid %[1]s/pid; error_log %[1]s/error.log;
events { worker_connections 2000; }
http {
	access_log off; sendfile on; tcp_nopush on; keepalive_requests 1000000000; open_file_cache max=20000;
	proxy_cache_path %[1]s/cache keys_zone=pages:64m max_size=2g; proxy_temp_path %[1]s/temp;
	client_body_temp_path %[1]s/body; fastcgi_temp_path %[1]s/fastcgi; uwsgi_temp_path %[1]s/uwsgi;
	scgi_temp_path %[1]s/scgi;
	server {
		listen 127.0.0.1:%[2]s; listen 127.0.0.1:%[3]s ssl;
		ssl_certificate %[4]s; ssl_certificate_key %[4]s;
		location / {
			proxy_pass http://127.0.0.1:%[5]s; proxy_http_version 1.1; proxy_set_header Host $host;
			proxy_cache pages; proxy_cache_key $host$request_uri;
		}
	}
}
`, dir, plain, secure, o.leafFile, o.plain)
	if os.Geteuid() == 0 {
		config = "user root;\n" + config
	}
	file := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(file, []byte(config), 0o644); err != nil {
		return nil, err
	}
	p, err := spawn(ctx, s, "nginx", "127.0.0.1:"+secure, nil, binary, "-c", file, "-e", filepath.Join(dir, "error.log"))
	if err != nil {
		return nil, err
	}
	return reverse("nginx", p, plain, secure, o), nil
}

// varnish starts Varnish as a caching reverse proxy of the origin. It has no TLS.
func varnish(ctx context.Context, s settings, o *origin) (*peer, error) {
	binary, err := installed("varnishd", "varnish")
	if err != nil {
		return nil, err
	}
	listen, err := freePort(ctx)
	if err != nil {
		return nil, err
	}
	p, err := spawn(ctx, s, "varnish", "127.0.0.1:"+listen, nil, binary, "-F", "-n", filepath.Join(s.dir, "varnish"),
		"-a", "127.0.0.1:"+listen, "-b", "127.0.0.1:"+o.plain, "-s", "malloc,512m")
	if err != nil {
		return nil, err
	}
	return reverse("Varnish", p, listen, "", o), nil
}

func twoPorts(ctx context.Context) (first, second string, err error) {
	if first, err = freePort(ctx); err != nil {
		return "", "", err
	}
	second, err = freePort(ctx)
	return first, second, err
}
