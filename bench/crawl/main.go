// Command crawl measures how a crawl spends its requests, beside wget -r, and what it makes of a site that changes.
//
//	make build && go run -C bench ./crawl -docs FOLDER [-only trees|traps|changes|kills]
//
// The docs are where Debian 12 installs the packages of trees: /usr/share/doc. They are served on loopback, each on a
// host of its own.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"github.com/readthru/readthru/internal/webtest"
)

// trees are folders of documentation by the packages that they are of.
var trees = []struct{ name, folder string }{
	{"python3.11-doc", "python3.11/html"},
	{"postgresql-doc-15", "postgresql-doc-15/html"},
	{"git-doc", "git-doc"},
	{"sqlite3-doc", "sqlite3"},
	{"nodejs-doc", "nodejs/api"},
	{"python-django-doc", "python-django-doc/html"},
	{"python-sqlalchemy-doc", "python-sqlalchemy-doc/html"},
	{"libxml2-doc", "libxml2-doc"},
	{"python-pytest-doc", "python-pytest-doc/html"},
	{"python-werkzeug-doc", "python-werkzeug-doc/html"},
	{"borgbackup-doc", "borgbackup-doc/html"},
	{"sphinx-doc", "sphinx-doc/html"},
}

func main() {
	docs := flag.String("docs", "/usr/share/doc", "`folder` of Debian's documentation")
	binary := flag.String("readthru", "../bin/readthru", "the `program`")
	only := flag.String("only", "", "`part` to measure: trees, traps, changes or kills; empty: all")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, *docs, *binary, *only)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "crawl:", err)
		os.Exit(1)
	}
}

// bench is what the measurements share.
type bench struct {
	binary string
	dir    string // scratch folder
	web    *web
	served *webtest.Web
}

func run(ctx context.Context, docs, binary, only string) (err error) {
	b := &bench{binary: binary, web: &web{folders: map[string]http.Handler{}}}
	b.web.reset()
	for _, t := range trees {
		root := filepath.Join(docs, t.folder)
		if _, err := os.Stat(filepath.Join(root, "index.html")); err != nil {
			return fmt.Errorf("%w; install %s of Debian 12", err, t.name)
		}
		b.web.folders[hostOf(t.name)] = http.FileServer(http.Dir(root))
	}
	if b.dir, err = os.MkdirTemp("", "readthru-bench-crawl-"); err != nil {
		return err
	}
	defer os.RemoveAll(b.dir) //nolint:errcheck // what is left is in the system's temporary folder
	authority, err := webtest.NewAuthority()
	if err != nil {
		return err
	}
	if b.served, err = webtest.Serve(ctx, webtest.Config{Handler: b.web, Certificate: authority.LeafFor}); err != nil {
		return err
	}
	defer b.served.Close()
	for _, part := range []struct {
		name string
		run  func(context.Context) error
	}{{"trees", b.trees}, {"traps", b.traps}, {"changes", b.changes}, {"kills", b.kills}} {
		if only == "" || only == part.name {
			if err := part.run(ctx); err != nil {
				return fmt.Errorf("%s: %w", part.name, err)
			}
		}
	}
	return nil
}

func hostOf(name string) string { return name + ".test" }

// daemon starts a daemon with a data directory of its own, or with that of an earlier one.
func (b *bench) daemon(ctx context.Context, name string) (*webtest.Daemon, error) {
	home := filepath.Join(b.dir, name)
	if err := os.MkdirAll(home, 0o700); err != nil {
		return nil, err
	}
	return webtest.StartDaemon(ctx, &webtest.DaemonOptions{
		Binary: b.binary, Home: home, Web: b.served, Env: []string{"READTHRU_CRAWL_INTERVAL=1ms"},
	})
}

// wget reads all that is linked from a host's front page. Its error is none: it is one for a link that is broken.
func (b *bench) wget(ctx context.Context, host string, more ...string) (took time.Duration, err error) {
	dir := filepath.Join(b.dir, "wget-"+host)
	args := append([]string{
		"-q", "-r", "-l", "inf", "-P", dir, "-e", "use_proxy=yes", "-e", "http_proxy=" + b.served.HTTP,
	}, more...)
	cmd := exec.CommandContext(ctx, "wget", append(args, "http://"+host+"/")...)
	began := time.Now()
	err = cmd.Run()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok && failed.ExitCode() == 8 { // the server said 404
		err = nil
	}
	return time.Since(began), err
}

// job is what is read of a job.
type job struct {
	ID       string
	State    string
	Error    string
	Outcomes map[string]int
	Remarks  []string
}

