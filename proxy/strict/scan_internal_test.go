package strict

import (
	"errors"
	"strings"
	"testing"
)

func TestFramingIsCheckedHoweverItIsCut(t *testing.T) {
	const post, chunked = "POST / HTTP/1.1\r\nHost: a.test\r\n", "Transfer-Encoding: chunked\r\n\r\n"
	for _, tt := range []struct {
		name, sent string
		want       error
	}{
		{"no content", "GET / HTTP/1.1\r\nHost: a.test:80\r\n\r\n", nil},
		{"both framing fields", post + "Content-Length: 5\r\n" + chunked, errTwoFrames},
		{"the other way", post + "transfer-encoding:chunked\r\nCONTENT-LENGTH:5\r\n\r\n", errTwoFrames},
		{"with bare line feeds", "POST / HTTP/1.1\nContent-Length: 5\nTransfer-Encoding: chunked\n\n", errTwoFrames},
		{"empty lines before", "\r\n\r\n" + post + "Content-Length: 5\r\n" + chunked, errTwoFrames},
		{"one framing field", post + "Content-Length: 5\r\nX: Transfer-Encoding: chunked\r\n\r\nhello", nil},
		{"the second in the content", post + "Content-Length: 30\r\n\r\nTransfer-Encoding: chunked\r\n\r\n", nil},
		{
			"names that only begin so", post + "Content-Length: 0\r\nTransfer-Encodings: x\r\nX-Transfer-Encoding: x\r\n\r\n",
			nil,
		},
		{"in the target", "POST /content-length:5 HTTP/1.1\r\n" + chunked + "0\r\n\r\n", nil},
		{"chunked in HTTP/1.0", "POST / HTTP/1.0\r\n" + chunked, errOldCoding},
		{"lengths that differ", post + "Content-Length: 5\r\nContent-Length: 6\r\n\r\n", errLength},
		{"a length that is a list", post + "Content-Length: 5, 5\r\n\r\n", errLength},
		{"a length with a sign", post + "Content-Length: +5\r\n\r\n", errLength},
		{"an empty length", post + "Content-Length: \r\n\r\n", errLength},
		{"only carriage returns", "GET / HTTP/1.1\rHost: a.test\r\r", errBareCR},
		{"a carriage return in a value", "GET / HTTP/1.1\r\nX: a\rb\r\n\r\n", errBareCR},
		{"a folded field", "GET / HTTP/1.1\r\nX: a\r\n b\r\n\r\n", errFold},
		{"a port that is junk", "GET http://a.test/ HTTP/1.1\r\nHost: a.test:80x\r\n\r\n", errHost},
		{"a port that is too large", "GET http://a.test/ HTTP/1.1\r\nHost: a.test:99999\r\n\r\n", errHost},
		{"user info in Host", "GET http://a.test/ HTTP/1.1\r\nHost: b@a.test\r\n\r\n", errHost},
		{"an empty Host", "GET http://a.test/ HTTP/1.1\r\nHost: \r\n\r\n", nil},
		{"two dots in Host", "GET http://a.test/ HTTP/1.1\r\nHost: a..test\r\n\r\n", errHost},
		{"an address as Host", "GET / HTTP/1.1\r\nHost: [::1]:8080\r\n\r\n", nil},

		{"chunks", post + chunked + "5\r\nhello\r\n0A;x=\"y\"\r\n0123456789\r\n0\r\nX: y\r\n\r\n", nil},
		{"last chunk with a bare line feed", post + chunked + "5\r\nhello\r\n0\r\n\n", errBareLF},
		{"size with a bare line feed", post + chunked + "5\nhello\r\n0\r\n\r\n", errBareLF},
		{"trailer with a bare line feed", post + chunked + "0\r\nX: y\n\r\n", errBareLF},
		{"chunk longer than its size", post + chunked + "5\r\nhelloXX\r\n0\r\n\r\n", errChunk},
		{"size that is no number", post + chunked + "zz\r\nhello\r\n0\r\n\r\n", errChunk},
		{"size with space before", post + chunked + " 5\r\nhello\r\n0\r\n\r\n", errChunk},
		{"no size", post + chunked + "\r\nhello\r\n0\r\n\r\n", errChunk},
		{"size with many zeros", post + chunked + strings.Repeat("0", 40) + "5\r\nhello\r\n0\r\n\r\n", nil},
		{"size over 32 bits", post + chunked + "100000005\r\nhello\r\n0\r\n\r\n", errChunkSize},
		{"size over 64 bits", post + chunked + "FFFFFFFFFFFFFFFFF\r\n", errChunkSize},
		{"size of 32 bits", post + chunked + "00FFFFFFFF\r\nhello", nil},

		{"bad head behind a length", post + "Content-Length: 5\r\n\r\nhelloGET / HTTP/1.1\rX", errBareCR},
		{"bad head behind chunks", post + chunked + "1\r\na\r\n0\r\n\r\nGET / HTTP/1.1\rX", errBareCR},
		{"bad head behind none", "GET / HTTP/1.1\r\n\r\nGET / HTTP/1.1\rX", errBareCR},
		{"after CONNECT all passes", "CONNECT a.test:443 HTTP/1.1\r\n\r\n\x16\r\r", nil},
		{"after an upgrade all passes", "GET / HTTP/1.1\r\nUpgrade: websocket\r\n\r\n\r\r", nil},
	} {
		for size := 1; size <= len(tt.sent); size++ {
			var s Scan
			var passed int
			var err error
			for rest := []byte(tt.sent); len(rest) > 0 && err == nil; rest = rest[min(size, len(rest)):] {
				var n int
				n, err = s.Read(rest[:min(size, len(rest))])
				passed += n
			}
			if !errors.Is(err, tt.want) || err == nil && passed != len(tt.sent) {
				t.Fatalf("%s, in parts of %d: %v after %q, want %v", tt.name, size, err, tt.sent[:passed], tt.want)
			}
		}
	}
}

func FuzzScan(f *testing.F) {
	f.Add([]byte("POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nhelloGET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n"), 3)
	f.Fuzz(func(t *testing.T, sent []byte, cut int) {
		var whole, parts Scan
		n, err := whole.Read(sent)
		cut = max(0, min(cut, len(sent)))
		m, cutErr := parts.Read(sent[:cut])
		if cutErr == nil {
			var more int
			more, cutErr = parts.Read(sent[cut:])
			m += more
		}
		if n != m || !errors.Is(cutErr, err) {
			t.Fatalf("%d bytes and %v, in two parts %d and %v: %q", n, err, m, cutErr, sent)
		}
	})
}

func BenchmarkScanOfAHead(b *testing.B) {
	head := []byte("GET http://docs.example.com/guide/start HTTP/1.1\r\nHost: docs.example.com\r\nUser-Agent: curl/8.5.0\r\n" +
		"Accept: */*\r\nProxy-Connection: Keep-Alive\r\n\r\n")
	var s Scan
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Read(head); err != nil {
			b.Fatal(err)
		}
	}
}
