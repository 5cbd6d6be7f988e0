package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/readthru/readthru/internal/fleet"
	"github.com/readthru/readthru/internal/fleet/fleettest"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// member is a node of a fleet without a daemon.
type member struct {
	*fleet.Fleet
	store *store.Store
	end   func() error
}

// begin has a node with a store of its own take part in a fleet.
func begin(ctx context.Context, database, name, node, dir string) (*member, error) {
	s, err := store.Open(store.Options{Dir: dir, Memory: 4 << 20, Decoded: 1 << 20})
	if err != nil {
		return nil, err
	}
	f, err := fleet.New(fleet.Options{
		Database: database, Name: name, Node: node, Store: s, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- f.Run(ctx) }()
	return &member{f, s, func() error {
		cancel()
		err := <-ended
		f.Close()
		return errors.Join(err, s.Close())
	}}, nil
}

// read has the node read a page.
func (m *member) read(url, content string) error {
	sum := sha256.Sum256([]byte(content))
	r := &page.Record{
		URL: url, NormalizedURL: url, Title: url, ContentHash: hex.EncodeToString(sum[:]), Source: page.Local,
		FetchedAt: time.Now(),
	}
	for {
		_, err := m.store.PutPage(r, []byte(content), store.Sum{})
		if !errors.Is(err, store.ErrFull) {
			return err
		}
		time.Sleep(time.Millisecond) // the disk is slower
	}
}

// until waits until something is so, for some minutes at most.
func until(ctx context.Context, what string, is func() (bool, error)) error {
	for limit := time.Now().Add(5 * time.Minute); ; time.Sleep(5 * time.Millisecond) {
		if done, err := is(); done || err != nil {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if time.Now().After(limit) {
			return fmt.Errorf("waited in vain: %s", what)
		}
	}
}

// nodes measures what nodes cost one server while they do nothing, and how long after one has read a page each other
// one has it.
func nodes(ctx context.Context, server *fleettest.Server, s settings) error {
	server.Kill()
	server.Begin(fmt.Sprintf("max_connections=%d", 4*slices.Max(s.nodes)+50))
	fmt.Println("| nodes | joined after s | connections | statements/s | server, cores | nodes, cores |" +
		" a change reaches one p50 s | p99 s | all, the slowest s |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|")
	for _, n := range s.nodes {
		if err := someNodes(ctx, server, s, n); err != nil {
			return fmt.Errorf("%d nodes: %w", n, err)
		}
	}
	return nil
}

func someNodes(ctx context.Context, server *fleettest.Server, s settings, n int) (err error) {
	dir := filepath.Join(s.dir, fmt.Sprint("nodes", n))
	list := make([]*member, 0, n)
	defer func() { // all at once, as each waits for the server
		var group sync.WaitGroup
		failed := make([]error, len(list))
		for i, m := range list {
			group.Go(func() { failed[i] = m.end() })
		}
		group.Wait()
		err = errors.Join(err, errors.Join(failed...), os.RemoveAll(dir))
	}()
	began := time.Now()
	for i := range n {
		m, err := begin(ctx, server.URL, fmt.Sprint("fleet", n), fmt.Sprint("node", i), filepath.Join(dir, fmt.Sprint(i)))
		if err != nil {
			return err
		}
		list = append(list, m)
	}
	var last fleet.Status
	err = until(ctx, "all nodes have joined", func() (bool, error) {
		for _, m := range list {
			if last = m.Status(); last.State != fleet.Connected {
				return false, nil
			}
		}
		return true, nil
	})
	if err != nil {
		return errors.Join(err, errors.New(last.Node+": "+last.Reason))
	}
	joined := time.Since(began)
	if err := wait(ctx, 3*time.Second); err != nil { // the server has counted what was before
		return err
	}
	cpu, own, count, began := server.CPU(), ownCPU(), statements(server), time.Now()
	if err := wait(ctx, s.idle); err != nil {
		return err
	}
	took := time.Since(began).Seconds()
	cpu, own, count = server.CPU()-cpu, ownCPU()-own, statements(server)-count
	connections := server.Number("SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'") - 1
	lags, err := lag(ctx, list, s.changes)
	if err != nil {
		return err
	}
	fmt.Printf("| %d | %.1f | %d | %.0f | %.2f | %.2f | %.2f | %.2f | %.2f |\n", n, joined.Seconds(), connections,
		float64(count)/took, cpu.Seconds()/took, own.Seconds()/took, at(lags, .5).Seconds(), at(lags, .99).Seconds(),
		lags[len(lags)-1].Seconds())
	return nil
}

// lag has the first node read pages, one after the other, and returns after which times the others had each, ascending.
func lag(ctx context.Context, list []*member, changes int) ([]time.Duration, error) {
	reader, others := list[0], list[1:]
	var lags []time.Duration
	for i := range changes {
		if err := reader.read(fmt.Sprintf("https://a.test/%d", i), prose(i)); err != nil {
			return nil, err
		}
		began := time.Now()
		waiting := slices.Clone(others)
		err := until(ctx, "a change has reached all nodes", func() (bool, error) {
			waiting = slices.DeleteFunc(waiting, func(m *member) bool {
				there := m.Status().Taken > int64(i)
				if there {
					lags = append(lags, time.Since(began))
				}
				return there
			})
			return len(waiting) == 0, nil
		})
		if err != nil {
			return nil, err
		}
		if err := wait(ctx, 100*time.Millisecond); err != nil { // no node is at the same point of its look each time
			return nil, err
		}
	}
	slices.Sort(lags)
	return lags, nil
}

// statements returns how many statements the server was asked, each a transaction or more.
func statements(server *fleettest.Server) int64 {
	return server.Number("SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = 'postgres'")
}

// ownCPU returns the processor time of this process.
func ownCPU() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// at returns what a share of times, which ascend, does not exceed.
func at(times []time.Duration, share float64) time.Duration {
	return times[min(len(times)-1, int(share*float64(len(times))))]
}

func wait(ctx context.Context, length time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(length):
		return nil
	}
}
