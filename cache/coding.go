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

	"github.com/readthru/readthru/internal/httpfield"
)

// A codingState is the result of verifying the content coding of a body that is to be stored.
type codingState int

const (
	codingWhole codingState = iota // it is complete, or its coding is unknown
	// not in that coding, with trailing bytes, or too large when decoded: do not store.
	codingUnknown
	codingBroken // it began correctly but is truncated or damaged
)

// errUnknownCoding means that a coding cannot be verified here, which is no fault of the body.
var errUnknownCoding = errors.New("unknown content coding")

// zstdWindow is the largest window of a zstd frame that HTTP allows, in bytes (RFC 9659).
const zstdWindow = 8 << 20

// verifyCoding decodes a copy of a body to check that its content codings are complete, before it is stored: correct
// framing does not exclude a gzip stream that was truncated before it was framed. It decodes at most limit bytes. The
// error describes the damage.
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
		return codingWhole, nil // empty, like the response to a HEAD
	}
	var decoded io.Reader = buffered
	for _, coding := range slices.Backward(codings) { // remove the last applied one first
		next, closer, err := decoder(coding, decoded)
		if errors.Is(err, errUnknownCoding) {
			return codingWhole, nil // only the framing can be checked
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
		return codingUnknown, nil // trailing bytes after the last gzip member: pass them on
	case err != nil:
		return codingBroken, fmt.Errorf("decode %s: %w", strings.Join(codings, ", "), err)
	}
	return codingWhole, nil
}

// decoder returns a reader that removes a content coding from r, and a function to call when done with it, or nil.
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
		return flate.NewReader(b), nil, nil // raw deflate, as some origins send it
	}
	return nil, nil, errUnknownCoding
}
