//go:build !linux

package kv

// fileSyncCoversMaps says whether syncing a file writes out what was changed in it through a shared mapping. POSIX does
// not promise it.
const fileSyncCoversMaps = false
