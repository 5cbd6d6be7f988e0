package proxy_test

import (
	"bytes"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/readthru/readthru/internal/hostrule"
	"github.com/readthru/readthru/proxy"
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
		"a star":                      {":path", "*"},
		"a space in the method":       {":path", "/", ":method", "GET /x HTTP/1.1"},
		"a method that is no token":   {":path", "/", ":method", "GE[T"},
		"a pseudo-field behind field": {":path", "/", "x", "y", ":scheme", "http"},
	} {
		f := frames{
			fields:  [][2]string{{":method", "POST"}, {":scheme", "https"}, {":authority", "a.test"}},
			content: "hello",
		}
		for i := 0; i < len(fields); i += 2 {
			if fields[i] == ":method" {
				f.fields[0][1] = fields[i+1]
				continue
			}
			f.fields = append(f.fields, [2]string{fields[i], fields[i+1]})
		}
		f.fields = append(f.fields, [2]string{"x-case", name})
		statuses := f.exchange(b)
		_, forwarded := asked.Load(name)
		if good := name == "good"; slices.Equal(statuses, []int{http.StatusOK}) != good || forwarded != good {
			t.Errorf("%s: %v, forwarded %v", name, statuses, forwarded)
		}
	}
}

// frames is a request of HTTP/2 as it is on the wire.
type frames struct {
	fields  [][2]string
	content string
	coded   bool // it was chunked in HTTP/1
}

// inFrames returns what a raw request of HTTP/1 is in HTTP/2, if its head has the form of one: fields are taken as they
// stand, and what stands behind the head is content up to the next request.
func inFrames(raw string) (f frames, ok bool) {
	head, content, _ := strings.Cut(raw, "\r\n\r\n")
	lines := strings.Split(head, "\r\n")
	first := strings.Split(lines[0], " ")
	if len(first) != 3 || first[2] != "HTTP/1.1" || first[1] == "" {
		return f, false
	}
	f.fields = [][2]string{{":method", first[0]}, {":scheme", "https"}, {":path", first[1]}}
	for _, line := range lines[1:] {
		name, value, found := strings.Cut(line, ":")
		if !found || strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t") { // goes on with the line before
			f.fields[len(f.fields)-1][1] += "\r\n" + line
			continue
		}
		if name = strings.ToLower(name); name == "host" {
			name = ":authority"
		}
		f.coded = f.coded || name == "transfer-encoding"
		f.fields = append(f.fields, [2]string{name, strings.TrimPrefix(value, " ")})
	}
	f.content, _, _ = strings.Cut(content, "GET ")
	// pseudo-fields come first
	slices.SortStableFunc(f.fields, func(a, b [2]string) int {
		pseudo := func(f [2]string) int { return strings.Index(f[0]+":", ":") }
		return min(1, pseudo(a)) - min(1, pseudo(b))
	})
	return f, true
}

// exchange sends the request in a tunnel and returns the status of its answer; none if the stream or the connection
// ended without one, and 0 if nothing came.
func (f *frames) exchange(b *bench) (statuses []int) {
	c, _ := b.connect("a.test:443")
	s := tls.Client(c, &tls.Config{RootCAs: b.roots, ServerName: "a.test", NextProtos: []string{"h2"}})
	defer s.Close() //nolint:errcheck // the answer was read
	io.WriteString(s, http2.ClientPreface)
	framer := http2.NewFramer(s, s)
	var block bytes.Buffer
	enc := hpack.NewEncoder(&block)
	for _, field := range f.fields {
		_ = enc.WriteField(hpack.HeaderField{Name: field[0], Value: field[1]})
	}
	_ = framer.WriteSettings()
	const most = 16 << 10
	fragment := block.Next(most)
	_ = framer.WriteHeaders(http2.HeadersFrameParam{
		StreamID: 1, BlockFragment: fragment, EndHeaders: block.Len() == 0, EndStream: f.content == "",
	})
	for block.Len() > 0 {
		_ = framer.WriteContinuation(1, block.Len() <= most, block.Next(most))
	}
	if f.content != "" {
		_ = framer.WriteData(1, true, []byte(f.content))
	}
	for {
		frame, err := framer.ReadFrame()
		if t, ok := err.(net.Error); ok && t.Timeout() { //nolint:errorlint // as the connection returns it
			return []int{0}
		}
		if err != nil {
			return nil
		}
		switch frame := frame.(type) {
		case *http2.HeadersFrame:
			list, _ := hpack.NewDecoder(4096, nil).DecodeFull(frame.HeaderBlockFragment())
			status, _ := strconv.Atoi(list[0].Value)
			return []int{status}
		case *http2.RSTStreamFrame, *http2.GoAwayFrame:
			return nil
		}
	}
}

