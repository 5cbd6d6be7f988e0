package media

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

// Why content of a response cannot be read or decoded.
var (
	ErrIncomplete    = errors.New("the response is incomplete")
	ErrTooLarge      = errors.New("the content is larger than fetch.max_body")
	ErrUnknownCoding = errors.New("the content coding is unknown")
	ErrCoding        = errors.New("the content does not match its Content-Encoding")
)

const (
	// maxWindow is the largest zstd window, in bytes (RFC 9659 §3).
	maxWindow = 8 << 20

	// decodedOnce is how long content may be, in bytes, to be decoded into a buffer that grows. Few pages are longer.
	decodedOnce = 1 << 20
)

// Read reads and decodes the content of a response, both at most limit bytes. After ErrTooLarge and the errors of
// [Decode], the response's body still gives the whole content, from its first byte.
func Read(resp *http.Response, limit int64) (raw, content []byte, err error) {
	if resp.ContentLength > limit {
		return nil, nil, ErrTooLarge
	}
	var buf bytes.Buffer
	if n := resp.ContentLength; n > 0 {
		buf.Grow(int(n) + bytes.MinRead)
	}
	n, err := buf.ReadFrom(io.LimitReader(resp.Body, limit+1))
	if err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			err = fmt.Errorf("%w: %w", ErrIncomplete, err)
		}
		return nil, nil, err
	}
	raw = buf.Bytes()
	resp.Body = Replayed(raw, resp.Body)
	if n > limit {
		return nil, nil, ErrTooLarge
	}
	content, err = Decode(raw, resp.Header, limit)
	return raw, content, err
}

// Decode removes the content codings of h (RFC 9110 §8.4) from a whole body. Without codings it returns raw itself. It
// returns ErrTooLarge if a coding yields more than limit bytes, ErrUnknownCoding, or ErrCoding for a body that is
// truncated or malformed. It rejects more than three codings as an attack: messages have one, rarely two.
func Decode(raw []byte, h http.Header, limit int64) (_ []byte, err error) {
	list := Codings(h)
	if len(list) > 3 {
		return nil, fmt.Errorf("%w: %d codings", ErrUnknownCoding, len(list))
	}
	for _, coding := range slices.Backward(list) {
		if raw, err = decodeOne(raw, coding, limit); err != nil {
			return nil, err
		}
	}
	return raw, nil
}

// decodeOne removes one content coding. What is long is decoded twice, first to learn its length: a buffer that grows
// takes up to three times as much memory. What is too large is never in memory whole.
func decodeOne(raw []byte, coding string, limit int64) ([]byte, error) {
	r, err := Decoder(bytes.NewReader(raw), coding)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var out bytes.Buffer
	out.Grow(int(min(int64(len(raw))*4, limit, decodedOnce)))
	n, err := io.Copy(&out, io.LimitReader(r, min(limit, decodedOnce)+1))
	if err == nil && n > decodedOnce {
		var more int64
		more, err = io.Copy(io.Discard, io.LimitReader(r, limit+1-n))
		n += more
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrCoding, err)
	case n > limit:
		return nil, ErrTooLarge
	case n > decodedOnce:
		return decodeExactly(raw, coding, n)
	}
	return out.Bytes(), nil
}

// decodeExactly removes a content coding from content that is n bytes long without it, into a buffer of that length.
func decodeExactly(raw []byte, coding string, n int64) ([]byte, error) {
	r, err := Decoder(bytes.NewReader(raw), coding)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	out := make([]byte, n)
	if _, err := io.ReadFull(r, out); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCoding, err)
	}
	return out, nil
}

// Codings returns the content codings in Content-Encoding in the order they were applied, identity left out.
func Codings(h http.Header) []string {
	var list []string
	for _, line := range h.Values("Content-Encoding") {
		for c := range strings.SplitSeq(line, ",") {
			if c = strings.ToLower(strings.TrimSpace(c)); c != "" && c != "identity" {
				list = append(list, c)
			}
		}
	}
	return list
}

// Decoder returns a reader that removes one content coding, with memory for a window of 8 MiB at most. The error wraps
// ErrUnknownCoding or ErrCoding. The caller closes the reader, which does not close r.
func Decoder(r io.Reader, coding string) (rc io.ReadCloser, err error) {
	switch coding {
	case "gzip", "x-gzip":
		rc, err = gzip.NewReader(r)
	case "deflate":
		rc, err = inflate(r)
	case "br":
		return io.NopCloser(brotli.NewReader(r)), nil
	case "zstd":
		var d *zstd.Decoder
		if d, err = zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(maxWindow)); err == nil {
			return d.IOReadCloser(), nil
		}
	default:
		return nil, fmt.Errorf("%w: %q", ErrUnknownCoding, coding)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCoding, err)
	}
	return rc, nil
}

// inflate decodes the coding "deflate": the zlib format (RFC 9110 §8.4.1.2) or, from some origins, raw deflate. The
// first two bytes of zlib name the method 8 and are a multiple of 31 (RFC 1950 §2.2).
func inflate(r io.Reader) (io.ReadCloser, error) {
	b := bufio.NewReader(r)
	head, err := b.Peek(2)
	if err == nil && head[0]&0x0f == 8 && (int(head[0])<<8|int(head[1]))%31 == 0 {
		return zlib.NewReader(b)
	}
	return flate.NewReader(b), nil
}

// DecodeBody removes the one content coding of a response while it is read, for streams. On an error it closes the
// body.
func DecodeBody(resp *http.Response) error {
	list := Codings(resp.Header)
	if len(list) == 0 {
		return nil
	}
	body := resp.Body
	if len(list) > 1 {
		body.Close()
		return ErrUnknownCoding
	}
	r, err := Decoder(body, list[0])
	if errors.Is(err, io.EOF) { // an empty body has no coding
		body.Close()
		resp.Body = http.NoBody
		return nil
	}
	if err != nil {
		body.Close()
		return err
	}
	resp.Body = ReadThrough(r, body)
	return nil
}
