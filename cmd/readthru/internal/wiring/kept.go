package wiring

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/readthru/readthru/internal/wholefile"
)

// KeptPages says how many pages are kept, for the hook of a session's start, which has no time to open the store.
type KeptPages struct {
	Pages int64          `json:"pages"`
	Hosts map[string]int `json:"hosts"` // of the hosts with the most pages
}

const (
	keptHosts = 10_000 // in the file

	// A daemon looks after keptEvery whether the number of pages has changed, and rests for keptRest for each page,
	// because it then reads the keys of all.
	keptEvery = time.Second
	keptRest  = time.Millisecond
)

func keptFile(dir string) string { return filepath.Join(dir, "kept.json") }

// writeKept writes the file of [KeptPages], if the number of pages has changed since it was written.
func (c *Core) writeKept() error {
	c.keptMutex.Lock()
	defer c.keptMutex.Unlock()
	n := c.store.Totals().Pages
	if n == c.kept {
		return nil
	}
	hosts := c.store.PagesByHost()
	if len(hosts) > keptHosts {
		names := slices.SortedFunc(maps.Keys(hosts), func(a, b string) int { return cmp.Compare(hosts[b], hosts[a]) })
		for _, name := range names[keptHosts:] {
			delete(hosts, name)
		}
	}
	text, err := json.Marshal(KeptPages{n, hosts})
	if err != nil {
		return fmt.Errorf("count the pages: %w", err)
	}
	err = wholefile.Write(keptFile(c.dir), text, 0o600)
	if err == nil {
		c.kept = n
	}
	return err
}

// countKept keeps the file up to date until ctx ends.
func (c *Core) countKept(ctx context.Context) error {
	c.keptMutex.Lock()
	c.kept = ReadKept(c.dir).Pages // as the last daemon left it: a start does not count
	c.keptMutex.Unlock()
	for {
		c.mustWriteKept()
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(keptEvery + time.Duration(c.store.Totals().Pages)*keptRest):
		}
	}
}

// mustWriteKept is writeKept, and logs its error: only the line for agents is wrong then.
func (c *Core) mustWriteKept() {
	if err := c.writeKept(); err != nil {
		c.log.Warn("sessions of agents will not be told how many pages are kept", "error", err)
	}
}

// ReadKept reads the file. There are no pages if it cannot be read.
func ReadKept(dir string) (k KeptPages) {
	text, err := os.ReadFile(keptFile(dir))
	if err != nil || json.Unmarshal(text, &k) != nil {
		return KeptPages{}
	}
	return k
}
