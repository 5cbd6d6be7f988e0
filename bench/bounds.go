package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"
)

// What bounds measures, with the bounds themselves.
const (
	idleClients = 5000
	idleBound   = 40.0             // KB for each client
	idleWait    = 25 * time.Second // within twenty quiet seconds the heap's garbage goes back to the system

	chunkBytes = 48 << 20 // in chunks of one byte
	chunkBound = 1.0      // second of processor time

	bombClients = 80
	bombBound   = 300.0 // MB
)

// bounds measures what many or hostile clients and origins cost: keep-alive clients that asked once, a body in chunks
// of one byte, and bombs at once.
func bounds(ctx context.Context, s settings) error {
	o, err := newOrigin(ctx, s)
	if err != nil {
		return err
	}
	parts := []struct {
		name string
		run  func() error
	}{
		{"idle", func() error { return idleBounds(ctx, s, o) }},
		{"chunks", func() error { return chunkBounds(ctx, s, *o) }},
		{"bombs", func() error { return bombBounds(ctx, s, *o) }},
	}
	only := strings.Split(s.only, ",")
	for _, part := range parts {
		if s.only == "" || slices.Contains(only, part.name) {
			err = errors.Join(err, part.run())
		}
	}
	return err
}

// said prints a row of the report.
func said(name string, values []float64, unit string, bound float64) {
	middle, noise := median(values)
	mark := ""
	if middle > bound {
		mark = "  OVER"
	}
	fmt.Printf("%-52s %8.2f %s  ±%.0f %%  (at most %g)%s\n", name, middle, unit, noise*100, bound, mark)
}

// A fresh daemon for each row: what one has allocated before would hide the next.
func idleBounds(ctx context.Context, s settings, o *origin) error {
	fmt.Printf("resident memory for each of %d clients that asked once and stay:\n", idleClients)
	for _, kind := range []struct {
		name string
		page page
	}{
		{"1 KB", page{0, "/text/1024/1"}},
		{"10 KB", page{0, "/text/10240/1"}},
		{"100 KB", page{0, "/text/102400/1"}},
		{"markdown of 10 KB", page{0, "/html/10240/1"}},
		{"markdown of 100 KB", page{0, "/html/102400/1"}},
	} {
		for _, way := range []string{"plain", "intercepted"} {
			var each []float64
			for round := range s.rounds {
				used, err := idleMemory(ctx, s, o, kind.page, way == "intercepted", round)
				if err != nil {
					return fmt.Errorf("%s, %s: %w", kind.name, way, err)
				}
				each = append(each, used)
			}
			said(kind.name+", "+way, each, "KB", idleBound)
		}
	}
	return nil
}

// idleMemory returns the resident memory that each client holds, in KB.
func idleMemory(ctx context.Context, s settings, o *origin, ask page, secure bool, round int) (float64, error) {
	p, err := oursIn(ctx, s, o, filepath.Join(s.dir, fmt.Sprintf("idle%d", round)))
	if err != nil {
		return 0, err
	}
	defer p.process.stop()
	to := p.plain
	if secure {
		to = p.secure
	}
	if _, err := load(ctx, to, 16, limit{requests: 2000}, func(int, int) page { return ask }); err != nil {
		return 0, err
	}
	if err := wait(ctx, 2*time.Second); err != nil {
		return 0, err
	}
	before := p.process.rss()
	conns := make([]net.Conn, 0, idleClients)
	defer func() {
		for _, c := range conns {
			c.Close() //nolint:errcheck // the daemon has answered
		}
	}()
	for range idleClients {
		conn, err := connect(ctx, to, ask.host)
		if err != nil {
			return 0, err
		}
		conns = append(conns, conn)
		if _, err := get(conn, bufio.NewReader(conn), to, ask); err != nil {
			return 0, err
		}
	}
	if err := wait(ctx, idleWait); err != nil {
		return 0, err
	}
	return float64(p.process.rss()-before) / 1024 / idleClients, nil
}

