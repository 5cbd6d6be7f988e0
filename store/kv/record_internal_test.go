package kv

import (
	"bytes"
	"errors"
	"testing"
)

func FuzzRecordsOfForeignBytes(f *testing.F) {
	seal, err := newSealer([]string{"e"})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(seal.close)
	f.Add("e/key", bytes.Repeat([]byte("a head "), 100))
	f.Add("b/key", bytes.Repeat([]byte("a body "), 100))
	f.Fuzz(func(t *testing.T, key string, b []byte) {
		// Whatever the bytes are, nothing panics.
		_ = checkTable(bytes.NewReader(b), int64(len(b)), true)
		if len(b) <= MaxRecord {
			record := seal.seal(key, b)
			if got, err := seal.open(key, record); err != nil || !bytes.Equal(got, b) {
				t.Errorf("open(seal) = %d bytes, %v, want %d", len(got), err, len(b))
			}
			if _, err := seal.open(key+"x", record); !errors.Is(err, ErrDamaged) {
				t.Errorf("a record of another key opens: %v", err)
			}
			record[len(record)/2] ^= 0x10
			if _, err := seal.open(key, record); !errors.Is(err, ErrDamaged) {
				t.Errorf("a flipped record opens: %v", err)
			}
		}
		if _, err := seal.open(key, b); err == nil && !verifies(key, b) {
			t.Error("a record opens that does not verify")
		}
	})
}

func TestFreeSpaceMark(t *testing.T) {
	const mib = 1 << 20
	for _, tt := range []struct {
		name        string
		free, total uint64
		want        room
	}{
		{"large disk, at the mark", 512 * mib, 100_000 * mib, roomForAll},
		{"large disk, below it", 512*mib - 1, 100_000 * mib, roomToForget},
		{"large disk, below a quarter of it", 128*mib - 1, 100_000 * mib, roomForNone},
		{"2 GiB, an eighth free", 256 * mib, 2048 * mib, roomForAll},
		{"2 GiB, less", 255 * mib, 2048 * mib, roomToForget},
		{"300 MiB, never under 64", 63 * mib, 300 * mib, roomToForget},
	} {
		if got := roomFor(tt.free, tt.total); got != tt.want {
			t.Errorf("%s: roomFor(%d MiB, %d MiB) = %v, want %v", tt.name, tt.free/mib, tt.total/mib, got, tt.want)
		}
	}
}
