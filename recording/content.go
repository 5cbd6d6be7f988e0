package recording

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"mime"
	"net/http"
	"strings"
)

// content makes what a request's content is known by while the content is read.
type content struct {
	io.ReadCloser
	multipart bool
	sum       hash.Hash
	n         int64
	whole     bool
}

// watch returns r's content as something that learns what it is known by, or nil when r has none.
func watch(r *http.Request) *content {
	if r.Body == nil || r.Body == http.NoBody || r.ContentLength == 0 {
		return nil
	}
	media, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return &content{ReadCloser: r.Body, multipart: strings.HasPrefix(media, "multipart/"), sum: sha256.New()}
}

// Read implements [io.Reader].
func (c *content) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.sum.Write(p[:n])
	c.n += int64(n)
	c.whole = c.whole || err == io.EOF
	return n, err
}

// name is what the content is known by: its hash; for a multipart body its length, since the boundary in it is drawn
// anew each time; and for one that was not read to its end, that alone.
func (c *content) name() string {
	switch {
	case c == nil:
		return ""
	case !c.whole:
		return unread
	case c.multipart:
		return fmt.Sprintf("multipart:%d", c.n)
	}
	return "sha256:" + hex.EncodeToString(c.sum.Sum(nil))
}

// unread names content that the answer did not wait for.
const unread = "unread"
