package proxy

import "testing"

// QuickHash hashes a password as HashPassword does, with one iteration: most tests need no hash that is slow to check.
func QuickHash(tb testing.TB, password string) string {
	tb.Helper()
	hash, err := encodeHash(password, make([]byte, saltSize), 1)
	if err != nil {
		tb.Fatal(err)
	}
	return hash
}
