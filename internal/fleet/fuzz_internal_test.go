package fleet

import (
	"bytes"
	"crypto/sha256"
	"testing"
)

// Whatever a row has, nothing panics; only a content that is the one that was told of, and a record that is one of its
// user, are taken.
func FuzzRowsOfForeignBytes(f *testing.F) {
	content := bytes.Repeat([]byte("a body "), 100)
	sum := sha256.Sum256(content)
	f.Add(pack(content), len(content), sum[:], "ann", `{"name":"ann","id":"1"}`)
	f.Add([]byte{0x28, 0xb5, 0x2f, 0xfd}, 1<<40, []byte(nil), "", `{"name":"","changed":"9999-99-99T"}`)
	f.Fuzz(func(t *testing.T, packed []byte, length int, hash []byte, name, record string) {
		if got, err := unpack(packed, length, hash); err == nil {
			if sum := sha256.Sum256(got); len(got) != length || !bytes.Equal(sum[:], hash) {
				t.Errorf("%d bytes that are not those that were told of", len(got))
			}
		}
		if u, err := readUser(name, false, record); err == nil && (u.Name != name || u.Check() != nil) {
			t.Errorf("%+v is taken for %q", u, name)
		}
	})
}
