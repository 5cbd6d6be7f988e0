package cache

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/readthru/readthru/store"
)

// bounded is shared, for bodies of at most max bytes.
func bounded(max int64) *policy {
	p := shared
	p.maxBody = max
	return &p
}

// received makes the part from first to last, of total bytes, that q was answered with at epoch.
func received(q *request, first, last, total int64, text string) *store.Response {
	length := "*"
	if total >= 0 {
		length = fmt.Sprint(total)
	}
	h := fields("Cache-Control: max-age=60\n" + text)
	h.Set("Date", epoch.Format(http.TimeFormat))
	h.Set("Content-Range", fmt.Sprintf("bytes %d-%d/%s", first, last, length))
	return shared.entry(q, &http.Response{
		StatusCode: http.StatusPartialContent, Header: h, ContentLength: last - first + 1,
	}, epoch, epoch)
}

// described returns the pieces of a union: whose bytes they are, and where.
func described(u union) (text []string) {
	for _, piece := range u.pieces {
		whose := "new"
		if id := piece.part.ID[0]; id > 0 {
			whose = string('a' + id - 1)
		}
		text = append(text, fmt.Sprintf("%s:%d-%d", whose, piece.first, piece.next-1))
	}
	return text
}

// What is combined with the part 10-19 of 100 that came last (RFC 9111 §3.4, RFC 9110 §15.3.7.3).
func TestPartsAreCombinedByAStrongValidator(t *testing.T) {
	const strong = `ETag: "1"`
	type span struct {
		first, last, total int64
		fields             string
	}
	for _, tt := range []struct {
		name   string
		fields string // of the part that came last
		stored []span
		want   string
	}{
		{"touching before", strong, []span{{0, 9, 100, strong}}, "a:0-9 new:10-19"},
		{"touching behind", strong, []span{{20, 29, 100, strong}}, "new:10-19 a:20-29"},
		{"overlapping, where the new bytes count", strong, []span{{5, 12, 100, strong}}, "a:5-9 new:10-19"},
		{"on both sides", strong, []span{{20, 29, 100, strong}, {0, 9, 100, strong}}, "b:0-9 new:10-19 a:20-29"},
		{"around it", strong, []span{{5, 30, 100, strong}}, "a:5-9 new:10-19 a:20-30"},
		{"by way of another", strong, []span{{30, 39, 100, strong}, {15, 29, 100, strong}}, "new:10-19 b:20-29 a:30-39"},
		{"to the whole", strong, []span{{0, 9, 100, strong}, {20, 99, 100, strong}}, "a:0-9 new:10-19 b:20-99"},
		{"of unknown size", strong, []span{{0, 9, -1, strong}}, ""},
		{"a gap of a byte", strong, []span{{0, 8, 100, strong}, {21, 30, 100, strong}}, ""},
		{"nothing is added to it", strong, []span{{12, 15, 100, strong}}, ""},
		{"another validator", strong, []span{{0, 9, 100, `ETag: "2"`}}, ""},
		{"a weak validator, §8.8.3.2", `ETag: W/"1"`, []span{{0, 9, 100, `ETag: W/"1"`}}, ""},
		{"a weak one before", strong, []span{{0, 9, 100, `ETag: W/"1"`}}, ""},
		{
			"a date is no strong validator here", "Last-Modified: Thu, 19 Nov 2026 12:00:00 GMT",
			[]span{{0, 9, 100, "Last-Modified: Thu, 19 Nov 2026 12:00:00 GMT"}},
			"",
		},
		{"another size", strong, []span{{0, 9, 101, strong}}, ""},
		{"another Vary", strong, []span{{0, 9, 100, strong + "\nVary: Accept-Language"}}, ""},
		{"the same Vary", strong + "\nVary: A", []span{{0, 9, 100, strong + "\nVary: A"}}, "a:0-9 new:10-19"},
		{"another coding", strong, []span{{0, 9, 100, strong + "\nContent-Encoding: gzip"}}, ""},
		{"a markdown page and another type", strong, []span{{0, 9, 100, strong + "\nContent-Type: text/html"}}, ""},
		{"what forbids to store", strong + "\nCache-Control: no-store", []span{{0, 9, 100, strong}}, ""},
		{"four times as long", strong, []span{{20, 59, 100, strong}}, "new:10-19 a:20-59"},
		{"longer than that: it would be written again", strong, []span{{20, 60, 100, strong}}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			q := get(&shared, "Range: bytes=10-19")
			var stored []*store.Response
			for i, s := range tt.stored {
				r := received(q, s.first, s.last, s.total, s.fields)
				r.ID = store.EntryID{byte(i + 1)}
				stored = append(stored, r)
			}
			r := received(q, 10, 19, 100, tt.fields)
			u, ok := bounded(1<<20).combine(q, r, stored)
			got := ""
			if ok {
				got = strings.Join(described(u), " ")
			}
			if got != tt.want {
				t.Errorf("combined %q, want %q", got, tt.want)
			}
		})
	}
}

