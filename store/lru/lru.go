// Package lru keeps what was used last in memory, up to a number of bytes.
package lru

import (
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// Cache is an LRU bounded by the weight of its values, in bytes. Values are shared: never change them. It is safe for
// concurrent use.
type Cache[K comparable, V any] struct {
	mu     sync.Mutex
	lru    *simplelru.LRU[K, weighed[V]]
	weight int64
	max    int64
}

type weighed[V any] struct {
	value V
	bytes int64
}

// New returns a cache of at most max bytes.
func New[K comparable, V any](max int64) *Cache[K, V] {
	c := &Cache[K, V]{max: max}
	// Bounded by weight: the number is only a limit that is never reached.
	c.lru, _ = simplelru.NewLRU(1<<30, func(_ K, v weighed[V]) { c.weight -= v.bytes })
	return c
}

// Get returns the value of a key, and whether there is one.
func (c *Cache[K, V]) Get(key K) (V, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	v, ok := c.lru.Get(key)
	return v.value, ok
}

// Add keeps a value that takes a number of bytes, in place of the key's old one. One of more than a quarter of what
// the cache may hold is not kept.
func (c *Cache[K, V]) Add(key K, value V, bytes int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lru.Remove(key) // Add would replace without telling the old weight
	if bytes > c.max/4 {
		return
	}
	c.lru.Add(key, weighed[V]{value, bytes})
	c.weight += bytes
	for c.weight > c.max {
		c.lru.RemoveOldest()
	}
}

// Remove forgets the value of a key.
func (c *Cache[K, V]) Remove(key K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lru.Remove(key)
}

// Clear forgets all values.
func (c *Cache[K, V]) Clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lru.Purge()
}

// Weight returns the bytes of all values.
func (c *Cache[K, V]) Weight() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.weight
}
