package e2e_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/readthru/readthru/internal/eventually"
	"github.com/readthru/readthru/internal/fleet/fleettest"
	"github.com/readthru/readthru/internal/needs"
	"github.com/readthru/readthru/internal/webtest"
	"github.com/readthru/readthru/page"
)

// corpusPages returns pages by URL: up to 600 of the corpus that READTHRU_CORPUS names, or 60 of our own.
func corpusPages(t *testing.T) map[string][]byte {
	t.Helper()
	pages := map[string][]byte{}
	dir := os.Getenv("READTHRU_CORPUS")
	if dir == "" {
		for i := range 60 {
			pages[fmt.Sprintf("https://host%d.test/page/%d", i%7, i)] = fmt.Appendf(nil, `<html><head><title>Page %d</title>
				</head><body><main><h1>Page %d</h1><p>%s</p></main></body></html>`, i, i,
				strings.Repeat("This page tells of one thing at some length. ", 20+i)+digits(i))
		}
		return pages
	}
	manifest, err := os.ReadFile(filepath.Join(dir, "manifest.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(bytes.NewReader(manifest))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() && len(pages) < 600 {
		var p struct{ URL, HTML string }
		if err := json.Unmarshal(lines.Bytes(), &p); err != nil {
			t.Fatal(err)
		}
		u, err := url.Parse(p.URL)
		if err != nil || u.Scheme != "https" || u.Port() != "" || u.Fragment != "" || u.Path == "" ||
			u.Host != strings.ToLower(u.Host) || page.Unlisted(u) || strings.ContainsAny(p.URL, " []{}\\\"") {
			continue // a client would write it otherwise, or it is not told to other nodes
		}
		packed, err := os.ReadFile(filepath.Join(dir, p.HTML))
		if err != nil {
			t.Fatal(err)
		}
		z, err := gzip.NewReader(bytes.NewReader(packed))
		if err != nil {
			t.Fatal(err)
		}
		if pages[p.URL], err = io.ReadAll(z); err != nil {
			t.Fatal(err)
		}
	}
	return pages
}

// digits returns text that compression makes hardly smaller, for each tenth page.
func digits(i int) string {
	if i%10 != 0 {
		return ""
	}
	text := make([]byte, 30<<10)
	_, _ = rand.NewChaCha8([32]byte{byte(i)}).Read(text) // it never fails
	return fmt.Sprintf("%x", text)
}

// balance starts HAProxy before the proxies of daemons, and returns its address.
func balance(t *testing.T, daemons ...*daemon) string {
	t.Helper()
	program, err := exec.LookPath("haproxy")
	if err != nil {
		needs.Missing(t, "HAProxy is not installed: .ci/clients installs it")
	}
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // HAProxy has its own
	socket, err := l.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close() //nolint:errcheck // the same
	config := "defaults\n mode tcp\n timeout connect 5s\n timeout client 60s\n timeout server 60s\n" +
		"listen nodes\n bind fd@3\n balance roundrobin\n"
	for i, d := range daemons {
		config += fmt.Sprintf(" server node%d %s\n", i, d.proxy)
	}
	file := filepath.Join(t.TempDir(), "haproxy.cfg")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, "-db", "-f", file)
	cmd.ExtraFiles = []*os.File{socket}
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	webtest.EndWithTests(cmd)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("HAProxy: %s", said.String())
		}
	})
	return l.Addr().String()
}

// readAll is a client in Python that reads URLs of its standard input, eight at once.
const readAll = `
import concurrent.futures, sys, urllib.request
def read(url):
    req = urllib.request.Request(url, headers={"Accept": "text/markdown"})
    with urllib.request.urlopen(req, timeout=60) as resp:
        assert resp.status == 200 and resp.headers["Content-Type"].startswith("text/markdown"), url
        return len(resp.read())
with concurrent.futures.ThreadPoolExecutor(8) as pool:
    print(sum(size > 0 for size in pool.map(read, sys.stdin.read().split())))
`

