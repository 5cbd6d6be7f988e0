package store

import (
	"sync"

	"github.com/readthru/readthru/store/keys"
	"github.com/readthru/readthru/store/lru"
)

// DefaultDecoded is Options.Decoded unless that is set.
const DefaultDecoded = 19 << 20

// maxHotBody is the largest body or markdown kept in memory, in bytes.
const maxHotBody = 64 << 10

// tiers say how much of [Options.Decoded] each kind of record may take that is kept decoded in memory, in bytes.
type tiers struct{ bodies, renditions, responses, records int64 }

// tiersOf divides the bytes of memory for what is decoded among the kinds. The shares are those of DefaultDecoded, in
// MiB.
func tiersOf(n int64) tiers {
	return tiers{bodies: n * 6 / 19, renditions: n * 6 / 19, responses: n * 4 / 19, records: n * 3 / 19}
}

// responseCache keeps the heads of stored responses decoded in memory, by URI. A reader notes the generation before it
// loads from disk. What it loaded is kept only if no URI of the same stripe changed since: otherwise a slow reader
// would put back what a writer has replaced.
type responseCache struct {
	mu sync.Mutex
	// by the first byte of the URI's hash
	gens [256]uint32
	all  *lru.Cache[string, []*Response]
}

// init allocates the maps of the memory of stored responses.
func (c *responseCache) init(max int64) { c.all = lru.New[string, []*Response](max) }

// generation returns, for a reader of stored responses that are not in memory, how often URIs of u's stripe have
// changed. A reader calls it before it reads the disk.
func (c *responseCache) generation(u keys.URI) uint32 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.gens[u[0]]
}

// loaded keeps in memory what a reader found on disk, unless a response of the stripe changed since it noted
// generation.
func (c *responseCache) loaded(uri string, u keys.URI, generation uint32, list []*Response) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gens[u[0]] == generation {
		c.all.Add(uri, list, weigh(uri, list))
	}
}

// changed replaces what memory keeps of a URI after its stored responses changed; with an empty list it is forgotten.
func (c *responseCache) changed(uri string, u keys.URI, list []*Response) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gens[u[0]]++
	if len(list) == 0 {
		c.all.Remove(uri)
		return
	}
	c.all.Add(uri, list, weigh(uri, list))
}

// clear forgets all stored responses that memory keeps, and what readers are loading from disk now.
func (c *responseCache) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range c.gens {
		c.gens[i]++
	}
	c.all.Clear()
}

// weigh estimates what a list of stored responses takes in memory, in bytes, for the bound of the cache.
func weigh(uri string, list []*Response) int64 {
	n := len(uri) + 128
	for _, r := range list {
		n += 512 + len(r.URL)
		for name, values := range r.Header {
			n += len(name) + 64
			for _, v := range values {
				n += len(v) + 16
			}
		}
		for name, value := range r.Selecting {
			n += len(name) + len(value) + 64
		}
	}
	return int64(n)
}

// forgetUnwritten clears all caches in memory after writes were given up: they may hold records that are not on disk.
// Package kv calls it.
func (s *Store) forgetUnwritten() {
	s.hot.clear()
	s.renditions.Clear()
	s.bodies.Clear()
	s.feed.tell(AllRecords)
}
