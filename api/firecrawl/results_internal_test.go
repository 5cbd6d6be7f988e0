package firecrawl

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPartOfDocumentsIsBoundedInNumberAndBytes(t *testing.T) {
	var all atomic.Int64
	r, err := newResults(t.TempDir(), &all)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 6 {
		if err := r.add(&document{Warning: fmt.Sprint(i), private: i == 2}); err != nil {
			t.Fatal(err)
		}
	}
	one := r.parts[0].size
	if all.Load() != 5*one {
		t.Errorf("%d bytes on disk, want those of five documents of %d", all.Load(), one)
	}
	for _, tt := range []struct {
		skip, limit int
		most        int64
		want        []string
	}{
		{0, 100, 1 << 20, []string{"0", "1", "2", "3", "4", "5"}},
		{1, 3, 1 << 20, []string{"1", "2", "3"}},
		{1, 100, 3*one + 1, []string{"1", "2", "3"}},
		{4, 100, 1, []string{"4"}}, // always one document
		{6, 100, 1 << 20, nil},
	} {
		got, err := r.read(tt.skip, tt.limit, tt.most)
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		for _, w := range tt.want {
			want = append(want, fmt.Sprintf(`{"warning":%q,"metadata":null}`, w))
		}
		var texts []string
		for _, text := range got {
			texts = append(texts, string(text))
		}
		if diff := cmp.Diff(want, texts); diff != "" {
			t.Errorf("read(%d, %d, %d) (-want +got):\n%s", tt.skip, tt.limit, tt.most, diff)
		}
	}
	if r.close(); all.Load() != 0 {
		t.Errorf("%d bytes on disk after the end", all.Load())
	}
}
