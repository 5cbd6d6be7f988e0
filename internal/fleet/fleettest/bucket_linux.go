package fleettest

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/readthru/readthru/internal/eventually"
	"github.com/readthru/readthru/internal/needs"
)

// Bucket is an S3 server with one bucket, which keeps each object as a file.
type Bucket struct {
	// URL is that of the bucket, with its access key.
	URL string

	// Dir has the bucket's objects.
	Dir string

	tb      testing.TB
	front   *httptest.Server
	mu      sync.Mutex
	trouble func(http.ResponseWriter, *http.Request) bool // nil: none
	counts  map[string]int
}

// Domain is where the server has each bucket under its name, too: at bucket.Domain.
const Domain = "s3.test"

// StartBucket runs versitygw until the test ends.
func StartBucket(tb testing.TB) *Bucket {
	tb.Helper()
	program := versitygw(tb)
	dir, err := os.MkdirTemp("", "s3")
	if err != nil {
		tb.Fatal(err)
	}
	b := &Bucket{tb: tb, Dir: filepath.Join(dir, "root", "contents"), counts: map[string]int{}}
	if err := os.MkdirAll(b.Dir, 0o700); err != nil {
		tb.Fatal(err)
	}
	socket := filepath.Join(dir, "socket")
	versions := filepath.Join(dir, "versions") // a bucket with object lock keeps some
	if err := os.Mkdir(versions, 0o700); err != nil {
		tb.Fatal(err)
	}
	cmd := exec.CommandContext(context.Background(), program, "--port", socket, "--quiet", "--keep-alive",
		"--virtual-domain", Domain, "posix", "--versioning-dir", versions, filepath.Join(dir, "root"))
	cmd.Env = append(os.Environ(), "ROOT_ACCESS_KEY=reader", "ROOT_SECRET_KEY=secret-of-tests")
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	said, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		tb.Fatal(err)
	}
	defer said.Close() //nolint:errcheck // the server has its own
	cmd.Stdout, cmd.Stderr = said, said
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}}
	// The server is reached through a proxy of ours, which makes the trouble.
	b.front = httptest.NewServer(b.handler(&httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(&url.URL{Scheme: "http", Host: "s3"})
			r.Out.Host = r.In.Host // which is signed
		},
		Transport: transport, ErrorLog: log.New(said, "", 0),
	}))
	tb.Cleanup(func() {
		b.Recover()
		b.front.CloseClientConnections()
		b.front.Close()
		transport.CloseIdleConnections()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()    // it was killed
		os.RemoveAll(dir) //nolint:errcheck // what is left is in the folder for temporary files
	})
	b.URL = "s3://reader:secret-of-tests@contents/fleet?endpoint=" + b.front.URL
	if err := eventually.Holds(tb.Context(), func() bool {
		conn, err := new(net.Dialer).DialContext(tb.Context(), "unix", socket)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	}); err != nil {
		text, _ := os.ReadFile(said.Name())
		tb.Fatalf("versitygw does not answer: %v\n%s", err, text)
	}
	return b
}

func versitygw(tb testing.TB) string {
	tb.Helper()
	if testing.Short() {
		tb.Skip("short: no object store is started")
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		tb.Fatal(err)
	}
	found, _ := filepath.Glob(filepath.Join(cache, "readthru", "versitygw-*")) // the pattern is valid
	found = slices.DeleteFunc(found, func(path string) bool { return strings.Contains(filepath.Base(path), ".") })
	if len(found) == 0 {
		needs.Missing(tb, "versitygw is not there: .ci/s3 builds it")
	}
	return slices.MaxFunc(found, func(a, b string) int { return modified(a).Compare(modified(b)) })
}

func modified(path string) time.Time {
	info, err := os.Stat(path)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

func (b *Bucket) handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b.mu.Lock()
		trouble := b.trouble
		b.counts[r.Method]++
		b.mu.Unlock()
		if trouble == nil || trouble(w, r) {
			next.ServeHTTP(w, r)
		}
	})
}

// Trouble has each request met by f, which reports whether the server is to answer it after that.
func (b *Bucket) Trouble(f func(http.ResponseWriter, *http.Request) bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.trouble = f
}

// Recover ends what Trouble, Leave, Refuse, Stall and Slow began.
func (b *Bucket) Recover() { b.Trouble(nil) }

// Leave has connections end without an answer.
func (b *Bucket) Leave() {
	b.Trouble(func(http.ResponseWriter, *http.Request) bool { panic(http.ErrAbortHandler) })
}

// Refuse has the server answer 503.
func (b *Bucket) Refuse() {
	b.Trouble(func(w http.ResponseWriter, _ *http.Request) bool {
		w.WriteHeader(http.StatusServiceUnavailable)
		return false
	})
}

// Stall has the server answer nothing while a client waits.
func (b *Bucket) Stall() {
	b.Trouble(func(_ http.ResponseWriter, r *http.Request) bool {
		_, _ = io.Copy(io.Discard, r.Body) // the end of the client is seen after that alone
		<-r.Context().Done()
		return false
	})
}

// Slow has each answer take longer.
func (b *Bucket) Slow(by time.Duration) {
	b.Trouble(func(_ http.ResponseWriter, r *http.Request) bool {
		select {
		case <-r.Context().Done():
		case <-time.After(by):
		}
		return true
	})
}

// Requests returns how many requests with a method there were.
func (b *Bucket) Requests(method string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.counts[method]
}

// Objects returns the files of all objects.
func (b *Bucket) Objects() (files []string) {
	b.tb.Helper()
	err := filepath.WalkDir(filepath.Join(b.Dir, "fleet"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && len(d.Name()) == 64 {
			files = append(files, path)
		}
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		b.tb.Fatal(err)
	}
	return files
}

// Size returns the bytes of all objects.
func (b *Bucket) Size() (sum int64) {
	for _, name := range b.Objects() {
		info, err := os.Stat(name)
		if err != nil {
			b.tb.Fatal(err)
		}
		sum += info.Size()
	}
	return sum
}
