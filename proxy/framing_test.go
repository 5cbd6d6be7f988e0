package proxy_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
)

// RFC 9112 §6.1.
func TestContentLengthWithTransferEncodingIsAnswered400(t *testing.T) {
	var asked atomic.Int32
	h := func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		_, _ = io.Copy(w, r.Body)
	}
	b := newBench(t, origins{"a.test:80": plainOrigin(t, h), "a.test:443": tlsOrigin(t, h)}, nil)
	bad := " HTTP/1.1\r\nHost: a.test\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
	for base, open := range map[string]func() net.Conn{
		"http://a.test": func() net.Conn { return b.dial() },
		"":              func() net.Conn { return b.secure("a.test:443", "a.test") },
	} {
		asked.Store(0)
		if got := raw(t, open(), "POST "+base+"/"+bad); !strings.HasPrefix(got, "HTTP/1.1 400 ") || asked.Load() != 0 {
			t.Errorf("%q: %.60q", base, got)
		}
		// Later on a connection too, and good requests pass before it.
		c := open()
		r := bufio.NewReader(c)
		for _, good := range []string{
			"Content-Length: 5\r\n\r\nhello",
			"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
		} {
			io.WriteString(c, "POST "+base+"/ HTTP/1.1\r\nHost: a.test\r\n"+good)
			resp, err := http.ReadResponse(r, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got, _ := read(resp); got.StatusCode != http.StatusOK || got.Body != "hello" {
				t.Errorf("%q: %d %q", base, got.StatusCode, got.Body)
			}
		}
		io.WriteString(c, "POST "+base+"/"+bad)
		resp, err := http.ReadResponse(r, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := read(resp); got.StatusCode != http.StatusBadRequest || asked.Load() != 2 {
			t.Errorf("%q: the third request: %+v", base, got)
		}
	}
}
