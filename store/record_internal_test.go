package store

import (
	"bytes"
	"errors"
	"testing"

	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store/wire"
)

func FuzzRecordsOfForeignBytes(f *testing.F) {
	seal, err := newSealer()
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(seal.close)
	r := &Response{
		URL: "https://a.test/", Vary: []string{"accept"}, Selecting: map[string]string{"accept": "x"},
		Header: map[string][]string{"A": {"b", "c"}},
	}
	f.Add("e/key", r.encode())
	f.Add("d/key", manifest{Length: 9, Refs: 1}.encode())
	f.Add("p/key", wire.Pack(&pageRecord{Page: page.Record{URL: "https://a.test/", Meta: page.Meta{"lang": "en"}}}))
	f.Add("r/key", wire.Pack(&renditionRecord{Rendition{Recipe: "x", Warnings: []string{"thin"}}, Sum{1}}))
	f.Add("u/key", (&variants{URL: "https://a.test/", IDs: []EntryID{{1}}}).encode())
	f.Add("b/key", bytes.Repeat([]byte("a body "), 100))
	f.Fuzz(func(t *testing.T, key string, b []byte) {
		// Whatever the bytes are, nothing panics, and what is decoded encodes to something that decodes again.
		if r, ok := decodeResponse(b); ok {
			if _, ok := decodeResponse(r.encode()); !ok {
				t.Errorf("%+v does not decode again", r)
			}
		}
		if v, ok := decodeVariants(b); ok {
			if _, ok := decodeVariants(v.encode()); !ok {
				t.Errorf("%+v does not decode again", v)
			}
		}
		if len(b) > 0 && b[0] == wire.PackedForm {
			var p pageRecord
			if wire.Unmarshal(b, &p) && !wire.Unmarshal(wire.Pack(&p), &pageRecord{}) {
				t.Errorf("%+v does not decode again", p)
			}
			var r renditionRecord
			if wire.Unmarshal(b, &r) && !wire.Unmarshal(wire.Pack(&r), &renditionRecord{}) {
				t.Errorf("%+v does not decode again", r)
			}
		}
		decodeManifest(b)
		decodeTally(b)
		_ = checkTable(bytes.NewReader(b), int64(len(b)), true)
		if len(b) <= maxRecord {
			record := seal.seal(key, b)
			if got, err := seal.open(key, record); err != nil || !bytes.Equal(got, b) {
				t.Errorf("open(seal) = %d bytes, %v, want %d", len(got), err, len(b))
			}
			if _, err := seal.open(key+"x", record); !errors.Is(err, errDamaged) {
				t.Errorf("a record of another key opens: %v", err)
			}
			record[len(record)/2] ^= 0x10
			if _, err := seal.open(key, record); !errors.Is(err, errDamaged) {
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