// net/http keeps a buffer as large as the largest frame for as long as a connection lasts.
func TestShortBodiesAreWrittenInSmallFrames(t *testing.T) {
	b := newBench(t, origins{"a.test:443": tlsOrigin(t, func(w http.ResponseWriter, r *http.Request) {
		size, _ := strconv.Atoi(r.URL.Path[1:])
		w.Header().Set("Content-Length", r.URL.Path[1:])
		w.Header().Set("Content-Type", "image/png")
		w.Write(make([]byte, size)) //nolint:errcheck // the client would notice
	})}, nil)
	for _, size := range []int{100, 4 << 10, 10_000, 16 << 10} {
		c, _ := b.connect("a.test:443")
		s := tls.Client(c, &tls.Config{RootCAs: b.roots, ServerName: "a.test", NextProtos: []string{"h2"}})
		framer := http2.NewFramer(s, s)
		io.WriteString(s, http2.ClientPreface)
		_ = framer.WriteSettings()
		writeFields(framer, 1, ":method", "GET", ":scheme", "https", ":authority", "a.test", ":path",
			"/"+strconv.Itoa(size))
		got, largest := 0, 0
		for ended := false; !ended; {
			frame, err := framer.ReadFrame()
			if err != nil {
				t.Fatal(err)
			}
			if data, ok := frame.(*http2.DataFrame); ok {
				got, largest, ended = got+len(data.Data()), max(largest, len(data.Data())), data.StreamEnded()
			}
		}
		_ = s.Close()
		if got != size || largest > 4<<10 {
			t.Errorf("%d bytes of %d, the largest frame has %d", got, size, largest)
		}
	}
}

// writeFields begins a stream with fields, names and values in turn. It ends the stream if the first value is GET.
func writeFields(framer *http2.Framer, stream uint32, fields ...string) {
	var block bytes.Buffer
	enc := hpack.NewEncoder(&block)
	enc.SetMaxDynamicTableSize(0) // it is another encoder each time
	for i := 0; i < len(fields); i += 2 {
		_ = enc.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]})
	}
	_ = framer.WriteHeaders(http2.HeadersFrameParam{
		StreamID: stream, BlockFragment: block.Bytes(), EndHeaders: true, EndStream: fields[1] == http.MethodGet,
	})
}

// TestAnAnswerDoesNotComeBeforeAShortUpload has an origin answer before it has read what is sent to it, and the proxy
// refuse requests. The client's stream must not be reset: curl before 8.0 loses the answer then.
func TestAnAnswerDoesNotComeBeforeAShortUpload(t *testing.T) {
	b := newBench(t, origins{"a.test:443": tlsOrigin(t, func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, "the answer")
	})}, func(o *proxy.Options) { o.Rules = hostrule.Rules{{Host: "a.test", Path: "/blocked", Action: "block"}} })
	for _, tt := range []struct{ name, method, host, path, want string }{
		{"answered by the origin", "POST", "a.test", "/", "the answer"},
		{"blocked by a rule", "POST", "a.test", "/blocked", `"status":403`},
		{"malformed", "POST", "a.test", "/#x", `"status":400`},
		{"misdirected", "POST", "b.test", "/", `"status":421`},
		{"TRACE", "TRACE", "a.test", "/", `"status":405`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := answerBehindUpload(t, b, tt.method, tt.host, tt.path); !strings.Contains(got, tt.want) {
				t.Errorf("answer %q, want %s", got, tt.want)
			}
		})
	}
}

// answerBehindUpload sends a request of five bytes, the last three only after the answer to a second request has come.
// It returns the answer to the first, and fails the test if some of it comes before all was sent, or a reset behind it.
func answerBehindUpload(t *testing.T, b *bench, method, host, path string) (content string) {
	t.Helper()
	c, _ := b.connect("a.test:443")
	s := tls.Client(c, &tls.Config{RootCAs: b.roots, ServerName: "a.test", NextProtos: []string{"h2"}})
	defer s.Close() //nolint:errcheck // the answer was read
	io.WriteString(s, http2.ClientPreface)
	framer := http2.NewFramer(s, s)
	_ = framer.WriteSettings()
	const upload, other = 1, 3
	writeFields(framer, upload, ":method", method, ":scheme", "https", ":authority", host, ":path", path,
		"content-length", "5")
	_ = framer.WriteData(upload, false, []byte("he"))
	// it takes as long, so that an answer to the first would be there
	writeFields(framer, other, ":method", "GET", ":scheme", "https", ":authority", "a.test", ":path", "/")
	for sent := false; ; {
		frame, err := framer.ReadFrame()
		if err != nil {
			t.Fatalf("after %q: %v", content, err)
		}
		if frame.Header().StreamID == upload && !sent {
			t.Fatalf("%v before the request was complete", frame)
		}
		switch frame := frame.(type) {
		case *http2.RSTStreamFrame, *http2.GoAwayFrame:
			t.Fatalf("after %q: %v", content, frame)
		case *http2.DataFrame:
			switch {
			case frame.StreamID == other && frame.StreamEnded():
				sent = true
				_ = framer.WriteData(upload, true, []byte("llo"))
			case frame.StreamID == upload:
				content += string(frame.Data())
				if frame.StreamEnded() {
					_ = framer.WritePing(false, [8]byte{1}) // a reset would come before the answer to this
				}
			}
		case *http2.PingFrame:
			return content
		}
	}
}
