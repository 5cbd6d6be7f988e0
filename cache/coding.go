package cache

import (
	"bufio"
	"compress/flate"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"readthru/httpfield"
)

// A codingState is what verifying the content coding of a body found.
type codingState int

const (
	codingWhole codingState = iota // it ended where the coding ends, or the coding is not one we know
	// not that coding at all, with something behind its end, or too large decoded: do not store.
	codingUnknown
	codingBroken // it began well and was cut or damaged
)

var errUnknownCoding = errors.New("unknown content coding")

// zstdWindow is the largest window of a zstd frame that HTTP allows, in bytes (RFC 9659).
const zstdWindow = 8 << 20

// verifyCoding decodes a copy of a body to learn whether its content codings ended well: framing that did tells nothing
// of a gzip stream that was cut before it was framed. It decodes at most limit bytes. The error names what is wrong.
func verifyCoding(fields []string, body io.Reader, limit int64) (codingState, error) {
	var codings []string
	for coding := range httpfield.Elements(fields) {
		if coding = strings.ToLower(coding); coding != "identity" {
			codings = append(codings, coding)
		}
	}
	if len(codings) == 0 {
		return codingWhole, nil
	}
	if len(codings) > 2 {
		return codingUnknown, nil
	}
	buffered := bufio.NewReader(body)
	if _, err := buffered.Peek(1); err != nil {
		return codingWhole, nil // empty, as the answer to a HEAD would be
	}
	var decoded io.Reader = buffered
	for _, coding := range slices.Backward(codings) { // the last one applied comes off first
		next, closer, err := decoder(coding, decoded)
		if errors.Is(err, errUnknownCoding) {
			return codingWhole, nil // only framing tells
		}
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return codingBroken, fmt.Errorf("decode %s: %w", coding, err)
		}
		if err != nil {
			return codingUnknown, nil
		}
		if closer != nil {
			defer closer()
		}
		decoded = next
	}
	n, err := io.Copy(io.Discard, io.LimitReader(decoded, limit+1))
	switch {
	case err == nil && n > limit:
		return codingUnknown, nil
	case errors.Is(err, gzip.ErrHeader) && n > 0:
		return codingUnknown, nil // something behind the last gzip member: not ours to refuse
	case err != nil:
		return codingBroken, fmt.Errorf("decode %s: %w", strings.Join(codings, ", "), err)
	}
	return codingWhole, nil
}

// decoder returns a reader that takes a coding off r, and what to call when done with it.
func decoder(coding string, r io.Reader) (decoded io.Reader, done func(), err error) {
	switch coding {
	case "gzip", "x-gzip":
		z, err := gzip.NewReader(r)
		return z, nil, err
	case "br":
		return brotli.NewReader(r), nil, nil
	case "zstd":
		z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(zstdWindow))
		if err != nil {
			return nil, nil, err
		}
		return z, z.Close, nil
	case "deflate":
		b := bufio.NewReader(r)
		if head, err := b.Peek(2); err == nil && head[0]&0x0f == 8 && (int(head[0])<<8|int(head[1]))%31 == 0 {
			z, err := zlib.NewReader(b)
			return z, nil, err
		}
		return flate.NewReader(b), nil, nil // bare, as some origins send it
	}
	return nil, nil, errUnknownCoding
}
