package proxy

import (
	"strings"
	"testing"
)

func TestHeadWithBothFramingFieldsIsSpoiledHoweverItIsCut(t *testing.T) {
	for _, tt := range []struct {
		name, head string
		spoiled    bool
	}{
		{"both", "POST / HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", true},
		{"the other way", "POST / HTTP/1.1\r\ntransfer-encoding:chunked\r\nCONTENT-LENGTH:5\r\n\r\n", true},
		{"bare line feeds", "POST / HTTP/1.1\nContent-Length: 5\nTransfer-Encoding: chunked\n\n", true},
		{"empty lines before", "\r\n\r\nPOST / HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", true},
		{"one", "POST / HTTP/1.1\r\nContent-Length: 5\r\nX: Transfer-Encoding: chunked\r\n\r\n", false},
		{"the second in the body", "POST / HTTP/1.1\r\nContent-Length: 30\r\n\r\nTransfer-Encoding: chunked\r\n\r\n", false},
		{
			"names that only begin so",
			"POST / HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encodings: x\r\nX-Transfer-Encoding: x\r\n\r\n", false,
		},
		{"in the target", "GET /content-length:5 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", false},
	} {
		for size := 1; size <= len(tt.head); size++ {
			s := headScan{inside: true}
			var got strings.Builder
			for rest := tt.head; rest != ""; {
				part := []byte(rest[:min(size, len(rest))])
				rest = rest[len(part):]
				if s.inside {
					s.read(part)
				}
				got.Write(part)
			}
			if spoiled := got.String() != tt.head; spoiled != tt.spoiled {
				t.Fatalf("%s, in parts of %d: spoiled %v, want %v: %q", tt.name, size, spoiled, tt.spoiled, got.String())
			}
		}
	}
}

func FuzzHeadScanChangesAtMostOneColon(f *testing.F) {
	f.Add([]byte("POST / HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"))
	f.Fuzz(func(t *testing.T, head []byte) {
		s := headScan{inside: true}
		got := append([]byte(nil), head...)
		s.read(got)
		changed := 0
		for i := range head {
			if head[i] != got[i] {
				changed++
				if head[i] != ':' || got[i] != ' ' {
					t.Fatalf("%q became %q", head, got)
				}
			}
		}
		if changed > 1 {
			t.Fatalf("%q became %q", head, got)
		}
	})
}
