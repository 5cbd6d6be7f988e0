package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/readthru/readthru/internal/fleet"
	"github.com/readthru/readthru/internal/webtest"
)

// web is an origin on loopback for every host, that counts what it is asked for.
type web struct {
	*webtest.Web
	mu    sync.Mutex
	asked map[string]int // by path
}

// newWeb starts a web of small pages that may be stored. It needs a moment for each, as origins do.
func newWeb(ctx context.Context) (*web, error) {
	w := &web{asked: map[string]int{}}
	authority, err := webtest.NewAuthority()
	if err != nil {
		return nil, err
	}
	w.Web, err = webtest.Serve(ctx, webtest.Config{Certificate: authority.LeafFor, Handler: http.HandlerFunc(
		func(rw http.ResponseWriter, r *http.Request) {
			w.mu.Lock()
			w.asked[r.URL.Path]++
			w.mu.Unlock()
			time.Sleep(50 * time.Millisecond)
			rw.Header().Set("Content-Type", "text/plain")
			rw.Header().Set("Cache-Control", "max-age=3600")
			_, _ = io.WriteString(rw, strings.Repeat("0123456789abcdef", 640)) // it may be gone
		})})
	return w, err
}

// times returns how often the web was asked for a path.
func (w *web) times(path string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.asked[path]
}

// daemon is a running readthru.
type daemon struct {
	*webtest.Daemon
	client *http.Client // through the proxy
}

// serve starts a daemon before a web. database is empty for one that is in no fleet; with one, serve returns when the
// daemon takes part.
func serve(ctx context.Context, s settings, w *web, name, database string) (*daemon, error) {
	dir := filepath.Join(s.dir, name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	var env []string
	if database != "" {
		env = []string{"READTHRU_FLEET_DATABASE=" + database, "READTHRU_FLEET_NODE=" + name}
	}
	started, err := webtest.StartDaemon(ctx, &webtest.DaemonOptions{
		Binary: s.readthru, Home: dir, Web: w.Web, Env: env,
	})
	if err != nil {
		return nil, err
	}
	d := &daemon{Daemon: started}
	if database != "" {
		err = until(ctx, "the daemon takes part in the fleet", func() (bool, error) {
			var is struct{ State string }
			_, err := d.Ask(ctx, "/api/v1/fleet", "", &is)
			return is.State == fleet.Connected, err
		})
	}
	if err != nil {
		d.kill()
		return nil, err
	}
	d.client = &http.Client{Transport: &http.Transport{
		Proxy: http.ProxyURL(&url.URL{Scheme: "http", Host: d.Proxy}), MaxIdleConnsPerHost: 1000, DisableCompression: true,
	}, Timeout: time.Minute}
	return d, nil
}

// get reads a URL through the proxy, and returns what its cache says.
func (d *daemon) get(ctx context.Context, target string) (status string, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, target, http.NoBody)
	if err != nil {
		return "", err
	}
	resp, err := d.client.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return "", err
	}
	if resp.StatusCode != http.StatusOK {
		return "", fmt.Errorf("%s: %s", target, resp.Status)
	}
	return resp.Header.Get("Cache-Status"), nil
}

// repeat sends the same request again and again over connections that stay open.
func (d *daemon) repeat(ctx context.Context, target string, connections, requests int) error {
	var group sync.WaitGroup
	failed := make([]error, connections)
	for i := range connections {
		group.Go(func() { failed[i] = d.repeatOn(ctx, target, requests/connections) })
	}
	group.Wait()
	for _, err := range failed {
		if err != nil {
			return err
		}
	}
	return nil
}

func (d *daemon) repeatOn(ctx context.Context, target string, requests int) error {
	u, err := url.Parse(target)
	if err != nil {
		return err
	}
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", d.Proxy)
	if err != nil {
		return err
	}
	defer conn.Close() //nolint:errcheck // all that it carried was read
	answers := bufio.NewReaderSize(conn, 64<<10)
	for range requests {
		if _, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: bench\r\nAccept: */*\r\n\r\n", target,
			u.Host); err != nil {
			return err
		}
		resp, err := http.ReadResponse(answers, nil)
		if err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		if err != nil {
			return fmt.Errorf("%s: %w", target, err)
		}
		if resp.StatusCode != http.StatusOK {
			return fmt.Errorf("%s: %s", target, resp.Status)
		}
	}
	return nil
}

// cpu returns the processor time of the daemon.
func (d *daemon) cpu() time.Duration {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", d.Cmd.Process.Pid)) // it runs
	_, after, _ := strings.Cut(string(text), ") ")
	var sum time.Duration
	if fields := strings.Fields(after); len(fields) > 12 {
		for _, each := range fields[11:13] { // utime and stime
			ticks, _ := strconv.ParseInt(each, 10, 64) // the kernel writes numbers
			sum += time.Duration(ticks) * time.Second / 100
		}
	}
	return sum
}

// kill ends the daemon without a word.
func (d *daemon) kill() {
	if d.client != nil {
		d.client.CloseIdleConnections()
	}
	d.Kill()
}