// wait waits until a job is done.
func (j *job) wait(ctx context.Context, d *webtest.Daemon) error {
	for {
		if _, err := d.Ask(ctx, "/api/v1/jobs/"+j.ID, "", j); err != nil {
			return err
		}
		switch j.State {
		case "done":
			return nil
		case "failed", "cancelled":
			return fmt.Errorf("job %s: %s: %s", j.ID, j.State, j.Error)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// begin starts to fill a base from a host.
func begin(ctx context.Context, d *webtest.Daemon, host string, limit int) (*job, error) {
	ask, err := json.Marshal(map[string]any{"name": nameOf(host), "crawl": "http://" + host + "/", "limit": limit})
	if err != nil {
		return nil, err
	}
	var filling struct{ Job job }
	_, err = d.Ask(ctx, "/api/v1/kbs", string(ask), &filling)
	return &filling.Job, err
}

// crawl fills a base from a host.
func crawl(ctx context.Context, d *webtest.Daemon, host string, limit int) (*job, error) {
	j, err := begin(ctx, d, host, limit)
	if err != nil {
		return nil, err
	}
	return j, j.wait(ctx, d)
}

func nameOf(host string) string { return strings.TrimSuffix(host, ".test") }

// documents returns the URLs of a base.
func documents(ctx context.Context, d *webtest.Daemon, host string) (map[string]bool, error) {
	all := map[string]bool{}
	for cursor := ""; ; {
		var list struct {
			Documents []struct{ URL string }
			Next      string
		}
		at := fmt.Sprintf("/api/v1/kbs/%s/documents?limit=500&cursor=%s", nameOf(host), url.QueryEscape(cursor))
		if _, err := d.Ask(ctx, at, "", &list); err != nil {
			return nil, err
		}
		for _, doc := range list.Documents {
			all[doc.URL] = true
		}
		if cursor = list.Next; cursor == "" {
			return all, nil
		}
	}
}

// trees compares the pages and the requests of crawls with those of wget.
func (b *bench) trees(ctx context.Context) error {
	fmt.Printf("%-22s %6s %6s %9s %9s %9s %9s %7s %7s\n", "tree", "pages", "wget's", "not read", "more", "requests",
		"wget's", "s", "wget's")
	d, err := b.daemon(ctx, "trees")
	if err != nil {
		return err
	}
	defer d.Kill()
	for _, t := range trees {
		host := hostOf(t.name)
		b.web.reset()
		its, err := b.wget(ctx, host)
		if err != nil {
			return err
		}
		theirs, theirRequests := b.web.read(), b.web.requests()
		b.web.reset()
		began := time.Now()
		job, err := crawl(ctx, d, host, 5000)
		if err != nil {
			return err
		}
		took, ours := time.Since(began), b.web.read()
		missing, more := minus(theirs, ours), minus(ours, theirs)
		fmt.Printf("%-22s %6d %6d %9d %9d %9d %9d %7.1f %7.1f %s %s %s\n", t.name, len(ours), len(theirs), len(missing),
			len(more), b.web.requests(), theirRequests, took.Seconds(), its.Seconds(), strings.Join(job.Remarks, "; "),
			few(missing), few(more))
	}
	return nil
}

// traps crawls the site with traps.
func (b *bench) traps(ctx context.Context) error {
	for _, limit := range []int{250, 1000} {
		d, err := b.daemon(ctx, fmt.Sprintf("traps-%d", limit))
		if err != nil {
			return err
		}
		b.web.reset()
		job, err := crawl(ctx, d, trapHost, limit)
		d.Kill()
		if err != nil {
			return err
		}
		read := b.web.read()
		said := 0
		for p := range read {
			if strings.HasPrefix(p, "/page/") {
				said++
			}
		}
		fmt.Printf("traps, limit %d: %d requests, %d of %d pages that say something\n", limit, b.web.requests(), said,
			trapPages)
		for _, remark := range job.Remarks {
			fmt.Println("  " + remark)
		}
	}
	b.web.reset()
	limited, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if _, err := b.wget(limited, trapHost); err != nil && limited.Err() == nil {
		return err
	}
	fmt.Printf("traps, wget ended after 10 s: %d requests\n", b.web.requests())
	return nil
}

// minus returns what one set has and another one has not.
func minus(a, b map[string]bool) (list []string) {
	for p := range a {
		if !b[p] {
			list = append(list, p)
		}
	}
	return list
}

// few returns the first of a list.
func few(list []string) string { return fmt.Sprint(list[:min(len(list), 4)]) }
