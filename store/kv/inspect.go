package kv

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/fb"
	"github.com/dgraph-io/badger/v4/pb"
	"github.com/dgraph-io/badger/v4/table"
	"github.com/dgraph-io/badger/v4/y"
	"google.golang.org/protobuf/proto"
)

// The engine trusts its files: a few flipped bytes make it panic in a goroutine of its own, at opening or at the next
// compaction, and that ends the process; with a shorter list of tables it deletes the tables that are not listed. So
// the files are looked at before it may open them.

// cleanName is a file that exists only while the store is closed cleanly. Without it, all blocks are checked too.
const cleanName = "clean"

// inspect reports what is wrong with the files of the engine's directory; nil if the directory does not exist. Blocks
// has it read all blocks of all tables, as after a crash. Fresh says that the directory holds no data.
func inspect(dir string, blocks bool) (fresh bool, err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("read %s: %w", dir, err)
	}
	data, manifest := false, false
	for _, e := range entries {
		switch ext := filepath.Ext(e.Name()); {
		case e.Name() == badger.ManifestFilename:
			manifest = true
		case ext == ".sst" || ext == ".mem" || ext == ".vlog":
			data = true
		}
	}
	switch {
	case manifest:
		return false, inspectTables(dir, blocks)
	case data:
		return false, fmt.Errorf("inspect %s: its %s is missing", dir, badger.ManifestFilename)
	}
	return true, nil
}

// inspectTables looks at the tables that the manifest lists. Others are left-overs of a table that was being written.
func inspectTables(dir string, blocks bool) error {
	f, err := os.Open(filepath.Join(dir, badger.ManifestFilename))
	if err != nil {
		return fmt.Errorf("inspect: %w", err)
	}
	defer func() { _ = f.Close() }() // it was only read
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("inspect: %w", err)
	}
	manifest, end, err := badger.ReplayManifestFile(f, 0, badger.DefaultOptions(dir))
	if err != nil {
		return fmt.Errorf("inspect %s: %w", f.Name(), err)
	}
	// the engine reads a list that is cut as a shorter one, and then deletes the tables that it does not name
	if end < info.Size() {
		if all, _ := filepath.Glob(filepath.Join(dir, "*.sst")); len(all) > len(manifest.Tables) {
			return fmt.Errorf("inspect %s: it is cut: it lists %d of %d tables", f.Name(), len(manifest.Tables),
				len(all))
		}
	}
	for id := range manifest.Tables {
		if err := inspectTable(table.NewFilename(id, dir), blocks); err != nil {
			return err
		}
	}
	return nil
}

// inspectTable verifies the file of one table.
func inspectTable(name string, blocks bool) error {
	f, err := os.Open(name)
	if err != nil {
		return fmt.Errorf("inspect table: %w", err)
	}
	defer func() { _ = f.Close() }() // it was only read
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("inspect table: %w", err)
	}
	if err := checkTable(f, info.Size(), blocks); err != nil {
		return fmt.Errorf("inspect table %s: %w", name, err)
	}
	return nil
}

// checkTable inspects a table: it verifies the index, its last block (which the engine reads when it opens the table),
// and with blocks all of them. From its end, a table is: length of the checksum (4 bytes), checksum, length of the
// index (4 bytes), index.
func checkTable(r io.ReaderAt, size int64, blocks bool) (err error) {
	defer func() {
		if recover() != nil { // the index is no index: its reader trusts what the checksum vouched for
			err = ErrDamaged
		}
	}()
	at := size
	// reads n bytes before those that were read last
	back := func(n int64) ([]byte, error) {
		if n < 0 || n > at {
			return nil, ErrDamaged
		}
		at -= n
		return readAt(r, at, n)
	}
	// reads a length of 4 bytes, and what it is the length of
	sized := func() ([]byte, error) {
		n, err := back(4)
		if err != nil {
			return nil, err
		}
		return back(int64(y.BytesToU32(n)))
	}
	sum, err := sized()
	if err != nil {
		return err
	}
	index, err := sized()
	if err != nil {
		return err
	}
	if err := checkSum(index, sum); err != nil {
		return err
	}
	root := fb.GetRootAsTableIndex(index, 0)
	n := root.OffsetsLength()
	if n == 0 {
		return ErrDamaged
	}
	first := n - 1
	if blocks {
		first = 0
	}
	for i := first; i < n; i++ {
		var o fb.BlockOffset
		if !root.Offsets(&o, i) || int64(o.Offset())+int64(o.Len()) > size {
			return ErrDamaged
		}
		block, err := readAt(r, int64(o.Offset()), int64(o.Len()))
		if err == nil {
			err = checkBlock(block)
		}
		if err != nil {
			return fmt.Errorf("block %d: %w", i, err)
		}
	}
	return nil
}

// checkBlock inspects a block: entries, their offsets (4 bytes each), their number (4 bytes), checksum, its length (4
// bytes).
func checkBlock(b []byte) error {
	at := int64(len(b)) - 4
	if at < 0 {
		return ErrDamaged
	}
	at -= int64(y.BytesToU32(b[at:]))
	if at < 4 {
		return ErrDamaged
	}
	if entries := int64(y.BytesToU32(b[at-4:])); entries*4 > at-4 {
		return ErrDamaged
	}
	return checkSum(b[:at], b[at:len(b)-4])
}

// checkSum reports, for an inspection, whether data has the checksum that the engine wrote beside it, in the engine's
// form. The error is ErrDamaged.
func checkSum(data, sum []byte) error {
	var want pb.Checksum
	if err := proto.Unmarshal(sum, &want); err != nil {
		return ErrDamaged
	}
	if want.Algo != pb.Checksum_CRC32C && want.Algo != pb.Checksum_XXHash64 {
		return ErrDamaged // the engine panics at others
	}
	if y.VerifyChecksum(data, &want) != nil {
		return ErrDamaged
	}
	return nil
}

// readAt reads, to inspect them, n bytes at a place of a table's file.
func readAt(r io.ReaderAt, at, n int64) ([]byte, error) {
	b := make([]byte, n)
	if _, err := r.ReadAt(b, at); err != nil {
		return nil, fmt.Errorf("read %d bytes at %d: %w", n, at, err)
	}
	return b, nil
}