// TestAFleetReadsACorpusThroughABalancer has curl and Python read the same pages at the same time from three nodes, by
// whichever HAProxy chooses. Each page is asked of its origin once, and all nodes have all pages soon after.
func TestAFleetReadsACorpusThroughABalancer(t *testing.T) {
	pages := corpusPages(t)
	var mu sync.Mutex
	asked := map[string]int{}
	w := newWeb(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		address := "https://" + r.Host + r.URL.RequestURI()
		mu.Lock()
		asked[address]++
		mu.Unlock()
		content, ok := pages[address]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(content)
	}))
	server, bucket := fleettest.Start(t), fleettest.StartBucket(t)
	var nodes []*daemon
	var authorities []byte
	for _, name := range []string{"a", "b", "c"} {
		dir := t.TempDir()
		file := filepath.Join(dir, ".config", "readthru", "config.yaml")
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		config := fmt.Sprintf("fleet: {database: %q, bodies: %q, node: %s, wait: %s}\nblocked_domains: []\n"+
			"fetch: {cascade: [local]}\n", server.URL, bucket.URL, name, fleetWait)
		if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
			t.Fatal(err)
		}
		d := serveIn(t, w, dir)
		nodes = append(nodes, d)
		authority, err := os.ReadFile(filepath.Join(dir, "data", "ca", "ca.pem"))
		if err != nil {
			t.Fatal(err)
		}
		authorities = append(authorities, authority...)
		eventually.True(t, "the node has joined", func() bool {
			var s struct{ State string }
			d.ask(http.MethodGet, "/api/v1/fleet", "", &s)
			return s.State == "ok"
		})
	}
	roots := filepath.Join(t.TempDir(), "roots.pem")
	if err := os.WriteFile(roots, authorities, 0o600); err != nil {
		t.Fatal(err)
	}
	proxy := "http://" + balance(t, nodes...)
	env := append(os.Environ(), "HTTPS_PROXY="+proxy, "https_proxy="+proxy, "NO_PROXY=", "no_proxy=",
		"SSL_CERT_FILE="+roots, "CURL_CA_BUNDLE="+roots)
	urls := slices.Collect(maps.Keys(pages))
	began := time.Now()
	var group sync.WaitGroup
	run := func(input string, check func(out string) bool, name string, args ...string) {
		group.Go(func() {
			cmd := exec.CommandContext(t.Context(), name, args...)
			cmd.Env, cmd.Stdin = env, strings.NewReader(input)
			var said bytes.Buffer
			cmd.Stderr = &said
			out, err := cmd.Output()
			if err != nil || !check(string(out)) {
				t.Errorf("%s: %v\n%.300s\n%.2000s", name, err, out, said.String())
			}
		})
	}
	for some := range slices.Chunk(urls, (len(urls)+7)/8) {
		transfers := ""
		for _, address := range some {
			transfers += fmt.Sprintf("url = %q\noutput = /dev/null\n", address)
		}
		run(transfers, func(out string) bool { return strings.Count(out, "200 text/markdown") == len(some) },
			"curl", "-sS", "--globoff", "-H", "Accept: text/markdown", "-w", "%{http_code} %{content_type}\n", "-K", "-")
	}
	run(strings.Join(urls, "\n"), func(out string) bool { return strings.TrimSpace(out) == strconv.Itoa(len(urls)) },
		"python3", "-c", readAll)
	group.Wait()
	took := time.Since(began)
	more := 0
	for address := range pages {
		mu.Lock()
		if n := asked[address]; n != 1 {
			if more++; more < 10 {
				t.Errorf("%s was asked of its origin %d times", address, n)
			}
		}
		mu.Unlock()
	}
	began = time.Now()
	visits, reused, waited, put, got := int64(0), int64(0), int64(0), int64(0), int64(0)
	for _, d := range nodes {
		eventually.True(t, "a node has all pages", func() bool { return d.stats().Pages.Total >= int64(len(pages)) })
		var s struct {
			Reused, Waited, Late, Refused int64
			Bodies                        struct{ Put, Got, Lost int64 }
		}
		d.ask(http.MethodGet, "/api/v1/fleet", "", &s)
		reused, waited, put, got = reused+s.Reused, waited+s.Waited, put+s.Bodies.Put, got+s.Bodies.Got
		if s.Refused != 0 || s.Bodies.Lost != 0 {
			t.Errorf("a node refused %d rows, and missed %d contents", s.Refused, s.Bodies.Lost)
		}
		visits += d.stats().Pages.Visits
	}
	if visits != int64(2*len(pages)) {
		t.Errorf("%d visits of %d", visits, 2*len(pages))
	}
	if put == 0 || got == 0 || len(bucket.Objects()) == 0 {
		t.Errorf("%d contents were put into the object store, %d got; it has %d", put, got, len(bucket.Objects()))
	}
	t.Logf("%d pages, twice, in %s; all nodes have them %s later; %d responses of other nodes, %d waits for another, "+
		"%d contents put into the object store, %d got", len(pages), took.Round(time.Millisecond),
		time.Since(began).Round(time.Millisecond), reused, waited, put, got)
}
