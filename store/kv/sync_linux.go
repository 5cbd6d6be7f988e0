package kv

// fileSyncCoversMaps says whether syncing a file writes out what was changed in it through a shared mapping. Linux
// looks for changed pages by file, whoever changed them.
const fileSyncCoversMaps = true
