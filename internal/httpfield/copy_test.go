package httpfield_test

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/readthru/readthru/internal/httpfield"
)

// What is changed in a copy is not changed in the original, whose neighbouring fields it must not run into either.
func TestCopy(t *testing.T) {
	h := http.Header{"A": {"1", "2"}, "B": {"3"}, "C": nil}
	c := httpfield.Copy(h, 2)
	if diff := cmp.Diff(map[string][]string{"A": {"1", "2"}, "B": {"3"}, "C": {}}, map[string][]string(c)); diff != "" {
		t.Error(diff)
	}
	c.Add("A", "x")
	c.Add("B", "y")
	c["A"][0] = "z"
	c.Set("D", "new")
	if diff := cmp.Diff(http.Header{"A": {"1", "2"}, "B": {"3"}, "C": nil}, h); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(http.Header{"A": {"z", "2", "x"}, "B": {"3", "y"}, "C": {}, "D": {"new"}}, c); diff != "" {
		t.Error(diff)
	}
}
