package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/readthru/readthru/bench/ways/inside"
)

// way is what one request ran through.
type way struct {
	name      string
	functions []string // distinct own functions that ran until the answer, with the path of their package, sorted
	after     []string // these and what ran afterwards
	visits    []inside.Visit
}

// packages returns the names of the functions by package.
func (w way) packages() map[string][]string {
	list := map[string][]string{}
	for _, f := range w.functions {
		dir, name, _ := strings.Cut(f, " ")
		list[dir] = append(list[dir], name)
	}
	return list
}

// door returns how often the way reached a door, the deepest stack there and over how many goroutines that goes.
func (w way) door(name string) (calls int, deepest []string, turns int) {
	for _, v := range w.visits {
		if v.Door != name {
			continue
		}
		if calls++; len(v.Own) > len(deepest) {
			deepest, turns = v.Own, v.Turns
		}
	}
	return calls, deepest, turns
}

// measure builds the program of the tree at root and runs every way. Without counting it notes stacks alone, which
// takes a third of the time.
func measure(ctx context.Context, root string, counting bool) (ways []way, err error) {
	dir, err := os.MkdirTemp("", "readthru-ways-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // what is left is in the system's temporary folder
	if root, err = filepath.Abs(root); err != nil {
		return nil, err
	}
	program, err := build(ctx, root, dir, counting)
	if err != nil {
		return nil, err
	}
	site := httptest.NewServer(http.HandlerFunc(serveSite))
	defer site.Close()
	m, err := start(ctx, program, dir, site.Listener.Addr().String())
	if err != nil {
		return nil, err
	}
	defer m.stop()
	type request struct {
		name string
		make func(ctx context.Context, n int) error
	}
	requests := []request{
		{"page", func(ctx context.Context, n int) error { return m.page(ctx, fmt.Sprintf("/page/%d", n), "") }},
		{"hit", func(ctx context.Context, n int) error { return m.page(ctx, "/page/0", fmt.Sprint("agent/", n)) }},
		{"again", func(ctx context.Context, _ int) error { return m.page(ctx, "/page/0", "") }},
		{"search", func(ctx context.Context, _ int) error {
			return m.admin(ctx, http.MethodGet, "/api/v1/search?q=stored+response", nil, nil)
		}},
		{"hook", func(ctx context.Context, _ int) error {
			return m.admin(ctx, http.MethodPost, "/api/v1/hooks/claude", map[string]any{
				"session_id": "s", "hook_event_name": "PreToolUse", "tool_name": "WebFetch",
				"tool_input": map[string]string{"url": origin + "/page/0", "prompt": "What?"},
			}, nil)
		}},
		{"crawl", m.crawl},
	}
	if _, err := exec.LookPath("chromium"); err == nil {
		requests = append(requests, request{"script", func(ctx context.Context, n int) error {
			return m.page(ctx, fmt.Sprintf("/script/%d", n), "")
		}})
	}
	for _, request := range requests {
		follow := m.stacks
		if counting {
			follow = m.follow
		}
		w, err := follow(ctx, request.make)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", request.name, err)
		}
		w.name = request.name
		ways = append(ways, w)
	}
	return ways, nil
}

// runs is how often a way is run: the first time to warm up, then for the figures.
const runs = 6

// follow makes a request and gathers what it ran through. Whether a flush of visits or the last functions of a request
// run before or after the client has the answer is a matter of luck, so that the run with the fewest functions counts.
func (m *measured) follow(ctx context.Context, request func(ctx context.Context, n int) error) (w way, err error) {
	for n := range runs {
		if err := m.probe(ctx, "/clear?counters=1", nil); err != nil {
			return way{}, err
		}
		if err := request(ctx, n); err != nil {
			return way{}, err
		}
		functions, err := m.functions(ctx)
		if err != nil {
			return way{}, err
		}
		after, err := m.settled(ctx)
		if err != nil {
			return way{}, err
		}
		if n == 0 {
			continue
		}
		if n == 1 || len(functions) < len(w.functions) {
			w.functions = functions
		}
		if len(after) > len(w.after) {
			w.after = after
		}
	}
	return w, m.probe(ctx, "/visits", &w.visits)
}

