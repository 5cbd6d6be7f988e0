package segment

import (
	linked "container/list"
	"sync"
)

// Memory holds this much of the terms' blocks at least, and of a large index one part in so many, at most this much.
const (
	leastBlocks = 12 << 20
	mostBlocks  = 128 << 20
	blocksPart  = 4
)

// blockID names a block. Segments' numbers are given once, so it never comes to mean another.
type blockID struct{ segment, block uint32 }

// Blocks reads the terms of segments, and holds the blocks used last. Blocks are shared: never change one.
type Blocks struct {
	record func(key string) ([]byte, error)

	mu    sync.Mutex
	max   int
	bytes int
	order *linked.List // of *cachedBlock, last used first
	byID  map[blockID]*linked.Element
}

type cachedBlock struct {
	id   blockID
	data []byte
}

// NewBlocks returns a cache of blocks whose records record reads.
func NewBlocks(record func(key string) ([]byte, error)) *Blocks {
	return &Blocks{record: record, max: leastBlocks, order: linked.New(), byID: map[blockID]*linked.Element{}}
}

// of returns how to read the blocks of a segment. With keep, they stay in memory.
func (c *Blocks) of(s *Segment, keep bool) blockSource {
	return func(n int) ([]byte, error) {
		id := blockID{s.ID, uint32(n)}
		if b, ok := c.get(id); ok {
			return b, nil
		}
		b, err := c.record(blockKey(s.ID, uint32(n)))
		if err != nil {
			return nil, err
		}
		if keep {
			c.put(id, b)
		}
		return b, nil
	}
}

// Fit sets how much the cache holds, for an index of these segments.
func (c *Blocks) Fit(segments []*Segment) {
	all := int64(0)
	for _, s := range segments {
		all += s.Bytes
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.max = int(min(max(all/blocksPart, leastBlocks), mostBlocks))
	c.shrink()
}

// get returns a block of terms that is in memory, and marks it as used last.
func (c *Blocks) get(id blockID) ([]byte, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.byID[id]
	if !ok {
		return nil, false
	}
	c.order.MoveToFront(e)
	return e.Value.(*cachedBlock).data, true
}

// put keeps a block of terms in memory, if it fits at all.
func (c *Blocks) put(id blockID, data []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.byID[id]; ok || len(data) > c.max {
		return
	}
	c.byID[id] = c.order.PushFront(&cachedBlock{id, data})
	c.bytes += len(data)
	c.shrink()
}

// shrink forgets the blocks that were not used for longest. The caller holds mu.
func (c *Blocks) shrink() {
	for c.bytes > c.max {
		last := c.order.Back()
		b := c.order.Remove(last).(*cachedBlock)
		delete(c.byID, b.id)
		c.bytes -= len(b.data)
	}
}

// Clear forgets all blocks.
func (c *Blocks) Clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.order.Init()
	clear(c.byID)
	c.bytes = 0
}
