package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"slices"
	"time"
)

// tunnels measures what a new intercepted connection costs: TCP, CONNECT and a TLS handshake, to a host nobody has
// asked for, to one that has a certificate, and resumed, with one request for a stored page.
func tunnels(ctx context.Context, s settings) error {
	o, err := newOrigin(ctx, s)
	if err != nil {
		return err
	}
	peers, stop := open(ctx, s, o, ours, squid)
	defer stop()
	fresh := 0
	var rows []*row
	opens := map[*row]func() error{}
	for _, p := range peers {
		to, sessions := p.secure, tls.NewLRUClientSessionCache(64)
		port := to.port
		if port == "" {
			port = "443"
		}
		stored := numbered(textKind, s.sizes[0], 0)
		if _, err := load(ctx, to, 1, limit{requests: 2}, func(int, int) page { return stored }); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		for _, w := range []struct {
			way  string
			open func() error
		}{
			{"fresh host", func() error {
				fresh++
				name := fmt.Sprintf("fresh%d.bench.test", fresh)
				return handshake(ctx, to, name, port, to.tls(name), nil)
			}},
			{"known host", func() error {
				return handshake(ctx, to, hostName(0), port, to.tls(hostName(0)), nil)
			}},
			{"resumed, with a request", func() error {
				config := to.tls(hostName(0))
				config.ClientSessionCache = sessions
				return handshake(ctx, to, hostName(0), port, config, &stored)
			}},
		} {
			r := &row{peer: p, way: w.way, kind: textKind, size: s.sizes[0]}
			rows, opens[r] = append(rows, r), w.open
		}
	}
	for round := range s.rounds + 1 {
		for _, r := range rows {
			var got tally
			before, begin := r.peer.cpu(), time.Now()
			for got.length < s.round {
				opened := time.Now()
				if err := opens[r](); err != nil {
					return fmt.Errorf("%s, %s: %w", r.peer.name, r.way, err)
				}
				got.latencies = append(got.latencies, time.Since(opened))
				got.length = time.Since(begin)
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			if used := r.peer.cpu() - before; round > 0 {
				got.answers = len(got.latencies)
				slices.Sort(got.latencies)
				r.add(got, used)
			}
		}
	}
	fmt.Printf("a new intercepted connection, one at a time, medians of %d rounds of %s\n\n", s.rounds, s.round)
	report(rows)
	return nil
}

// handshake opens a tunnel to a host, makes TLS in it, asks for a page unless that is nil, and closes it.
func handshake(ctx context.Context, t target, host, port string, config *tls.Config, ask *page) error {
	conn, err := tunnelTo(ctx, t, host+":"+port)
	if err != nil {
		return err
	}
	defer conn.Close() //nolint:errcheck // what it was opened for is done
	secure := tls.Client(conn, config)
	if err := secure.HandshakeContext(ctx); err != nil {
		return err
	}
	if ask == nil {
		return nil
	}
	_, err = get(secure, bufio.NewReaderSize(secure, 64<<10), t, *ask)
	return err
}
