package proxy_test

import (
	"bytes"
	"crypto/tls"
	"io"
	"net/http"
	"sync"
	"testing"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// What HTTP/1 cannot express is refused in HTTP/2, too: it would be forwarded as something else.
func TestHTTP2RequestsThatTwoParsersCouldReadDifferently(t *testing.T) {
	var asked sync.Map // by case
	b := newBench(t, origins{"a.test:443": tlsOrigin(t, func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			panic(http.ErrAbortHandler)
		}
		asked.Store(r.Header.Get("X-Case"), true)
	})}, nil)
	for name, fields := range map[string][]string{
		"good":                        {":path", "/a"},
		"a space in the path":         {":path", "/a b"},
		"two lengths":                 {":path", "/", "content-length", "5", "content-length", "6"},
		"a length that is no number":  {":path", "/", "content-length", "5x"},
		"a length and other content":  {":path", "/", "content-length", "6"},
		"a field of the connection":   {":path", "/", "connection", "close"},
		"TE other than trailers":      {":path", "/", "te", "gzip"},
		"a line feed in a field":      {":path", "/", "x", "a\nb"},
		"an upper-case field":         {":path", "/", "X-A", "b"},
		"a path that is no path":      {":path", "http://b.test/"},
		"another authority in :path":  {":path", "@b.test/"},
		"a pseudo-field behind field": {":path", "/", "x", "y", ":scheme", "http"},
	} {
		c, _ := b.connect("a.test:443")
		s := tls.Client(c, &tls.Config{RootCAs: b.roots, ServerName: "a.test", NextProtos: []string{"h2"}})
		io.WriteString(s, http2.ClientPreface)
		framer := http2.NewFramer(s, s)
		var block bytes.Buffer
		enc := hpack.NewEncoder(&block)
		for _, f := range [][2]string{{":method", "POST"}, {":scheme", "https"}, {":authority", "a.test"}} {
			_ = enc.WriteField(hpack.HeaderField{Name: f[0], Value: f[1]})
		}
		for i := 0; i < len(fields); i += 2 {
			_ = enc.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]})
		}
		_ = enc.WriteField(hpack.HeaderField{Name: "x-case", Value: name})
		_ = framer.WriteSettings()
		_ = framer.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: block.Bytes(), EndHeaders: true})
		_ = framer.WriteData(1, true, []byte("hello"))
		status := ""
		for status == "" {
			frame, err := framer.ReadFrame()
			if err != nil {
				status = "connection closed"
				break
			}
			switch frame := frame.(type) {
			case *http2.HeadersFrame:
				list, _ := hpack.NewDecoder(4096, nil).DecodeFull(frame.HeaderBlockFragment())
				status = list[0].Value
			case *http2.RSTStreamFrame:
				status = "stream reset"
			case *http2.GoAwayFrame:
				status = "connection closed"
			}
		}
		_, forwarded := asked.Load(name)
		if good := name == "good"; (status == "200") != good || forwarded != good {
			t.Errorf("%s: %s, forwarded %v", name, status, forwarded)
		}
		_ = s.Close()
	}
}