// rawOrigin answers every connection with what respond writes after a request, on a plain and a TLS port, which it sets
// in o.
func rawOrigin(ctx context.Context, o *origin, respond func(path string, w *bufio.Writer) error) error {
	cert, err := tls.LoadX509KeyPair(o.leafFile, o.leafFile)
	if err != nil {
		return err
	}
	for _, at := range []*string{&o.plain, &o.secure} {
		l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		*at = port(l)
		if at == &o.secure {
			l = tls.NewListener(l, &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12})
		}
		go func() {
			for {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				go func() {
					defer conn.Close() //nolint:errcheck // the proxy sees it end
					req, err := http.ReadRequest(bufio.NewReader(conn))
					if err != nil {
						return
					}
					w := bufio.NewWriterSize(conn, 64<<10)
					if respond(req.URL.Path, w) == nil {
						w.Flush() //nolint:errcheck // the proxy has left
					}
				}()
			}
		}()
	}
	return nil
}

func chunkBounds(ctx context.Context, s settings, o origin) error {
	fmt.Printf("processor time for a body of %d MB in chunks of one byte:\n", chunkBytes>>20)
	pieces := bytes.Repeat([]byte("1\r\nx\r\n"), 8192)
	if err := rawOrigin(ctx, &o, func(path string, w *bufio.Writer) error {
		kind := "application/octet-stream"
		if strings.HasSuffix(path, ".html") {
			kind = "text/html"
		}
		_, err := io.WriteString(w, "HTTP/1.1 200 OK\r\nContent-Type: "+kind+
			"\r\nCache-Control: no-store\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n")
		for n := 0; n < chunkBytes && err == nil; n += 8192 {
			_, err = w.Write(pieces)
		}
		if err == nil {
			_, err = io.WriteString(w, "0\r\n\r\n")
		}
		return err
	}); err != nil {
		return err
	}
	p, err := oursIn(ctx, s, &o, filepath.Join(s.dir, "chunks"))
	if err != nil {
		return err
	}
	defer p.process.stop()
	for _, way := range []struct {
		name string
		to   target
		path string
	}{
		{"plain", p.plain, "/body"},
		{"intercepted", p.secure, "/body"},
		{"plain, HTML over the limit for markdown", p.plain, "/page.html"},
	} {
		var used []float64
		for range s.rounds {
			before := p.cpu()
			got, err := load(ctx, way.to, 1, limit{requests: 1}, func(int, int) page { return page{0, way.path} })
			if err != nil {
				return fmt.Errorf("%s: %w", way.name, err)
			}
			if got.bytes != chunkBytes {
				return fmt.Errorf("%s: %d bytes of %d", way.name, got.bytes, chunkBytes)
			}
			used = append(used, (p.cpu() - before).Seconds())
		}
		said(way.name, used, "s", chunkBound)
	}
	return nil
}

// bombs are bodies that are cheap to send and dear to read, by name.
func bombs() (map[string]*httptest.ResponseRecorder, error) {
	all := map[string]*httptest.ResponseRecorder{}
	add := func(name, contentType, coding string, body []byte) {
		r := httptest.NewRecorder()
		r.Header().Set("Content-Type", contentType)
		if coding != "" {
			r.Header().Set("Content-Encoding", coding)
		}
		r.Body = bytes.NewBuffer(body)
		all[name] = r
	}
	for name, unit := range map[string]string{
		"lists": "<ul><li>", "bold": "<b>", "tables": "<table><tr><td>", "cells": "<td>x", "rows": "<tr><td>x",
		"adjacent": "<b>x</b>", "entities": "&amp;", "comments": "<!-- ", "links": "<a href=/x>x</a>", "divs": "<div>",
		"brackets": "[", "items": "<li>x",
	} {
		for _, n := range []int{20_000, 80_000} {
			add(fmt.Sprint(name, n), "text/html", "", []byte("<p>x"+strings.Repeat(unit, n)))
		}
	}
	add("attribute", "text/html", "", []byte("<p title='"+strings.Repeat("x", 800_000)+"'>x"))
	add("line", "text/html", "", []byte("<p>"+strings.Repeat("x", 50<<20)))
	add("spans", "text/html", "",
		[]byte("<table>"+strings.Repeat("<tr><td colspan=1000 rowspan=60000>k<td>x", 5000)+"</table>"))
	add("json", "application/json", "", []byte(strings.Repeat("[", 80_000)))
	add("zip", "text/html", "", append([]byte("PK\x03\x04"), bytes.Repeat([]byte{0, 7, 255}, 1<<20)...))
	var laughs strings.Builder
	laughs.WriteString(`<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a0 "lol">`)
	for n := range 30 {
		fmt.Fprintf(&laughs, `<!ENTITY a%d "&a%d;&a%d;&a%d;">`, n+1, n, n, n)
	}
	add("laughs", "application/rss+xml", "",
		[]byte(laughs.String()+"]><rss><channel><title>&a30;</title></channel></rss>"))
	zeros := make([]byte, 1<<20)
	for name, make := range map[string]func(w io.Writer) (io.WriteCloser, error){
		"gzip": func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriterLevel(w, gzip.BestSpeed) },
		"zstd": func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w) },
		"zstd 128 MB": func(w io.Writer) (io.WriteCloser, error) {
			return zstd.NewWriter(w, zstd.WithWindowSize(128<<20))
		},
	} {
		var packed bytes.Buffer
		w, err := make(&packed)
		if err != nil {
			return nil, err
		}
		for range 1 << 10 {
			if _, err := w.Write(zeros); err != nil {
				return nil, err
			}
		}
		if err := w.Close(); err != nil {
			return nil, err
		}
		add(name, "text/html", strings.Fields(name)[0], packed.Bytes())
	}
	return all, nil
}

