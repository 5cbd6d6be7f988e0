package cache

import (
	"net/http"
	"testing"

	"github.com/readthru/readthru/store"
)

func TestParseContentRange(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want contentRange
		ok   bool
	}{
		{"bytes 0-4/10", contentRange{0, 4, 10}, true},
		{"Bytes 0-4/*", contentRange{0, 4, -1}, true},
		{"bytes 4-0/10", contentRange{}, false},
		{"bytes 0-10/10", contentRange{}, false},
		{"bytes */10", contentRange{}, false},
		{"bytes -1-4/10", contentRange{}, false},
		{"bytes 0-4", contentRange{}, false},
		{"lines 0-4/10", contentRange{}, false},
		{"bytes 0-99999999999999999999/*", contentRange{}, false},
		{"", contentRange{}, false},
	} {
		if got, ok := parseContentRange(tt.in); got != tt.want || ok != tt.ok {
			t.Errorf("parseContentRange(%q) = %v, %v; want %v, %v", tt.in, got, ok, tt.want, tt.ok)
		}
	}
}

func TestSubRangesOfAPart(t *testing.T) {
	part := func(offset, length, total int64) *store.Response {
		return &store.Response{Status: 206, Offset: offset, Length: length, Total: total, Header: http.Header{}}
	}
	for _, tt := range []struct {
		asked string
		r     *store.Response
		want  bool
	}{
		{"bytes=4-8", part(4, 5, 10), true},
		{"bytes=5-7", part(4, 5, 10), true},
		{"bytes=3-7", part(4, 5, 10), false},
		{"bytes=5-9", part(4, 5, 10), false},
		{"bytes=5-", part(5, 5, 10), true},
		{"bytes=-3", part(5, 5, 10), true},
		{"bytes=-6", part(5, 5, 10), false},
		{"bytes=-3", part(5, 5, -1), false}, // where the end is, nobody knows
		{"bytes=6-", part(5, 5, -1), false},
		{"bytes=6-7", part(5, 5, -1), true},
		{"bytes=5-6,8-9", part(5, 5, 10), false},
		{"bytes=20-30", part(5, 5, 10), false},
	} {
		if got := usablePart(get(&shared, "Range: "+tt.asked), tt.r); got != tt.want {
			t.Errorf("%s of bytes %d-%d/%d: usable %v, want %v", tt.asked, tt.r.Offset, tt.r.Offset+tt.r.Length-1, tt.r.Total,
				got, tt.want)
		}
	}
}

func TestAMiscountedPartAnswersOnlyTheSameRange(t *testing.T) {
	q := get(&shared, "Range: bytes=-5")
	r := answered(&shared, q, 206, "Cache-Control: max-age=60\nContent-Range: bytes 4-9/10") // five bytes
	if !shared.storable(q, r) {
		t.Fatal("a part as long as the range asked for is not stored")
	}
	for asked, want := range map[string]bool{
		"Range: bytes=-5": true, "Range: bytes=6-8": false, "Range: bytes=-1": false,
		"": false,
	} {
		if got := usablePart(get(&shared, asked), r); got != want {
			t.Errorf("%q: usable %v, want %v", asked, got, want)
		}
	}
}

func FuzzRanges(f *testing.F) {
	f.Add("bytes=0-4, -5, 7-", "bytes 0-4/10", int64(10))
	f.Add("bytes=9223372036854775807-", "bytes 0-9223372036854775807/*", int64(1))
	f.Fuzz(func(t *testing.T, asked, content string, total int64) {
		ranges, ok := parseRange([]string{asked})
		if ok == (len(ranges) == 0) {
			t.Fatalf("parseRange(%q) = %v, %v", asked, ranges, ok)
		}
		for _, r := range ranges {
			if first, last, ok := r.resolve(max(total, 0)); ok && (first < 0 || last < first || last >= total) {
				t.Fatalf("%q of %d bytes = %d-%d", asked, total, first, last)
			}
			within(r, &store.Response{Length: max(total, 0), Total: -1})
		}
		if c, ok := parseContentRange(content); ok && (c.first < 0 || c.last < c.first || c.total >= 0 && c.last >= c.total) {
			t.Fatalf("parseContentRange(%q) = %v", content, c)
		}
	})
}

// TestOnlyAPartFromTheFirstByteIsCompleted: the rest of a part of length 5 begins at 5, and so may a part itself.
func TestOnlyAPartFromTheFirstByteIsCompleted(t *testing.T) {
	for offset, want := range map[int64]bool{0: true, 5: false} {
		h := http.Header{"Etag": {`"1"`}, "Content-Range": {"bytes 5-9/10"}}
		r := &store.Response{Status: 206, Offset: offset, Length: 5, Total: 10, Header: h}
		resp := &http.Response{StatusCode: http.StatusPartialContent, Header: h, ContentLength: 5}
		if got := completes(r, resp); got != want {
			t.Errorf("bytes 5-9 complete a part of 5 bytes from %d on: %v, want %v", offset, got, want)
		}
	}
}
