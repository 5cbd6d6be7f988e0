package proxy

import (
	"net/http"
	"time"
)

const (
	// streamTime is how long an HTTP/2 client may keep the window of a stream closed.
	streamTime = 10 * time.Minute
	// maxStreamWrite is how much of a body one write to an HTTP/2 stream holds.
	maxStreamWrite = 64 << 10
	// At most shortBody bytes at once, as most pages are, are written in pieces of shortStreamWrite: net/http keeps a
	// buffer as large as the largest piece for as long as the connection lasts.
	shortBody        = 16 << 10
	shortStreamWrite = 4 << 10
)

// writeToStream writes p to an HTTP/2 stream, which it resets if one piece takes too long: a client may read its
// connection and still keep the window of a stream closed.
func writeToStream(w http.ResponseWriter, p []byte) (n int, err error) {
	limit := time.AfterFunc(streamTime, func() {
		http.NewResponseController(w).SetWriteDeadline(time.Unix(1, 0)) //nolint:errcheck // the client has left
	})
	defer limit.Stop()
	piece := maxStreamWrite
	if len(p) <= shortBody {
		piece = shortStreamWrite
	}
	for n < len(p) && err == nil {
		limit.Reset(streamTime)
		var m int
		m, err = w.Write(p[n:min(n+piece, len(p))])
		n += m
	}
	return n, err
}
