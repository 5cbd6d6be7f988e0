package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// changing is the tree whose site changes.
const changing = "libxml2-doc"

// changes refreshes a base after each of several changes of its site.
func (b *bench) changes(ctx context.Context) error {
	host := hostOf(changing)
	d, err := b.daemon(ctx, "changes")
	if err != nil {
		return err
	}
	defer func() { d.Kill() }()
	defer b.web.usual()
	b.web.reset()
	if _, err := crawl(ctx, d, host, 1000); err != nil {
		return err
	}
	all, err := documents(ctx, d, host)
	if err != nil {
		return err
	}
	paths := make([]string, 0, len(all))
	for u := range all {
		if p := strings.TrimPrefix(u, "http://"+host); p != "/" {
			paths = append(paths, p)
		}
	}
	slices.Sort(paths)
	first := paths[:10]
	fmt.Printf("%-22s %9s %9s %9s  outcomes\n", "refresh", "documents", "requests", "bytes")
	for _, change := range []struct {
		name string
		do   func()
	}{
		{"first", func() {}},
		{"nothing changed", func() {}},
		{"10 pages are others", func() {
			b.web.replaced = map[string]string{}
			for _, p := range first {
				b.web.replaced[p] = "<!doctype html><title>New</title><main><h1>New</h1><p>Written anew: " + p + ".</main>"
			}
		}},
		{"10 pages moved", func() {
			b.web.moved = map[string]string{}
			for _, p := range first {
				at := strings.LastIndexByte(p, '/') + 1
				b.web.moved[p] = p[:at] + "moved-" + p[at:]
			}
		}},
		{"10 pages are gone", func() {
			b.web.gone = map[string]bool{}
			for _, p := range first {
				b.web.gone[p] = true
			}
		}},
		{"50 ms for each answer", func() { b.web.delay = 50 * time.Millisecond }},
		{"robots forbid 10 pages", func() {
			b.web.robots = "User-agent: *\n"
			for _, p := range first {
				b.web.robots += "Disallow: " + p + "$\n"
			}
		}},
		{"as at first", func() {}},
	} {
		b.web.usual()
		change.do()
		if b.web.robots != "" { // they hold for a day: the next daemon asks for them
			d.Kill()
			if d, err = b.daemon(ctx, "changes"); err != nil {
				return err
			}
		}
		b.web.reset()
		began := time.Now()
		var filling struct{ Job job }
		if _, err := d.Ask(ctx, "/api/v1/kbs/"+nameOf(host)+"/refresh", "{}", &filling); err != nil {
			return err
		}
		if err := filling.Job.wait(ctx, d); err != nil {
			return fmt.Errorf("%s: %w", change.name, err)
		}
		now, err := documents(ctx, d, host)
		if err != nil {
			return err
		}
		fmt.Printf("%-22s %9d %9d %9d  %v, %.1f s; lost %s, new %s\n", change.name, len(now), b.web.requests(), b.web.bytes,
			filling.Job.Outcomes, time.Since(began).Seconds(), few(minus(all, now)), few(minus(now, all)))
	}
	b.web.usual()
	b.web.delay = 50 * time.Millisecond
	took, err := b.wget(ctx, host)
	fmt.Printf("wget -r, 50 ms for each answer: %.1f s\n", took.Seconds())
	return err
}

// kills kills the daemon at ten moments of a crawl and lets the next one go on.
func (b *bench) kills(ctx context.Context) error {
	host := hostOf(changing)
	d, err := b.daemon(ctx, "whole")
	if err != nil {
		return err
	}
	b.web.reset()
	if _, err := crawl(ctx, d, host, 1000); err != nil {
		d.Kill()
		return err
	}
	whole, err := documents(ctx, d, host)
	requests := b.web.requests()
	d.Kill()
	if err != nil {
		return err
	}
	fmt.Printf("whole crawl: %d documents, %d requests\n", len(whole), requests)
	for moment := range 10 {
		b.web.reset()
		name := fmt.Sprintf("killed-%d", moment)
		if d, err = b.daemon(ctx, name); err != nil {
			return err
		}
		j, err := begin(ctx, d, host, 1000)
		if err != nil {
			d.Kill()
			return err
		}
		for b.web.requests() < requests*(2*moment+1)/20 {
			time.Sleep(time.Millisecond)
		}
		d.Kill()
		if d, err = b.daemon(ctx, name); err != nil {
			return err
		}
		var all map[string]bool
		if err = j.wait(ctx, d); err == nil {
			all, err = documents(ctx, d, host)
		}
		d.Kill()
		if err != nil {
			return err
		}
		fmt.Printf("killed after %3d requests: same documents: %v, %d requests more\n", requests*(2*moment+1)/20,
			maps.Equal(all, whole), b.web.requests()-requests)
	}
	return nil
}
