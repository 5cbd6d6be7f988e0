package store

import (
	"sync"
)

// touchLog holds uses of URIs that the disk does not know yet.
type touchLog struct {
	mu      sync.Mutex
	hour    uint32
	noted   map[uriKey]bool // in hour; true: not written yet
	waiting int
}

// maxTouched bounds the URIs whose use in this hour is remembered. Over it a use may be written again.
const maxTouched = 1 << 16

// note reports whether a use has to be written.
func (t *touchLog) note(u uriKey, hour uint32) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.hour != hour && t.waiting == 0 || t.noted == nil || len(t.noted) >= maxTouched {
		t.hour, t.noted, t.waiting = hour, map[uriKey]bool{}, 0
	}
	if _, ok := t.noted[u]; ok {
		return false
	}
	t.noted[u] = true
	t.waiting++
	return true
}

// take returns the uses to write.
func (t *touchLog) take() (hour uint32, all []uriKey) {
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

// flushTouches moves the uses in the eviction index.
func (s *Store) flushTouches() {
	hour, all := s.touches.take()
	for _, u := range all {
		s.mu.Lock()
		b := &batch{}
		if value, err := s.kv.get(variantsKey(u)); err == nil {
			if v, ok := decodeVariants(value); ok && v.Used < hour {
				b.del(useKey(v.Used, u))
				b.set(useKey(hour, u), nil)
				v.Used = hour
				b.set(variantsKey(u), v.encode())
				_ = s.kv.apply(b) // a use not written only makes eviction a little less right
			}
		}
		s.mu.Unlock()
	}
}
