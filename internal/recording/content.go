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

// content is a request's content that computes its name while it is read.
type content struct {
	io.ReadCloser
	multipart bool
	sum       hash.Hash
	n         int64
	whole     bool // read to its end
}

// watch wraps r's content, or returns nil if r has none.
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

// name returns what identifies the content: its hash. For multipart content it is the length, because the boundary is
// random. For content that was not read to its end it is [unread]. Without content it is empty.
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

// unread is the name of content that was not read before the answer ended.
const unread = "unread"
