package certs_test

import (
	"fmt"
	"testing"

	"github.com/readthru/readthru/certs"
)

// A certificate for a host that nobody has asked for.
func BenchmarkFreshLeaf(b *testing.B) {
	a, err := certs.Open(certs.Options{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		if _, err := a.Leaf(fmt.Sprintf("h%d.test", n)); err != nil {
			b.Fatal(err)
		}
	}
}
