package setup

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/readthru/readthru/certs"
	"github.com/readthru/readthru/cmd/readthru/internal/daemon"
	"github.com/readthru/readthru/cmd/readthru/internal/settings"
	"github.com/readthru/readthru/cmd/readthru/internal/wiring"
	"github.com/readthru/readthru/internal/clip"
)

// probeHost is the origin's name. No resolver knows it (RFC 6761), so only a client that uses the proxy gets an answer.
const probeHost = "probe.readthru.test"

// client is a program that is tried.
type client struct {
	name   string
	args   []string // URL and TOKEN are replaced by those of the probe; the first is looked up in PATH
	wants  []string // a command that must succeed if the client is installed; may be nil
	env    []string // in addition to the environment of clients
	remedy string   // if it is not covered
}

// clients are the clients to try, if they are installed.
var clients = []client{
	{
		name: "curl", args: []string{"curl", "-sS", "--max-time", "10", "URL"},
		remedy: "a ~/.curlrc may set another proxy or cacert",
	},
	{
		name: "wget", args: []string{"wget", "-q", "-O", "-", "--tries=1", "--timeout=10", "URL"},
		remedy: "use wget --ca-certificate=BUNDLE with the bundle named above",
	},
	{
		name: "git", args: []string{"git", "ls-remote", "URL.git"}, env: []string{"GIT_TERMINAL_PROMPT=0"},
		remedy: "look for http.proxy and http.sslCAInfo in git config",
	},
	{
		name: "python urllib", args: []string{
			"python3", "-c",
			"import sys,urllib.request;print(urllib.request.urlopen(sys.argv[1],timeout=10).read().decode())", "URL",
		},
		remedy: "this Python has its own trust settings: pass a context with the bundle",
	},
	{
		name: "python requests", args: []string{
			"python3", "-c",
			"import sys,requests;print(requests.get(sys.argv[1],timeout=10).text)", "URL",
		},
		wants: []string{"python3", "-c", "import requests"}, remedy: "look for verify= and trust_env=False in the program",
	},
	{name: "node fetch", args: []string{
		"node", "-e",
		"fetch(process.argv[1],{signal:AbortSignal.timeout(10000)}).then(r=>r.text())" +
			".then(console.log,e=>{console.error(String(e.cause||e));process.exit(1)})", "URL",
	}, remedy: "Node reads proxy variables since 22.21 and 24.5: use a newer Node, or undici's EnvHttpProxyAgent"},
	{name: "node https", args: []string{
		"node", "-e",
		"require('https').get(process.argv[1],{timeout:10000},r=>r.pipe(process.stdout))" +
			".on('error',e=>{console.error(String(e));process.exit(1)})", "URL",
	}, remedy: "Node reads proxy variables since 22.21 and 24.5: use a newer Node, or an agent such as https-proxy-agent"},
	{
		name: "go", args: []string{"go", "list", "-m", "-versions", "TOKEN"},
		env: []string{
			"GOPROXY=https://" + probeHost, "GONOSUMDB=*", "GOFLAGS=-mod=mod", "GOWORK=off",
			"GOTOOLCHAIN=local",
		},
		remedy: "Go programs under CGI ignore HTTP_PROXY, and never proxy loopback addresses",
	},
}

// probeClients tries every installed client: through a proxy on its own port, with the user's authority and an empty
// store, against an origin on loopback that only the proxy knows and trusts.
func probeClients(ctx context.Context, s *settings.Settings, authority *certs.Authority) (found []finding, err error) {
	dir, err := os.MkdirTemp("", "readthru-doctor-")
	if err != nil {
		return nil, fmt.Errorf("try clients: %w", err)
	}
	defer os.RemoveAll(dir) //nolint:errcheck // the system cleans its temporary directory
	token := "readthru-probe-" + strings.ToLower(rand.Text())
	origin, err := startProbeOrigin(ctx, dir, answering(token))
	if err != nil {
		return nil, fmt.Errorf("try clients: %w", err)
	}
	defer func() { err = errors.Join(err, origin.Close()) }()
	own := &settings.Settings{Config: settings.Defaults(), DataDir: dir}
	own.Upstream.Resolve, own.Upstream.CAFile = []string{probeHost + ":443=" + origin.address}, origin.caFile
	own.MarkdownNew.Mode = "off"
	log := slog.New(slog.DiscardHandler)
	c, err := wiring.Open(own, dir, false, log) //nolint:contextcheck // opening the store takes none
	if err != nil {
		return nil, fmt.Errorf("try clients: %w", err)
	}
	defer func() { err = errors.Join(err, c.Close()) }() //nolint:contextcheck // closing takes none
	l, err := daemon.Listen(ctx, "127.0.0.1:0", false)
	if err != nil {
		return nil, fmt.Errorf("try clients: %w", err)
	}
	c.ListensOn(l)
	tried, err := c.Proxy(authority, "http://"+s.Admin.Listen)
	if err != nil {
		_ = l.Close() // the first error is returned
		return nil, fmt.Errorf("try clients: %w", err)
	}
	serving, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- tried.Serve(serving, l) }()
	defer func() {
		stop()
		err = errors.Join(err, <-done)
	}()
	e, err := settings.NewClientEnv(own, authority, l.Addr().String(), "")
	if err != nil {
		return nil, err
	}
	e.Direct = ""
	for _, cl := range clients {
		if f, ok := probe(ctx, cl, settings.WithVariables(os.Environ(), e.Variables()), token, dir); ok {
			found = append(found, f)
		}
	}
	return found, nil
}