// stacks makes a request twice and gathers the stacks at its doors, the second time.
func (m *measured) stacks(ctx context.Context, request func(ctx context.Context, n int) error) (w way, err error) {
	for n := range 2 {
		if err := m.probe(ctx, "/clear", nil); err != nil {
			return way{}, err
		}
		if err := request(ctx, n); err != nil {
			return way{}, err
		}
		for before := -1; len(w.visits) != before; { // until nothing follows the answer
			before = len(w.visits)
			time.Sleep(100 * time.Millisecond)
			if err := m.probe(ctx, "/visits", &w.visits); err != nil {
				return way{}, err
			}
		}
	}
	return w, nil
}

// origin is where the site is for the measured program.
const origin = "http://ways.test"

// serveSite answers /page/N with an article of its own, /script/N with a page whose script makes that article, and
// /site/N/ with one that links to four more.
func serveSite(w http.ResponseWriter, r *http.Request) {
	kind, n, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	text := article(r.URL.Path)
	switch {
	case kind == "script":
		text = fmt.Sprintf("<div id=root></div><script>document.getElementById('root').innerHTML = %q</script>", text)
	case kind == "site" && strings.HasSuffix(n, "/"):
		for n := range 4 {
			text += fmt.Sprintf("<p><a href=\"%d\">Next %d</a></p>", n, n)
		}
	case kind != "page" && kind != "site":
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "max-age=3600")
	io.WriteString(w, fmt.Sprintf("<!DOCTYPE html><html lang=en><head><title>Caches %s</title></head><body>"+
		"<nav><a href=/>Home</a></nav>%s</body></html>", r.URL.Path, text))
}

func article(about string) string {
	var text strings.Builder
	fmt.Fprintf(&text, "<main><h1>Caches %s</h1>", about)
	for n := range 12 {
		fmt.Fprintf(&text, "<h2>Part %d</h2><p>A cache keeps a stored response of %s for a while and answers from it, %d "+
			"times. When its lifetime is over it asks the origin whether the stored response still holds.</p>"+
			"<ul><li>fresh</li><li><a href=\"/page/x%d\">stale</a></li></ul><pre><code>max-age=%d</code></pre>",
			n, about, n, n, n)
	}
	return text.String() + "</main>"
}

// measured is the program under measurement.
type measured struct {
	cmd                *exec.Cmd
	dir, probeAt, host string
	dumps              int
	proxied            *http.Client
}

// start runs the daemon with an empty data folder, and waits until it answers.
func start(ctx context.Context, program, dir, site string) (*measured, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	m := &measured{dir: dir, probeAt: l.Addr().String()}
	if err := l.Close(); err != nil {
		return nil, err
	}
	m.cmd = exec.CommandContext(ctx, program, "serve", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0")
	m.cmd.Env = []string{
		"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "READTHRU_DATA_DIR=" + filepath.Join(dir, "data"),
		"READTHRU_MARKDOWN_NEW_MODE=off", "READTHRU_CRAWL_INTERVAL=0s",
		"READTHRU_FETCH_ALLOW_PRIVATE=true", "READTHRU_UPSTREAM_RESOLVE=*:80=" + site,
		"GODEBUG=tracebackancestors=10", inside.Variable + "=" + m.probeAt, "GOCOVERDIR=" + dir,
	}
	var said bytes.Buffer
	m.cmd.Stdout, m.cmd.Stderr = &said, &said
	if err := m.cmd.Start(); err != nil {
		return nil, err
	}
	for range 1000 {
		var where struct{ Proxy, Admin string }
		text, err := os.ReadFile(filepath.Join(dir, "data", "daemon.json"))
		if err == nil && json.Unmarshal(text, &where) == nil {
			m.host = where.Admin
			m.proxied = &http.Client{Transport: &http.Transport{
				Proxy: http.ProxyURL(&url.URL{Scheme: "http", Host: where.Proxy}),
			}}
			return m, nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	m.stop()
	return nil, fmt.Errorf("the daemon did not start:\n%s", said.Bytes())
}

func (m *measured) stop() {
	m.cmd.Process.Signal(syscall.SIGTERM) //nolint:errcheck // it has ended already
	m.cmd.Wait()                          //nolint:errcheck // how it ends says nothing about the ways
}

// page reads a page of the site through the proxy, as an agent does. A request by an agent of its own equals no other.
func (m *measured) page(ctx context.Context, at, agent string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, origin+at, http.NoBody)
	if err != nil {
		return err
	}
	req.Header.Set("Accept", "*/*")
	if agent != "" {
		req.Header.Set("User-Agent", agent)
	}
	resp, err := m.proxied.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err == nil && (resp.StatusCode != http.StatusOK || !bytes.Contains(text, []byte("## Part 11"))) {
		err = fmt.Errorf("%s: %s: not the page in markdown:\n%s", at, resp.Status, text)
	}
	return err
}

// admin asks the daemon's admin port and decodes the answer into v, when that is not nil.
func (m *measured) admin(ctx context.Context, method, at string, body, v any) error {
	return ask(ctx, method, "http://"+m.host+at, body, v)
}

// probe asks package inside, inside the measured program.
func (m *measured) probe(ctx context.Context, at string, v any) error {
	return ask(ctx, http.MethodGet, "http://"+m.probeAt+at, nil, v)
}

func ask(ctx context.Context, method, target string, body, v any) error {
	var content io.Reader = http.NoBody
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return err
		}
		content = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, method, target, content)
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	switch {
	case err != nil:
		return err
	case resp.StatusCode >= http.StatusBadRequest:
		return fmt.Errorf("%s %s: %s: %s", method, target, resp.Status, text)
	case v != nil:
		return json.Unmarshal(text, v)
	}
	return nil
}

