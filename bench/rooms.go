package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/readthru/readthru/internal/journal"
)

const (
	manyHosts = 1000 // that the list of sites has
	openPages = 50   // of the dashboard, half of them of Now and half of Requests

	steadyRate = 500 // hits a second
)

// rooms measures the dashboard of a daemon that has stored many pages: what each list takes on the server, how large it
// is, and what open pages cost the proxy path, which answers hits in rounds with them and without them.
func rooms(ctx context.Context, s settings) error {
	hosts = manyHosts
	tell(filepath.Join(s.dir, "data", "requests"), s.requests)
	_, p, err := ourselves(ctx, s)
	if err != nil {
		return err
	}
	defer p.process.stop()
	d, err := dashboardOf(s, p)
	if err != nil {
		return err
	}
	defer d.client.CloseIdleConnections()
	size := s.sizes[0]
	if n, err := d.stored(ctx); err != nil {
		return err
	} else if n < s.pages { // else an earlier run has stored them
		if _, err := load(ctx, p.plain, s.conns, limit{requests: int64(s.pages)}, everyPage(htmlKind, size, s)); err != nil {
			return fmt.Errorf("store pages: %w", err)
		}
	}
	site := func(conn, n int) page { return page{conn + n*s.conns, fmt.Sprintf("/%s/%d/0", htmlKind, size)} }
	if _, err := load(ctx, p.plain, s.conns, limit{requests: manyHosts}, site); err != nil {
		return fmt.Errorf("store a page of each host: %w", err)
	}
	if err := rest(ctx, []*peer{p}); err != nil {
		return err
	}
	if err := d.lists(ctx, s, p); err != nil {
		return err
	}
	return d.watched(ctx, s, p)
}

// tell writes requests of many hosts to a folder, as daemons do that ran one after the other, unless one has run there.
func tell(dir string, requests int) {
	if _, err := os.Stat(dir); err == nil || requests == 0 {
		return
	}
	const each = 5000 // which a daemon has in memory
	outcomes := []string{"hit", "hit", "hit", "miss", "miss", "revalidated", "tunnel", "refused", "failed"}
	begin := time.Now().Add(-time.Duration(requests) * time.Second)
	for from := 0; from < requests; from += each {
		j := journal.New(journal.Options{Dir: dir, Last: requests, MaxSize: 1 << 30})
		for i := from; i < min(from+each, requests); i++ {
			e := &journal.Entry{
				Time: begin.Add(time.Duration(i) * time.Second), Door: journal.Doors[i%len(journal.Doors)], Method: "GET",
				URL:    fmt.Sprintf("https://%s/guide/of/the/harbour/%d?page=%d", hostName(i*7919), i%977, i%7),
				Status: 200, Outcome: outcomes[i%len(outcomes)], Why: "A stored response is fresh.", Section: "RFC 9111 §4.2",
				Client: "127.0.0.1", Agent: fmt.Sprint("agent/", i%11), Session: fmt.Sprint("run-", i%97), Type: "text/markdown",
				BytesIn: 48_000, BytesOut: int64(i%97) * 400, Tokens: i % 9001, HTMLTokens: 9001, Micros: int64(i%1999) * 997,
				Asked:    "Accept: text/markdown, */*\nUser-Agent: agent\nAccept-Encoding: gzip, br\n",
				Answered: "Content-Type: text/markdown; charset=utf-8\nCache-Status: readthru; hit; ttl=300\nAge: 120\n",
			}
			e.MS = e.Micros / 1000
			switch e.Outcome {
			case "refused":
				e.Status = 403
			case "failed":
				e.Status = 502
			}
			j.Add(e)
		}
		j.Close()
	}
}

// dashboard is a daemon's, as a browser that is signed in asks for it.
type dashboard struct {
	base, token string
	client      *http.Client
}

func dashboardOf(s settings, p *peer) (*dashboard, error) {
	token, err := os.ReadFile(filepath.Join(s.dir, "data", "token"))
	if err != nil {
		return nil, fmt.Errorf("sign in: %w", err)
	}
	return &dashboard{
		base: "http://" + p.process.admin, token: strings.TrimSpace(string(token)),
		client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 2 * openPages}},
	}, nil
}

// What a browser says a page is for (Sec-Fetch-Dest): to be shown, or for a script of the page that is open.
const (
	byPerson = "document"
	byScript = "empty"
)

func (d *dashboard) ask(ctx context.Context, path, dest string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, d.base+path, http.NoBody)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "text/html")
	req.Header.Set("Sec-Fetch-Dest", dest)
	req.Header.Set("Authorization", "Bearer "+d.token)
	resp, err := d.client.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		_ = resp.Body.Close()
		return nil, fmt.Errorf("GET %s: %s", path, resp.Status)
	}
	return resp, nil
}

// get returns a page of the dashboard.
func (d *dashboard) get(ctx context.Context, path, dest string) ([]byte, error) {
	resp, err := d.ask(ctx, path, dest)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	return io.ReadAll(resp.Body)
}

// stored returns how many pages the daemon has.
func (d *dashboard) stored(ctx context.Context) (int, error) {
	text, err := d.get(ctx, "/api/v1/stats", byScript)
	if err != nil {
		return 0, err
	}
	var stats struct{ Pages struct{ Total int } }
	err = json.Unmarshal(text, &stats)
	return stats.Pages.Total, err
}

var (
	asset = regexp.MustCompile(`(?:href|src)="(/assets/[^"]+)"`)
	older = regexp.MustCompile(`href="(/pages\?[^"]*cursor=[^"]*)"`)
)