// probe tries one client (curl, git, go and others) against doctor's own origin through the proxy; ok is false if it is
// not installed.
func probe(ctx context.Context, cl client, env []string, token, dir string) (f finding, ok bool) {
	name, err := exec.LookPath(cl.args[0])
	if err != nil {
		return finding{}, false
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	run := func(args []string) ([]byte, string, error) {
		cmd := exec.CommandContext(ctx, name, args[1:]...)
		cmd.Env, cmd.Dir, cmd.WaitDelay = slices.Concat(env, cl.env), dir, time.Second
		var stderr strings.Builder
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		return out, stderr.String(), err
	}
	if cl.wants != nil {
		if _, _, err := run(cl.wants); err != nil {
			return finding{}, false
		}
	}
	args := make([]string, len(cl.args))
	for i, a := range cl.args {
		a = strings.ReplaceAll(a, "URL", "https://"+probeHost+"/"+token)
		args[i] = strings.ReplaceAll(a, "TOKEN", probeHost+"/"+token)
	}
	out, stderr, err := run(args)
	f = finding{cl.name, good, "covered", ""}
	if err == nil && strings.Contains(string(out), token) {
		return f, true
	}
	f.State, f.Detail, f.Remedy = warning, "not covered", cl.remedy
	if why := clip.LastLine(stderr, 160); why != "" {
		f.Detail += ": " + why
	} else if err != nil {
		f.Detail += ": " + err.Error()
	}
	return f, true
}

// probeOrigin is an HTTPS origin on this machine.
type probeOrigin struct {
	server  *http.Server
	done    chan struct{}
	address string
	caFile  string
}

// answering answers every request of doctor's probes with the token, in the form that its client wants. Only a client
// that shows the token has read the page.
func answering(token string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		switch {
		case strings.HasSuffix(r.URL.Path, ".git/info/refs"):
			_, _ = fmt.Fprintf(w, "%040d\trefs/heads/%s\n", 1, token)
		case strings.HasSuffix(r.URL.Path, "/@v/list"):
			io.WriteString(w, "v1.0.0\n")
		case strings.HasSuffix(r.URL.Path, ".info"):
			io.WriteString(w, `{"Version":"v1.0.0"}`)
		case strings.HasSuffix(r.URL.Path, ".mod"):
			_, _ = fmt.Fprintf(w, "module %s/%s\n", probeHost, token)
		default:
			io.WriteString(w, token+"\n")
		}
	})
}

// startProbeOrigin starts an origin with an authority of its own, whose certificate it writes into dir.
func startProbeOrigin(ctx context.Context, dir string, handler http.Handler) (*probeOrigin, error) {
	cert, authority, err := probeCertificate(time.Now())
	if err != nil {
		return nil, err
	}
	o := &probeOrigin{caFile: filepath.Join(dir, "origin.pem"), done: make(chan struct{})}
	if err := os.WriteFile(o.caFile, authority, 0o600); err != nil {
		return nil, err
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	o.address = l.Addr().String()
	o.server = &http.Server{
		Handler:           handler,
		TLSConfig:         &tls.Config{Certificates: []tls.Certificate{cert}},
		ReadHeaderTimeout: 10 * time.Second,
		ErrorLog:          slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug),
	}
	go func() {
		defer close(o.done)
		_ = o.server.ServeTLS(l, "", "") // ends when Close is called
	}()
	return o, nil
}

// Close stops the origin.
func (o *probeOrigin) Close() error {
	err := o.server.Close()
	<-o.done
	return err
}

// probeCertificate creates a certificate for probeHost that lasts an hour, and the certificate of its issuer as PEM.
func probeCertificate(now time.Time) (tls.Certificate, []byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	root := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "readthru doctor"}, NotBefore: now.Add(-time.Hour),
		NotAfter: now.Add(time.Hour),
		IsCA:     true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	rootDER, err := x509.CreateCertificate(rand.Reader, root, root, &key.PublicKey, key)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: probeHost}, DNSNames: []string{probeHost},
		NotBefore: root.NotBefore, NotAfter: root.NotAfter,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, leaf, root, &key.PublicKey, key)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key},
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: rootDER}), nil
}