func bombBounds(ctx context.Context, s settings, o origin) error {
	fmt.Printf("most resident memory while %d bombs are read at once as markdown:\n", bombClients)
	all, err := bombs()
	if err != nil {
		return err
	}
	names := make([]string, 0, len(all))
	for name := range all {
		names = append(names, name)
	}
	if err := rawOrigin(ctx, &o, func(path string, w *bufio.Writer) error {
		n, err := strconv.Atoi(strings.TrimPrefix(path, "/"))
		if err != nil {
			return err
		}
		b := all[names[n%len(names)]]
		head := b.Header().Clone()
		head.Set("Content-Length", strconv.Itoa(b.Body.Len()))
		head.Set("Connection", "close")
		var text strings.Builder
		if err := head.Write(&text); err != nil {
			return err
		}
		_, err = w.WriteString("HTTP/1.1 200 OK\r\n" + text.String() + "\r\n" + b.Body.String())
		return err
	}); err != nil {
		return err
	}
	for _, way := range []string{"plain", "intercepted"} {
		var peaks []float64
		for round := range s.rounds {
			peak, err := bombPeak(ctx, s, &o, way, round)
			if err != nil {
				return fmt.Errorf("%s: %w", way, err)
			}
			peaks = append(peaks, peak)
		}
		said(way, peaks, "MB", bombBound)
	}
	return nil
}

// bombPeak sends bombs to a fresh daemon and returns its most resident memory, in MB.
func bombPeak(ctx context.Context, s settings, o *origin, way string, round int) (float64, error) {
	p, err := oursIn(ctx, s, o, filepath.Join(s.dir, fmt.Sprint("bombs-", way, round)))
	if err != nil {
		return 0, err
	}
	defer p.process.stop()
	to := p.plain
	if way == "intercepted" {
		to = p.secure
	}
	var wg sync.WaitGroup
	for n := range bombClients {
		wg.Go(func() {
			conn, err := connect(ctx, to, n)
			if err != nil {
				return
			}
			defer conn.Close() //nolint:errcheck // what it carried was not wanted
			if _, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: %s\r\nAccept: */*\r\nConnection: close\r\n\r\n",
				to.form(to.authority(n), fmt.Sprint("/", n)), to.authority(n)); err != nil {
				return
			}
			io.Copy(io.Discard, conn) //nolint:errcheck // whether it is whole, or an error, is not the question
		})
	}
	wg.Wait()
	return p.process.peak()
}

// peak returns the most resident memory that the process has had, in MB.
func (p *process) peak() (float64, error) {
	for _, pid := range tree(p.cmd.Process.Pid) {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if err != nil {
			return 0, err
		}
		_, rest, _ := strings.Cut(string(text), "VmHWM:")
		if fields := strings.Fields(rest); len(fields) > 0 {
			kb, err := strconv.ParseFloat(fields[0], 64)
			return kb / 1024, err
		}
	}
	return 0, errors.New("the kernel does not say")
}
