package fleet_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"testing"
	"time"

	"github.com/readthru/readthru/internal/eventually"
	"github.com/readthru/readthru/internal/fleet"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// node is a node of a fleet: its store, and what runs beside it.
type node struct {
	*fleet.Fleet
	t     testing.TB
	store *store.Store
	wait  time.Duration
	lease time.Duration
	log   slog.Handler // nil: nobody reads it
	stop  func()

	bodies string // URL of the object store; empty: none

	*library // nil: no knowledge bases
}

// join has a new node with a store of its own take part in a fleet.
func join(tb testing.TB, url, name string) *node {
	tb.Helper()
	n := &node{t: tb, store: opened(tb), wait: 10 * time.Second} // a busy machine is late without being wrong
	n.begin(url, name)
	return n
}

// opened returns a new store, which is closed when the test ends.
func opened(tb testing.TB) *store.Store {
	tb.Helper()
	s, err := store.Open(store.Options{Dir: tb.TempDir()})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Error(err)
		}
	})
	return s
}

// begin has the node take part again.
func (n *node) begin(url, name string) {
	n.t.Helper()
	o := fleet.Options{
		Database: url, Node: name, Version: "test", Store: n.store, Wait: n.wait, Bodies: n.bodies,
		Log: slog.New(slog.DiscardHandler), Lease: n.lease,
	}
	if n.log != nil {
		o.Log = slog.New(n.log)
	}
	if n.library != nil {
		o.Knowledge, o.MayFill, o.Fill, o.StopFilling = n.Knowledge, n.MayFill, n.Fill, n.StopFilling
	}
	f, err := fleet.New(o)
	if err != nil {
		n.t.Fatal(err)
	}
	n.Fleet = f
	ctx, cancel := context.WithCancel(n.t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := f.Run(ctx); err != nil {
			n.t.Errorf("Run: %v", err)
		}
	}()
	stopped := false
	n.stop = func() {
		if !stopped {
			stopped = true
			cancel()
			<-ended
			f.Close()
		}
	}
	n.t.Cleanup(n.stop)
}

func (n *node) awaitState(state string) {
	n.t.Helper()
	defer func() {
		if n.t.Failed() {
			n.t.Logf("status: %+v", n.Status())
		}
	}()
	eventually.True(n.t, n.Status().Node+" is "+state, func() bool { return n.Status().State == state })
}

// start is when the pages of these tests were first read.
var start = time.Now().Add(-time.Hour).UTC().Truncate(time.Millisecond)

// record returns the record of a page with a content that was read some minutes after start.
func record(url, content string, minutes int) *page.Record {
	sum := sha256.Sum256([]byte(content))
	return &page.Record{
		URL: url, NormalizedURL: url, Title: "Title of " + content, ContentHash: hex.EncodeToString(sum[:]),
		Source: page.Local, FetchedAt: start.Add(time.Duration(minutes) * time.Minute),
		ReadAt: start.Add(time.Duration(minutes) * time.Minute),
	}
}

// read has the node read a page.
func (n *node) read(url, content string, minutes int) {
	n.t.Helper()
	if _, err := n.store.PutPage(record(url, content, minutes), []byte(content), store.Sum{}); err != nil {
		n.t.Fatal(err)
	}
}

// has returns the content that a node has of a page.
func (n *node) has(url string) string {
	md, err := n.store.Markdown(page.KeyOf(url))
	if err != nil {
		return "nothing"
	}
	return string(md)
}

// await waits until nodes have a content.
func await(tb testing.TB, url, content string, nodes ...*node) {
	tb.Helper()
	for _, n := range nodes {
		eventually.True(tb, n.Status().Node+" has "+content+" of "+url, func() bool { return n.has(url) == content })
	}
}
