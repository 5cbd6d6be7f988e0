package cache

// Held returns the bytes that all spools hold.
func (c *Cache) Held() int64 { return c.budget.used.Load() }