// crawl has a base of five pages filled and waits for it.
func (m *measured) crawl(ctx context.Context, n int) error {
	var f struct{ Job struct{ ID string } }
	err := m.admin(ctx, http.MethodPost, "/api/v1/kbs", map[string]any{
		"name": fmt.Sprintf("site-%d", n), "crawl": fmt.Sprintf("%s/site/%d/", origin, n), "limit": 5,
	}, &f)
	if err != nil {
		return err
	}
	for {
		var job struct {
			State, Error string
			Documents    int
		}
		if err := m.admin(ctx, http.MethodGet, "/api/v1/jobs/"+f.Job.ID, nil, &job); err != nil {
			return err
		}
		switch job.State {
		case "done":
			if job.Documents != 5 {
				return fmt.Errorf("%d pages crawled, not 5", job.Documents)
			}
			return nil
		case "failed", "cancelled":
			return fmt.Errorf("the job %s: %s", job.State, job.Error)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// settled waits until no more functions run than before, and returns those that ran since the counters were cleared.
func (m *measured) settled(ctx context.Context) (functions []string, err error) {
	for quiet := 0; quiet < 2; quiet++ {
		time.Sleep(150 * time.Millisecond)
		before := len(functions)
		if functions, err = m.functions(ctx); err != nil {
			return nil, err
		}
		if len(functions) != before {
			quiet = 0
		}
	}
	return functions, nil
}

// functions returns the own functions that have run since the counters were cleared.
func (m *measured) functions(ctx context.Context) (list []string, err error) {
	m.dumps++
	dir := filepath.Join(m.dir, fmt.Sprintf("counters-%d", m.dumps))
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	if err := m.probe(ctx, "/counters?dir="+url.QueryEscape(dir), nil); err != nil {
		return nil, err
	}
	out, err := exec.CommandContext(ctx, "go", "tool", "covdata", "func", "-i="+dir).Output()
	if err != nil {
		return nil, fmt.Errorf("go tool covdata: %w", err)
	}
	for line := range strings.Lines(string(out)) { // github.com/readthru/readthru/cache/cache.go:12:  New  100.0%
		file, rest, _ := strings.Cut(line, ":")
		fields := strings.Fields(rest)
		if len(fields) == 3 && fields[2] != "0.0%" {
			list = append(list, strings.TrimPrefix(path.Dir(file), "github.com/readthru/readthru/")+" "+fields[1])
		}
	}
	slices.Sort(list)
	return list, nil
}
