package index

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func FuzzIndexRecords(f *testing.F) {
	a := &Article{
		number: 3, URL: "https://a.test/", Title: "T",
		passages: []place{{number: 7, end: 20, path: "A › B", before: "```\n"}, {number: 5, start: 30, end: 31}},
	}
	b, err := a.encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	d := &docTable{}
	f.Add(d.encodeBlock(0, map[uint32]docRow{}))
	f.Fuzz(func(t *testing.T, b []byte) {
		if a, err := decodeArticle(b); err == nil {
			again, err := a.encode()
			if err != nil {
				return
			}
			if back, err := decodeArticle(again); err != nil || !cmp.Equal(a, back, cmp.AllowUnexported(Article{}, place{})) {
				t.Fatalf("article %+v comes back as %+v, %v", a, back, err)
			}
		}
		_ = (&docTable{}).decodeBlock(0, b)
	})
}
