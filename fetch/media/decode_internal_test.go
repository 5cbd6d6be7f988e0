package media

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

// code applies a coding.
func code(tb testing.TB, coding, text string) []byte {
	tb.Helper()
	var b bytes.Buffer
	var w io.WriteCloser
	var err error
	switch coding {
	case "gzip", "x-gzip":
		w = gzip.NewWriter(&b)
	case "deflate":
		w = zlib.NewWriter(&b)
	case "bare deflate":
		w, err = flate.NewWriter(&b, 6)
	case "br":
		w = brotli.NewWriter(&b)
	case "zstd":
		w, err = zstd.NewWriter(&b)
	case "zstd, window 16 MiB":
		w, err = zstd.NewWriter(&b, zstd.WithWindowSize(16<<20))
	default:
		return []byte(text)
	}
	if err != nil {
		tb.Fatal(err)
	}
	if _, err := io.WriteString(w, text); err != nil {
		tb.Fatal(err)
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

func TestContentCodings(t *testing.T) { // RFC 9110 §8.4, RFC 9659
	text := strings.Repeat("The harbour wakes before the town does. ", 500)
	twice := string(code(t, "gzip", text))
	large := strings.Repeat("x", 17<<20)
	for _, tt := range []struct {
		name, encoding string
		raw            []byte
		limit          int64
		want           string
		err            error
	}{
		{"none", "", []byte(text), 1 << 20, text, nil},
		{"identity", "identity", []byte(text), 1 << 20, text, nil},
		{"gzip", "gzip", code(t, "gzip", text), 1 << 20, text, nil},
		{"x-gzip, any case", "X-GZIP", code(t, "gzip", text), 1 << 20, text, nil},
		{"deflate", "deflate", code(t, "deflate", text), 1 << 20, text, nil},
		{"bare deflate", "deflate", code(t, "bare deflate", text), 1 << 20, text, nil},
		{"br", "br", code(t, "br", text), 1 << 20, text, nil},
		{"zstd", "zstd", code(t, "zstd", text), 1 << 20, text, nil},
		{"two", "gzip, br", code(t, "br", twice), 1 << 20, text, nil},
		{"four", "gzip, gzip, gzip, gzip", code(t, "gzip", text), 1 << 20, "", ErrUnknownCoding},
		{"unknown", "compress", []byte(text), 1 << 20, "", ErrUnknownCoding},
		{"exactly the limit", "gzip", code(t, "gzip", text), int64(len(text)), text, nil},
		{"one over the limit", "gzip", code(t, "gzip", text), int64(len(text)) - 1, "", ErrTooLarge},
		{"a bomb", "gzip", code(t, "gzip", large), 1 << 20, "", ErrTooLarge},
		{"zstd window over 8 MiB", "zstd", code(t, "zstd, window 16 MiB", large), 64 << 20, "", ErrCoding},
		{"not so coded", "gzip", []byte(text), 1 << 20, "", ErrCoding},
		{"empty", "gzip", nil, 1 << 20, "", ErrCoding},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Decode(tt.raw, http.Header{"Content-Encoding": {tt.encoding}}, tt.limit)
			if !errors.Is(err, tt.err) || string(got) != tt.want {
				t.Errorf("%d bytes, %v, want %d bytes, %v", len(got), err, len(tt.want), tt.err)
			}
		})
	}
	for _, coding := range []string{"gzip", "deflate", "br", "zstd"} {
		raw := code(t, coding, text)
		for _, cut := range []int{1, 5, len(raw) / 2} {
			if got, err := Decode(raw[:len(raw)-cut], http.Header{"Content-Encoding": {coding}}, 1<<20); err == nil {
				t.Errorf("%s short by %d bytes gave %d bytes, want an error", coding, cut, len(got))
			}
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, coding := range []string{"gzip", "deflate", "br", "zstd"} {
		f.Add(code(f, coding, "text"), coding)
	}
	f.Fuzz(func(t *testing.T, raw []byte, coding string) {
		got, err := Decode(raw, http.Header{"Content-Encoding": {coding}}, 1<<16)
		if err == nil && len(got) > 1<<16 && len(got) != len(raw) {
			t.Errorf("%d bytes came out", len(got))
		}
	})
}

func TestCodingsOnTopOfOneAnotherAreBoundedEach(t *testing.T) {
	// Blocks of deflate without content, which compress well and give nothing: 4 MiB on the way to an empty page.
	var inner, outer bytes.Buffer
	w := gzip.NewWriter(&inner)
	_ = w.Close()
	head, tail := inner.Bytes()[:10], inner.Bytes()[10:]
	z := gzip.NewWriter(&outer)
	_, _ = z.Write(head)
	for range 4 {
		_, _ = z.Write(bytes.Repeat([]byte{0, 0, 0, 0xff, 0xff}, (1<<20)/5))
	}
	_, _ = z.Write(tail)
	_ = z.Close()
	got, err := Decode(outer.Bytes(), http.Header{"Content-Encoding": {"gzip, gzip"}}, 1<<20)
	if !errors.Is(err, ErrTooLarge) {
		t.Errorf("%d bytes made %d, %v, want them refused half way", outer.Len(), len(got), err)
	}
}

func TestLongContentIsDecodedInItsOwnLength(t *testing.T) {
	long := strings.Repeat("The harbour wakes before the town does. ", 3<<20/40)
	for _, coding := range []string{"gzip", "deflate", "br", "zstd"} {
		raw := code(t, coding, long)
		head := http.Header{"Content-Encoding": {coding}}
		got, err := Decode(raw, head, 4<<20)
		if err != nil || string(got) != long || cap(got) > len(long)+1<<16 {
			t.Errorf("%s: %d bytes in room for %d, %v; want %d", coding, len(got), cap(got), err, len(long))
		}
		if _, err := Decode(raw[:len(raw)/2], head, 4<<20); err == nil {
			t.Errorf("%s: half of it is decoded without an error", coding)
		}
		if _, err := Decode(raw, head, int64(len(long))-1); !errors.Is(err, ErrTooLarge) {
			t.Errorf("%s: %v with a limit one byte short, want ErrTooLarge", coding, err)
		}
	}
}

func TestABombTakesNoMemory(t *testing.T) {
	for _, coding := range []string{"gzip", "zstd"} {
		raw := code(t, coding, strings.Repeat("\x00", 33<<20))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Decode(raw, http.Header{"Content-Encoding": {coding}}, 32<<20)
		runtime.ReadMemStats(&after)
		if !errors.Is(err, ErrTooLarge) {
			t.Errorf("%s: %v, want ErrTooLarge", coding, err)
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > 24<<20 { // zstd's window is 8 MiB
			t.Errorf("%s: %d MiB allocated on the way", coding, took>>20)
		}
	}
}
