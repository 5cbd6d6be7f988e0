package kv

import (
	"fmt"
	"time"
)

// room is what the free space of the disk allows to write.
type room int

const (
	roomForAll   room = iota
	roomToForget      // below the mark: only deletions, which are small and must not be lost
	roomForNone       // below a quarter of the mark
)

// freeMark returns the free space below which nothing is stored, in bytes: 512 MiB, or on a file system under 4 GiB an
// eighth of it, at least 64 MiB. Tried with marks of 32 to 128 MiB on 300 MiB: the engine's compactions after the last
// write fit in.
func freeMark(total uint64) uint64 {
	if total < 4<<30 {
		return max(total/8, 64<<20)
	}
	return 512 << 20
}

// roomFor decides what free space, bytes of total allow.
func roomFor(free, total uint64) room {
	switch mark := freeMark(total); {
	case free >= mark:
		return roomForAll
	case free >= mark/4:
		return roomToForget
	}
	return roomForNone
}

// nearlyFull says for people that free space is below the mark.
func nearlyFull(dir string, free, total uint64) string {
	return fmt.Sprintf("the disk of %s is nearly full: %d MiB free, %d needed", dir, free>>20, freeMark(total)>>20)
}

// room looks at the free space of the disk, and notes whether it is below the mark. A file system that cannot tell
// counts as having room.
func (k *DB) room() room {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.roomLocked()
}

// roomLocked is room, which looks at the free space, for a caller that holds mu. It logs when the state changes.
func (k *DB) roomLocked() room {
	free, total, err := k.options.Space(k.dir)
	r := roomForAll
	if err == nil {
		r = roomFor(free, total)
	}
	switch {
	case r == roomForAll && k.full != "":
		k.full = ""
		k.log.Info("store is writable again", "free_bytes", free)
	case r != roomForAll:
		if k.full == "" {
			k.log.Warn("store is read-only", "free_bytes", free, "mark_bytes", freeMark(total))
		}
		k.full = nearlyFull(k.dir, free, total)
	}
	return r
}

// admitsLocked reports whether there is the space for writes. While it does not, it looks once a second whether the
// disk has room again; a failing disk gets something to try as often.
func (k *DB) admitsLocked() bool {
	if k.full == "" && k.failing == "" {
		return true
	}
	now := time.Now().Unix()
	if now == k.checked {
		return false
	}
	k.checked = now
	return k.roomLocked() == roomForAll
}

// What state returns.
const (
	stateOK         = "ok"
	stateReadOnly   = "read-only"   // the disk is nearly full, or failing
	stateMemoryOnly = "memory-only" // there is no disk
)

// State tells whether there is the space for writes, and for people why not.
func (k *DB) State() (state, reason string) {
	if k.db == nil {
		return stateMemoryOnly, k.why
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.full != "" {
		k.roomLocked()
	}
	switch {
	case k.full != "":
		return stateReadOnly, k.full
	case k.failing != "":
		return stateReadOnly, k.failing
	}
	return stateOK, ""
}
