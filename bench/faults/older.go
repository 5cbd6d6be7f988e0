package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
)

// older runs an older program on the store of this one, and then this one again. The older one works, or refuses the
// store in a clear line; nothing is damaged, and what this one stored is there.
func older(ctx context.Context, s settings) (string, error) {
	if s.older == "" {
		return "not tried: -older names no program", nil
	}
	const pages = 40
	var asked atomic.Int64
	w, err := newWeb(ctx, s.dir, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Cache-Control", "max-age=3600")
		io.WriteString(w, article(r.URL.Path, 0, 20))
	}), nil)
	if err != nil {
		return "", err
	}
	defer w.Close()
	// read runs a program, reads pages with it, and says how many visits of pages below a path it tells.
	read := func(program, dir, visited string) (visits int, err error) {
		s := s
		s.readthru = program
		d, err := serve(ctx, s, w)
		if err != nil {
			return 0, err
		}
		defer d.kill()
		c := d.client(false)
		for n := range pages {
			target := fmt.Sprintf("http://h.faults.test/%s/%d", dir, n)
			resp, body, err := get(ctx, c, target, "*/*") //nolint:bodyclose // get closes it
			if err != nil || resp.StatusCode != http.StatusOK || !strings.Contains(body, fmt.Sprintf("/%s/%d", dir, n)) {
				return 0, fmt.Errorf("%s: %w %.200q", target, err, body)
			}
		}
		told, err := d.visits(ctx, "/"+visited+"/")
		return len(told), errors.Join(err, d.stop())
	}
	if _, err := read(s.readthru, "new", "new"); err != nil {
		return "", err
	}
	visits, failed := read(s.older, "old", "new")
	seen := fmt.Sprintf("the older program tells %d of %d visits", visits, pages)
	if failed != nil {
		seen = "the older program refuses the store"
		if !strings.Contains(failed.Error(), "newer") {
			return seen, fmt.Errorf("it does not say that the store is newer: %w", failed)
		}
	}
	before := asked.Load()
	visits, err = read(s.readthru, "new", "new")
	if err != nil {
		return seen, fmt.Errorf("back again: %w", err)
	}
	again := asked.Load() - before
	seen += fmt.Sprintf("; afterwards this one tells %d, and asked %d of %d pages again", visits, again, pages)
	aside, _ := filepath.Glob(filepath.Join(s.dir, "data", "store", "*damaged*"))
	log, _ := os.ReadFile(filepath.Join(s.dir, "log"))
	switch {
	case visits != pages || again > 0:
		return seen, errors.New("something is lost")
	case len(aside) > 0:
		return seen, fmt.Errorf("set aside: %v", aside)
	case strings.Contains(string(log), "panic"):
		return seen, fmt.Errorf("the log says %s", log)
	}
	return seen, nil
}