// lists measures the pages of the dashboard that list.
func (d *dashboard) lists(ctx context.Context, s settings, p *peer) error {
	fmt.Printf("dashboard, %d pages of %d bytes and more, %d hosts, %d requests; medians of %d rounds\n\n", s.pages,
		s.sizes[0], manyHosts, s.requests, s.rounds*5)
	fmt.Println("| page | ms | slowest ms | CPU ms | bytes | with its files |")
	fmt.Println("|---|---|---|---|---|---|")
	paths := []string{
		"/", "/requests", "/requests?q=status:404", "/requests?q=outcome:failed", "/requests?q=since:1h",
		"/requests?q=since:2d",
		"/requests?q=host:" + hostName(1), "/notes", "/pages", "/pages?q=harbour", "/pages?host=" + hostName(1),
		"/search?q=harbour+water", "/bases", "/sites", "/sites/" + hostName(1), "/left", "/sessions", "/system",
	}
	first, err := d.get(ctx, "/pages", byPerson)
	if err != nil {
		return err
	}
	if m := older.FindSubmatch(first); m != nil {
		paths = slices.Insert(paths, 4, strings.ReplaceAll(string(m[1]), "&amp;", "&"))
	}
	for _, path := range paths {
		var took []float64
		text, err := d.get(ctx, path, byPerson)
		if err != nil {
			fmt.Fprintln(os.Stderr, "left out:", err)
			continue
		}
		files := len(text)
		for _, m := range asset.FindAllSubmatch(text, -1) {
			b, err := d.get(ctx, strings.ReplaceAll(string(m[1]), "&amp;", "&"), byPerson)
			if err != nil {
				return err
			}
			files += len(b)
		}
		before := p.cpu()
		for range s.rounds * 5 {
			begin := time.Now()
			if _, err := d.get(ctx, path, byPerson); err != nil {
				return err
			}
			took = append(took, milliseconds(time.Since(begin)))
		}
		cpu := milliseconds(p.cpu()-before) / float64(len(took))
		middle, _ := median(took)
		fmt.Printf("| `%.48s` | %.1f | %.1f | %.1f | %d | %d |\n", path, middle, slices.Max(took), cpu, len(text), files)
	}
	return nil
}

// watched measures hits with pages of the dashboard open and without them: as fast as they come, and at a steady rate,
// where the difference is what the pages cost.
func (d *dashboard) watched(ctx context.Context, s settings, p *peer) error {
	fast := inTurn(textKind, s.sizes[0], 512)
	steady := func(conn, n int) page {
		time.Sleep(time.Duration(s.conns) * time.Second / steadyRate)
		return fast(conn, n)
	}
	for _, rate := range []struct {
		name  string
		pages workload
	}{{"as many hits as there can be", fast}, {fmt.Sprint(steadyRate, " hits a second"), steady}} {
		var alone, watched []float64 // share of a core
		var less, more row
		for round := range 2*s.rounds + 2 {
			with := round%2 == 1
			stop := func() {}
			if with {
				stop = d.openAll(ctx)
				if err := wait(ctx, 2*time.Second); err != nil { // all have come, and fetch again as requests end
					return err
				}
			}
			before, begin := p.cpu(), time.Now()
			got, err := load(ctx, p.plain, s.conns, limit{length: s.round}, rate.pages)
			used, took := p.cpu()-before, time.Since(begin)
			stop()
			if err != nil {
				return err
			}
			share := 100 * used.Seconds() / took.Seconds()
			switch {
			case round < 2: // fills memory
			case with:
				more.add(got, used)
				watched = append(watched, share)
			default:
				less.add(got, used)
				alone = append(alone, share)
			}
		}
		cost, noise := median(less.cost)
		dearer, _ := median(more.cost)
		slow, _ := median(less.p50)
		slower, _ := median(more.p50)
		a, _ := median(alone)
		b, _ := median(watched)
		fmt.Printf("\n%s: %.1f µs of processor time each (±%.0f %%), p50 %.2f ms, %.1f %% of a core; with %d pages open "+
			"%.1f µs, p50 %.2f ms, %.1f %% of a core\n", rate.name, cost, noise*100, slow, a, openPages, dearer, slower, b)
	}
	return nil
}

// openAll opens pages as tabs do that are all seen: each listens to its events, and fetches its page again when they
// tell of something, a second after the last time at the earliest. Stop closes them.
func (d *dashboard) openAll(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var open sync.WaitGroup
	for i := range openPages {
		path, events := "/", "/api/v1/events?limit=1&work=1"
		if i%2 == 1 {
			path, events = "/requests", "/api/v1/events?limit=1&q="
		}
		open.Go(func() {
			if err := d.open(ctx, path, events); err != nil && ctx.Err() == nil {
				fmt.Fprintln(os.Stderr, "a page of the dashboard:", err)
			}
		})
	}
	return func() {
		cancel()
		open.Wait()
	}
}

// open is one page, until ctx ends.
func (d *dashboard) open(ctx context.Context, path, events string) error {
	resp, err := d.ask(ctx, events, byScript) //nolint:bodyclose // it is closed below
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	told := make(chan struct{}, 1)
	go func() {
		lines := bufio.NewScanner(resp.Body)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			if strings.HasPrefix(lines.Text(), "data:") {
				select {
				case told <- struct{}{}:
				default:
				}
			}
		}
	}()
	for {
		select {
		case <-told:
		case <-ctx.Done():
			return nil
		}
		if _, err := d.get(ctx, path, byScript); err != nil {
			return err
		}
		if wait(ctx, time.Second) != nil {
			return nil
		}
	}
}
