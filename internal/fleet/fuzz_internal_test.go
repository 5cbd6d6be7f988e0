package fleet

import "testing"

// Whatever a row has, nothing panics, and only a record that is one of its user is taken.
func FuzzRowsOfForeignBytes(f *testing.F) {
	f.Add("ann", `{"name":"ann","id":"1"}`)
	f.Add("", `{"name":"","changed":"9999-99-99T"}`)
	f.Fuzz(func(t *testing.T, name, record string) {
		if u, _, err := readUser(name, false, record); err == nil && (u.Name != name || u.Check() != nil) {
			t.Errorf("%+v is taken for %q", u, name)
		}
	})
}
