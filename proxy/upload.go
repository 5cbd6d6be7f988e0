package proxy

import (
	"bytes"
	"io"
	"net/http"
)

// shortUpload is the length of content, in bytes, that is received before a request is answered.
const shortUpload = 64 << 10

// receiveUpload receives the content of a request over HTTP/2 if it is short, before anything answers it: an origin may
// answer before it has read it, and a refusal of ours needs none of it. The server would then reset the stream behind
// the answer (RFC 9113 §8.1), and some clients, such as curl before 8.0, take that for a failure if they have not sent
// all by then. A client that waits for 100 (Continue) waits for the answer. The error is one of reading.
func receiveUpload(r *http.Request) error {
	if r.ProtoMajor != 2 || r.ContentLength <= 0 || r.ContentLength > shortUpload || r.Header["Expect"] != nil {
		return nil
	}
	content, err := io.ReadAll(r.Body) // the server holds it to its length
	if err != nil {
		return err
	}
	r.Body = io.NopCloser(bytes.NewReader(content))
	return nil
}
