package setup

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	_ "embed" // for the page
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/cmd/readthru/internal/command"
	"github.com/readthru/readthru/cmd/readthru/internal/daemon"
	"github.com/readthru/readthru/cmd/readthru/internal/settings"
	"github.com/readthru/readthru/cmd/readthru/internal/terminal"
	"github.com/readthru/readthru/cmd/readthru/internal/wiring"
	"github.com/readthru/readthru/convert"
)

//go:embed demo.html
var demoPage string

// demoCommand is the command demo: the program against an origin on this machine, without a network.
func (p *program) demoCommand() *cli.Command {
	return &cli.Command{
		Name:  "demo",
		Usage: "show in a minute, without the internet, what readthru does",
		Description: "An origin on this machine has a page. A daemon with a data directory of its own reads it as an agent " +
			"would. In a terminal both stay until you press Enter, for a look at the dashboard. Nothing is left, " +
			"and your own daemon, data and configuration are not touched.",
		Action: func(c *cli.Context) error {
			if err := command.NoArgs(c.Args().Slice()); err != nil {
				return err
			}
			return p.demo(c.Context)
		},
	}
}

// demo runs a daemon and an origin in this process.
func (p *program) demo(ctx context.Context) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("demo: %w", err)
		}
	}()
	dir, err := os.MkdirTemp("", "readthru-demo-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	var asked atomic.Int32
	origin, err := startProbeOrigin(ctx, dir, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/tides" {
			http.NotFound(w, r)
			return
		}
		asked.Add(1)
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Cache-Control", "max-age=3600")
		_, _ = io.WriteString(w, demoPage) // a client that has left gets none
	}))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, origin.Close()) }()
	s := &settings.Settings{Config: settings.Defaults(), DataDir: dir, Source: map[string]string{}}
	s.Proxy.Listen, s.Admin.Listen, s.MarkdownNew.Mode = "127.0.0.1:0", "127.0.0.1:0", "off"
	s.Upstream.Resolve, s.Upstream.CAFile = []string{probeHost + ":443=" + origin.address}, origin.caFile
	d, err := wiring.OpenDaemon(ctx, s, false, nil, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	running, stop := context.WithCancel(ctx)
	answers, ended := make(chan struct{}), make(chan error, 1)
	d.Found = func() { close(answers) }
	go func() { ended <- d.Run(running) }()
	defer func() {
		stop()
		err = errors.Join(err, <-ended)
	}()
	select {
	case <-answers:
	case err := <-ended:
		ended <- nil
		return err
	}
	return p.showDemo(ctx, d, &asked)
}

// showDemo reads the page twice, finds it, and shows where the dashboard is.
func (p *program) showDemo(ctx context.Context, d *wiring.Daemon, asked *atomic.Int32) error {
	const address = "https://" + probeHost + "/tides"
	if err := p.printf("1. A page of HTML at %s, an origin on this machine:\n   %d bytes, %d tokens. What an agent reads "+
		"through the proxy, by curl:\n\n", address, len(demoPage), convert.Tokens(demoPage)); err != nil {
		return err
	}
	client, err := throughProxy(d.Info.Proxy, d.Authority.PEM())
	if err != nil {
		return err
	}
	defer client.CloseIdleConnections()
	text, _, err := readAsAgent(ctx, client, address)
	if err != nil {
		return err
	}
	for line := range strings.Lines(text) {
		if err := p.Print("     | " + terminal.Printable(line)); err != nil {
			return err
		}
	}
	_, status, err := readAsAgent(ctx, client, address)
	if err != nil {
		return err
	}
	err = p.printf("\n   %d tokens of markdown.\n\n"+
		"2. The same page again:  Cache-Status: %s\n   The origin was asked %s.\n\n",
		convert.Tokens(text), status, terminal.Count(int(asked.Load()), "time"))
	if err != nil {
		return err
	}
	own := d.Server.Client(daemon.UserAgent)
	const query = "spring tide moon"
	hit, err := findSoon(ctx, own, query)
	if err != nil {
		return err
	}
	if err := p.printf("3. readthru search %q finds it:\n\n     %s, %s\n     %s\n\n", query,
		terminal.Printable(hit.title), hit.url,
		terminal.Printable(strings.Join(strings.Fields(hit.snippet), " "))); err != nil {
		return err
	}
	if terminal.Is(p.In) { // else the demo ends now, and with it the dashboard
		link, err := own.SigninLink(ctx, "/")
		if err != nil {
			return err
		}
		if err := p.printf("4. The dashboard, for a browser within a minute:\n\n     http://%s%s\n\n", d.Info.Admin,
			link.Path); err != nil {
			return err
		}
		p.Note("press Enter to end the demo")
		enter := make(chan struct{})
		go func() { // ends with the process, if nobody presses it
			_, _ = bufio.NewReader(p.In).ReadString('\n') // the end of the input ends the demo, too
			close(enter)
		}()
		select {
		case <-enter:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return p.Print("Nothing of this is left. \"readthru setup\" sets up this machine.\n")
}

type demoHit struct{ title, url, snippet string }

// findSoon searches until the page is in the index, which takes a moment after it was read.
func findSoon(ctx context.Context, client *api.Client, query string) (hit demoHit, err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	poll := time.NewTicker(50 * time.Millisecond)
	defer poll.Stop()
	for {
		found, err := client.Search(ctx, api.SearchQuery{Text: query})
		if err != nil {
			return hit, err
		}
		if len(found.Hits) > 0 {
			h := found.Hits[0]
			return demoHit{h.Title, h.URL, h.Snippet}, nil
		}
		select {
		case <-ctx.Done():
			return hit, fmt.Errorf("search: %w", ctx.Err())
		case <-poll.C:
		}
	}
}

// throughProxy returns a client that uses a proxy and trusts its authority.
func throughProxy(proxy string, authority []byte) (*http.Client, error) {
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(authority) {
		return nil, errors.New("the authority's certificate cannot be read")
	}
	return &http.Client{Transport: &http.Transport{
		Proxy:           http.ProxyURL(&url.URL{Scheme: "http", Host: proxy}),
		TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
	}}, nil
}

// readAsAgent reads a page as curl does, and returns its text and what the cache did.
func readAsAgent(ctx context.Context, client *http.Client, address string) (text, status string, err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return "", "", err
	}
	req.Header.Set("Accept", "*/*")
	req.Header.Set("User-Agent", daemon.UserAgent)
	resp, err := client.Do(req)
	if err != nil {
		return "", "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return "", "", err
	}
	if resp.StatusCode != http.StatusOK || !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/markdown") {
		return "", "", fmt.Errorf("read %s: status %d, %s instead of markdown", address, resp.StatusCode,
			resp.Header.Get("Content-Type"))
	}
	return string(body), resp.Header.Get("Cache-Status"), nil
}

func (p *program) printf(format string, args ...any) error {
	return p.Print(fmt.Sprintf(format, args...))
}
