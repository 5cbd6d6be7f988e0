package store

import (
	"sync"

	"github.com/readthru/readthru/store/keys"
	"github.com/readthru/readthru/store/kv"
)

// useLog holds the uses of URIs in the present hour, until they are written.
type useLog struct {
	mu      sync.Mutex
	hour    uint32
	noted   map[keys.URI]bool // by URI; true: not written yet
	waiting int
}

// maxUses is the most URIs in a useLog. Beyond it, a use may be written twice.
const maxUses = 1 << 16

// note adds a use, and reports whether it must be written.
func (t *useLog) note(u keys.URI, hour uint32) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.hour != hour && t.waiting == 0 || t.noted == nil || len(t.noted) >= maxUses {
		t.hour, t.noted, t.waiting = hour, map[keys.URI]bool{}, 0
	}
	if _, ok := t.noted[u]; ok {
		return false
	}
	t.noted[u] = true
	t.waiting++
	return true
}

// take returns the uses to write, and forgets that they wait.
func (t *useLog) take() (hour uint32, all []keys.URI) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.waiting == 0 {
		return t.hour, nil
	}
	for u, waits := range t.noted {
		if waits {
			all = append(all, u)
			t.noted[u] = false
		}
	}
	t.waiting = 0
	return t.hour, all
}

// flushUses writes the uses to the eviction index.
func (s *Store) flushUses() {
	hour, all := s.uses.take()
	for _, u := range all {
		s.mu.Lock()
		b := &kv.Batch{}
		if value, err := s.kv.Get(keys.Variants(u)); err == nil {
			if v, ok := decodeVariants(value); ok && v.Used < hour {
				b.Del(keys.LastUse(v.Used, u))
				b.Set(keys.LastUse(hour, u), nil)
				v.Used = hour
				b.Set(keys.Variants(u), v.encode())
				_ = s.kv.Apply(b) // a lost use makes eviction only a little worse
			}
		}
		s.mu.Unlock()
	}
}
