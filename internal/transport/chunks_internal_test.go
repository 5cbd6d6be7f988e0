package transport

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httputil"
	"strings"
	"testing"
)

// Bodies of chunks of every size, whole, broken off and malformed, cut anywhere, come out as they were.
func TestJoinedChunksHoldTheSameContent(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		var body bytes.Buffer
		for range r.IntN(60) {
			size := []int{1, 1, 1, 2, 9, 15, 16, 40, 300, 5000}[r.IntN(10)]
			form := []string{"%x\r\n", "%X\r\n", "%02x\r\n", "%x;ext=1\r\n", "%x \r\n", "%x\n"}[max(0, r.IntN(20)-14)]
			fmt.Fprintf(&body, form, size)
			for range size {
				body.WriteByte("01\r\nax"[r.IntN(6)])
			}
			body.WriteString([]string{"\r\n", "\n", "x\r\n"}[max(0, r.IntN(300)-297)])
		}
		body.WriteString("0\r\nTrailer: x\r\n\r\nand more")
		text := body.Bytes()
		if r.IntN(3) == 0 {
			text = text[:r.IntN(len(text)+1)]
		}
		want, wantErr := io.ReadAll(httputil.NewChunkedReader(bytes.NewReader(text)))
		cut := &cutReader{rest: bytes.Clone(text), random: r}
		got, gotErr := io.ReadAll(httputil.NewChunkedReader(cut))
		if !bytes.Equal(got, want) || (gotErr == nil) != (wantErr == nil) {
			t.Fatalf("%q:\n got %q, %v\nwant %q, %v", text, got, gotErr, want, wantErr)
		}
	}
}

// cutReader gives a text in random pieces, with its chunks joined.
type cutReader struct {
	rest   []byte
	chunks chunks
	random *rand.Rand
}

func (c *cutReader) Read(p []byte) (int, error) {
	if len(c.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), 1+c.random.IntN(200))], c.rest)
	c.rest = c.rest[n:]
	return c.chunks.join(p[:n]), nil
}

// A body in chunks of one byte reaches its reader in large pieces, through net/http's own transport.
func TestChunksOfOneByteAreReadTogether(t *testing.T) {
	const size = 1 << 20
	ours, theirs := net.Pipe()
	t.Cleanup(func() { _ = ours.Close() })
	go func() {
		defer func() { _ = theirs.Close() }()
		if _, err := theirs.Read(make([]byte, 4096)); err != nil {
			return
		}
		_, _ = io.WriteString(theirs, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"+
			strings.Repeat("1\r\nx\r\n", size)+"0\r\nDone: yes\r\n\r\n")
	}()
	conn := &strictConn{Conn: ours}
	transport := &http.Transport{
		DialContext: func(context.Context, string, string) (net.Conn, error) { return conn, nil },
	}
	req, err := http.NewRequestWithContext(watched(t.Context(), http.MethodGet), http.MethodGet, "http://a.test/", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := transport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	total, reads := 0, 0
	for buf := make([]byte, 32<<10); ; reads++ {
		n, err := resp.Body.Read(buf)
		total += n
		if err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if total != size || resp.Trailer.Get("Done") != "yes" {
		t.Errorf("%d bytes and trailers %v, want %d and the trailer", total, resp.Trailer, size)
	}
	if reads > size/2000 {
		t.Errorf("%d reads, want at most one for 2,000 bytes", reads)
	}
	if conn.wide != nil {
		t.Error("the connection keeps the wide buffer")
	}
}
