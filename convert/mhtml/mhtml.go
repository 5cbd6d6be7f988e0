// Package mhtml finds the page in a web archive: a MIME message of a page and what it is made of, as browsers save them
// (RFC 2557).
package mhtml

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"strings"

	"github.com/readthru/readthru/convert/guard"
)

// Type is the media type of a web archive.
const Type = "multipart/related"

// maxParts is how many parts of a message are looked at for the page.
const maxParts = 5000

// ErrNoPage is the error of a message without a page.
var ErrNoPage = errors.New("the message holds no page")

// Page is the page of a web archive. ContentType is as the part states it, with its charset.
type Page struct {
	Content     []byte
	ContentType string
	Location    string // address of the page, as it is stated; may be empty
	Cut         bool   // the page is longer than the limit
}

// Is reports whether content begins with the fields of a web archive. It looks at 4 KiB, and asks that they begin with
// the name of a field.
func Is(content []byte) bool {
	head := bytes.ToLower(content[:min(len(content), 4<<10)])
	name, _, ok := bytes.Cut(head, []byte(":"))
	return ok && len(name) > 0 && !bytes.ContainsAny(name, " \t\r\n<{[\"") &&
		bytes.Contains(head, []byte("mime-version:")) && bytes.Contains(head, []byte("multipart/related"))
}

// Read returns the page of a web archive: the part that it names as its start, or else the first one that is HTML. Of
// its content it reads limit bytes at most. The error is [ErrNoPage] where the message has none, or says what of it
// could not be read. When ctx ends, Read panics with a value for guard.Run.
func Read(ctx context.Context, content []byte, limit int) (*Page, error) {
	message, err := mail.ReadMessage(bytes.NewReader(content))
	if err != nil {
		return nil, fmt.Errorf("read the fields of the message: %w", err)
	}
	kind, params, err := mime.ParseMediaType(message.Header.Get("Content-Type"))
	if err != nil {
		return nil, fmt.Errorf("read the type of the message: %w", err)
	}
	location := message.Header.Get("Snapshot-Content-Location")
	if location == "" {
		location = message.Header.Get("Content-Location")
	}
	if kind == "text/html" {
		p := &Page{ContentType: message.Header.Get("Content-Type"), Location: location}
		return p, p.read(message.Body, message.Header.Get("Content-Transfer-Encoding"), limit)
	}
	if !strings.HasPrefix(kind, "multipart/") || params["boundary"] == "" {
		return nil, ErrNoPage
	}
	parts := multipart.NewReader(message.Body, params["boundary"])
	var first *Page
	for range maxParts {
		guard.Check(ctx)
		part, err := parts.NextRawPart()
		if err != nil {
			break
		}
		stated := part.Header.Get("Content-Type")
		kind, _, _ := mime.ParseMediaType(stated)
		isStart := params["start"] != "" && part.Header.Get("Content-ID") == params["start"]
		if kind != "text/html" && kind != "application/xhtml+xml" || first != nil && !isStart {
			continue
		}
		p := &Page{ContentType: stated, Location: part.Header.Get("Content-Location")}
		if p.Location == "" || strings.HasPrefix(p.Location, "cid:") {
			p.Location = location
		}
		if err := p.read(part, part.Header.Get("Content-Transfer-Encoding"), limit); err != nil && len(p.Content) == 0 {
			continue
		}
		if first = p; isStart || params["start"] == "" {
			break
		}
	}
	if first == nil {
		return nil, ErrNoPage
	}
	return first, nil
}

// read reads the content of a part of a web archive in its transfer encoding. What could be read before an error stays
// in Content.
func (p *Page) read(r io.Reader, coding string, limit int) error {
	switch strings.ToLower(strings.TrimSpace(coding)) {
	case "quoted-printable":
		r = quotedprintable.NewReader(r)
	case "base64":
		r = base64.NewDecoder(base64.StdEncoding, r)
	}
	content, err := io.ReadAll(io.LimitReader(r, int64(limit)+1))
	if len(content) > limit {
		content, p.Cut = content[:limit], true
	}
	p.Content = content
	if err != nil {
		return fmt.Errorf("read the page of the message: %w", err)
	}
	return nil
}
