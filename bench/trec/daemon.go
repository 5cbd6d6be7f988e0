package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"
)

// daemon is a readthru with a data directory that goes with it.
type daemon struct {
	binary string
	dir    string
	env    []string
	cmd    *exec.Cmd
	admin  string // host:port
}

// start starts a daemon and waits until it answers.
func start(ctx context.Context, binary string) (_ *daemon, err error) {
	d := &daemon{binary: binary}
	if d.dir, err = os.MkdirTemp("", "readthru-trec-"); err != nil {
		return nil, err
	}
	d.env = append(os.Environ(), "READTHRU_DATA_DIR="+d.dir, "READTHRU_PROXY_LISTEN=127.0.0.1:0",
		"READTHRU_ADMIN_LISTEN=127.0.0.1:0")
	d.cmd = exec.CommandContext(ctx, binary, "serve")
	d.cmd.Env, d.cmd.Stderr = d.env, os.Stderr
	d.cmd.Env = append(d.cmd.Env, "READTHRU_LOG_LEVEL=warn")
	d.cmd.Cancel = func() error { return d.cmd.Process.Signal(os.Interrupt) }
	if err := d.cmd.Start(); err != nil {
		_ = os.RemoveAll(d.dir) // the error that matters is the one before
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	poll := time.NewTicker(50 * time.Millisecond)
	defer poll.Stop()
	for {
		var info struct{ Admin string }
		if b, err := os.ReadFile(filepath.Join(d.dir, "daemon.json")); err == nil && json.Unmarshal(b, &info) == nil {
			d.admin = info.Admin
			if err := d.get(ctx, "/healthz", &struct{}{}); err == nil {
				return d, nil
			}
		}
		select {
		case <-poll.C:
		case <-ctx.Done():
			d.stop()
			return nil, errors.New("the daemon does not answer")
		}
	}
}

// stop ends the daemon and removes its data.
func (d *daemon) stop() {
	_ = d.cmd.Process.Signal(os.Interrupt) // it may have ended
	_ = d.cmd.Wait()                       // however it ended
	_ = os.RemoveAll(d.dir)                // in the folder for temporary files
}

// hit is what is read of a hit. A record's _id stands where a page has its URL.
type hit struct {
	URL   string  `json:"url"`
	Score float64 `json:"score"`
}

func (d *daemon) search(ctx context.Context, kb, text string) ([]hit, error) {
	var res struct {
		Results []hit `json:"results"`
	}
	q := url.Values{"kb": {kb}, "q": {text}, "limit": {strconv.Itoa(depth)}}
	err := d.get(ctx, "/api/v1/search?"+q.Encode(), &res)
	return res.Results, err
}

// get reads the JSON at a path of the admin port.
func (d *daemon) get(ctx context.Context, path string, v any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+d.admin+path, http.NoBody)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", resp.Status, b)
	}
	return json.Unmarshal(b, v)
}
