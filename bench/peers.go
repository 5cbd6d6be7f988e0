package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// peer is a server under test with the ways to reach it.
type peer struct {
	name      string
	process   *process
	plain     target // absolute-form requests, or origin-form to a server that is the origin
	intercept target // TLS inside CONNECT, or TLS to a server that is the origin
}

// ours starts readthru on free ports with an empty data folder.
func ours(ctx context.Context, s settings, o *origin, dir string) (*peer, error) {
	proxy, admin, err := twoPorts(ctx)
	if err != nil {
		return nil, err
	}
	env := []string{
		"READTHRU_DATA_DIR=" + dir, "READTHRU_CONFIG=/dev/null", "READTHRU_UPSTREAM_CA_FILE=" + o.caFile,
		"READTHRU_UPSTREAM_RESOLVE=*:80=127.0.0.1:" + o.plain + ",*:443=127.0.0.1:" + o.secure, "READTHRU_LOG_LEVEL=warn",
		"READTHRU_MARKDOWN_NEW_MODE=off",
	}
	p, err := spawn(ctx, s, "readthru", "127.0.0.1:"+proxy, env, s.readthru, "serve", "--listen", "127.0.0.1:"+proxy,
		"--admin", "127.0.0.1:"+admin)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	text, err := os.ReadFile(filepath.Join(dir, "ca", "ca.pem"))
	if err != nil {
		return nil, err
	}
	roots.AppendCertsFromPEM(text)
	host := hostName(0)
	return &peer{
		name: "readthru", process: p,
		plain: target{
			addr: "127.0.0.1:" + proxy, host: host,
			form: func(path string) string { return "http://" + host + path },
		},
		intercept: target{
			addr: "127.0.0.1:" + proxy, host: host, tunnel: host + ":443",
			tls: &tls.Config{RootCAs: roots, ServerName: host}, form: samePath,
		},
	}, nil
}

func samePath(path string) string { return path }

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
	p, err := spawn(ctx, s, "bare", "127.0.0.1:"+secure, nil, self, "serve", "-size", fmt.Sprint(s.size),
		"127.0.0.1:"+plain, "127.0.0.1:"+secure, s.dir)
	if err != nil {
		return nil, err
	}
	return &peer{
		name: "net/http alone", process: p,
		plain: target{addr: "127.0.0.1:" + plain, host: hostName(0), form: samePath},
		intercept: target{
			addr: "127.0.0.1:" + secure, host: hostName(0),
			tls: &tls.Config{RootCAs: o.roots, ServerName: hostName(0)}, form: samePath,
		},
	}, nil
}

// squid starts Debian's squid-openssl with a memory cache, intercepting with the origin's root as its authority.
func squid(ctx context.Context, s settings, o *origin) (*peer, error) {
	binary, err := exec.LookPath("squid")
	if err != nil {
		binary = "/usr/sbin/squid"
		if _, err := os.Stat(binary); err != nil {
			return nil, errors.New("squid is not installed (Debian: squid-openssl)")
		}
	}
	listen, err := freePort(ctx)
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(s.dir, "squid")
	if err := os.Mkdir(dir, 0o777); err != nil {
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
cache_mem 256 MB
maximum_object_size_in_memory 1 MB
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
	host := hostName(0)
	return &peer{
		name: "squid", process: p,
		plain: target{
			addr: "127.0.0.1:" + listen, host: host + ":" + o.plain,
			form: func(path string) string { return "http://" + host + ":" + o.plain + path },
		},
		intercept: target{
			addr: "127.0.0.1:" + listen, host: host + ":" + o.secure, tunnel: host + ":" + o.secure,
			tls: &tls.Config{RootCAs: o.roots, ServerName: host}, form: samePath,
		},
	}, nil
}

func twoPorts(ctx context.Context) (first, second string, err error) {
	if first, err = freePort(ctx); err != nil {
		return "", "", err
	}
	second, err = freePort(ctx)
	return first, second, err
}