// A whole is no part any longer (RFC 9110 §15.3.7.3); the fields of the newest part replace those before (RFC 9111
// §3.4).
func TestFieldsOfCombinedParts(t *testing.T) {
	q := get(&shared, "Range: bytes=10-19")
	old := received(q, 0, 9, 30, "ETag: \"1\"\nX-Kept: a\nX-New: a\nX-Mine: a\nAge: 30\n"+
		"Content-Digest: sha-256=:a:\nContent-Type: text/plain")
	rest := received(q, 20, 29, 30, "ETag: \"1\"\nX-Kept: b")
	old.ID, rest.ID = store.EntryID{1}, store.EntryID{2}
	rest.ResponseTime = epoch.Add(-1)
	for _, tt := range []struct {
		stored []*store.Response
		status int
		span   string
		length string
	}{
		{[]*store.Response{old}, 206, "bytes 0-19/30", "20"},
		{[]*store.Response{old, rest}, 200, "", "30"},
	} {
		r := received(q, 10, 19, 30, "ETag: \"1\"\nX-New: b\nCache-Control: private=\"X-Mine\"\n"+
			"Content-Digest: sha-256=:b:")
		u, ok := bounded(1<<20).combine(q, r, tt.stored)
		if !ok {
			t.Fatal("not combined")
		}
		e := u.entry
		if e.Status != tt.status || e.Header.Get("Content-Range") != tt.span || e.Header.Get("Content-Length") != tt.length ||
			fmt.Sprint(e.Length) != tt.length || e.Offset != 0 {
			t.Errorf("%d, %d bytes from %d on, %v; want %d, %s, %s", e.Status, e.Length, e.Offset, e.Header, tt.status, tt.span,
				tt.length)
		}
		for name, want := range map[string]string{
			"X-Kept": "a", "X-New": "b", "X-Mine": "", "Age": "", "Content-Digest": "", "Content-Type": "text/plain",
		} {
			if got := e.Header.Get(name); got != want {
				t.Errorf("%d: %s is %q, want %q", tt.status, name, got, want)
			}
		}
	}
}

// A file that is read from front to back in small ranges is not written again with each of them, but is one response
// at its end.
func TestALongPartIsNotWrittenAgainForEachShortOne(t *testing.T) {
	const size, step = 1 << 20, 1 << 10
	var stored []*store.Response
	var written, most int64
	for first := int64(0); first < size; first += step {
		q := get(&shared, fmt.Sprintf("Range: bytes=%d-%d", first, first+step-1))
		r := received(q, first, first+step-1, size, `ETag: "1"`)
		if u, ok := bounded(1<<20).combine(q, r, stored); ok {
			r = u.entry
		}
		written += r.Length
		stored = slices.DeleteFunc(stored, func(o *store.Response) bool { return supersedes(r, o) })
		r.ID = store.EntryID{1, byte(first >> 18), byte(first >> 10)}
		stored = append(stored, r)
		most = max(most, int64(len(stored)))
	}
	if len(stored) != 1 || stored[0].Status != 200 || stored[0].Length != size {
		t.Errorf("%d responses at the end, the last of %d bytes, %d", len(stored), stored[0].Length, stored[0].Status)
	}
	if written > 20*size || most > 20 {
		t.Errorf("%d times the size was written, and up to %d parts were stored", written/size, most)
	}
	t.Logf("written %.1f times, %d parts", float64(written)/size, most)
}

// A union that is longer than what may be stored is not made; the parts stay beside each other.
func TestPartsAreNotCombinedOverTheLargestBody(t *testing.T) {
	q := get(&shared, "Range: bytes=10-19")
	before, behind := received(q, 0, 9, 30, `ETag: "1"`), received(q, 20, 29, 30, `ETag: "1"`)
	before.ID, behind.ID = store.EntryID{1}, store.EntryID{2}
	r := received(q, 10, 19, 30, `ETag: "1"`)
	u, ok := bounded(25).combine(q, r, []*store.Response{before, behind})
	if got := strings.Join(described(u), " "); !ok || got != "a:0-9 new:10-19" {
		t.Errorf("combined %q", got)
	}
}
