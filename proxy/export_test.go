package proxy

import (
	"crypto/pbkdf2"
	"crypto/sha256"
	"encoding/base64"
	"testing"

	"github.com/readthru/readthru/internal/journal"
	"github.com/readthru/readthru/proxy/repeat"
)

// QuickHash hashes a password as users.HashPassword does, with one iteration: most tests need no hash that is slow to
// check.
func QuickHash(tb testing.TB, password string) string {
	tb.Helper()
	sum, err := pbkdf2.Key(sha256.New, password, make([]byte, 16), 1, 32)
	if err != nil {
		tb.Fatal(err)
	}
	b64 := base64.RawStdEncoding
	return "pbkdf2-sha256$1$" + b64.EncodeToString(make([]byte, 16)) + "$" + b64.EncodeToString(sum)
}

// GiveAgain lets p give answers again without a store. It is called before p serves.
func (p *Proxy) GiveAgain() { p.repeats = repeat.New(1<<20, nil) }

// Repeats counts the answers that are given again.
func (p *Proxy) Repeats() repeat.Stats { return p.repeats.Stats() }

// Recent returns what is told of the last requests, newest first.
func (p *Proxy) Recent() []journal.Entry {
	list, _, _ := p.journal.List(journal.Filter{}, "", 1<<20)
	return list
}
