package pack

import (
	"bufio"
	"bytes"
	"crypto/ed25519"
	"crypto/sha512"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/readthru/readthru/knowledge/archive"
	"github.com/readthru/readthru/page"
)

// A pack is a knowledge base in one file: packMagic; a zstd stream of JSON lines, a [Head] and then a
// [Document] for each document; the signer's public key; and its signature of packContext and the SHA-512 of all
// that stands before the signature. The index is not in it: it is made anew in seconds.
const (
	packMagic   = "readthru pack 1\n"
	packContext = "readthru pack 1: "
	packTrailer = ed25519.PublicKeySize + ed25519.SignatureSize
)

// Head is the first line.
type Head struct {
	Name        string    `json:"name"`
	Description string    `json:"description,omitempty"`
	Source      string    `json:"source_type"`
	URL         string    `json:"url,omitempty"`
	Limit       int       `json:"limit,omitempty"`
	Depth       int       `json:"depth,omitempty"`
	Include     []string  `json:"include,omitempty"`
	Exclude     []string  `json:"exclude,omitempty"`
	PackedAt    time.Time `json:"packed_at"`
	Documents   int       `json:"documents"`
}

// Document is any other line.
type Document struct {
	URL       string        `json:"url"`
	Title     string        `json:"title,omitempty"`
	Kind      string        `json:"kind"`
	Label     string        `json:"label,omitempty"`
	Ingested  bool          `json:"ingested,omitempty"`
	Metadata  page.Metadata `json:"metadata,omitempty"`
	FetchedAt time.Time     `json:"fetched_at,omitzero"`
	Markdown  string        `json:"markdown"`
}

// Bounds of a pack, whatever it says of itself.
const (
	packWindow       = 8 << 20
	maxPackDocuments = 1_000_000
	maxPackLine      = 2 * archive.MaxDocument
)

// ErrBadPack means that a file is not a pack, or was cut short or changed after signing.
var ErrBadPack = errors.New("not a valid pack")

// UnknownSignerError says that a pack is intact but its signer is not trusted.
type UnknownSignerError struct {
	Signer string // see [Signer.ID]
}

// Error names the signer of the pack.
func (e *UnknownSignerError) Error() string {
	return fmt.Sprintf("the pack is signed by %s, an unknown signer", e.Signer)
}

// Writer writes a pack.
type Writer struct {
	signer *Signer
	hash   hash.Hash
	out    *bufio.Writer
	both   io.Writer // hash and out
	z      *zstd.Encoder
	lines  *json.Encoder
}

// NewWriter begins a pack. The caller closes it.
func NewWriter(w io.Writer, s *Signer, head Head) (*Writer, error) {
	p := &Writer{signer: s, hash: sha512.New(), out: bufio.NewWriterSize(w, 64<<10)}
	p.both = io.MultiWriter(p.hash, p.out)
	if _, err := io.WriteString(p.both, packMagic); err != nil {
		return nil, err
	}
	z, err := zstd.NewWriter(p.both, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(packWindow))
	if err != nil {
		return nil, err
	}
	p.z, p.lines = z, json.NewEncoder(z)
	p.lines.SetEscapeHTML(false)
	if err := p.Add(head); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// Add writes a line: a Document.
func (p *Writer) Add(line any) error { return p.lines.Encode(line) }

// Close ends a pack that is given up, and frees what it holds.
func (p *Writer) Close() { _ = p.z.Close() } // its error was that of Finish, or nobody reads the pack

// Finish ends a pack and signs it: the signature is of the hash of all that stands before, the public key included.
func (p *Writer) Finish() error {
	if err := p.z.Close(); err != nil {
		return err
	}
	public := p.signer.key.Public().(ed25519.PublicKey)
	if _, err := p.both.Write(public); err != nil {
		return err
	}
	if _, err := p.both.Write(ed25519.Sign(p.signer.key, append([]byte(packContext), p.hash.Sum(nil)...))); err != nil {
		return err
	}
	return p.out.Flush()
}

// Reader reads the lines of a pack.
type Reader struct {
	z     *zstd.Decoder
	lines *bufio.Reader
	left  int64
}

// Open begins to read a pack that was verified: its documents may have most bytes together. The caller closes it.
func Open(r io.ReaderAt, size, most int64) (*Reader, Head, error) {
	body := io.NewSectionReader(r, int64(len(packMagic)), size-int64(len(packMagic))-packTrailer)
	z, err := zstd.NewReader(body, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(packWindow),
		zstd.WithDecoderLowmem(true))
	if err != nil {
		return nil, Head{}, fmt.Errorf("%w: %w", ErrBadPack, err)
	}
	p := &Reader{z: z, lines: bufio.NewReaderSize(io.LimitReader(z, most+1), 64<<10), left: most}
	var head Head
	err = p.Next(&head)
	if err == nil && (head.Documents < 0 || head.Documents > maxPackDocuments) {
		err = fmt.Errorf("%w: it claims %d documents", ErrBadPack, head.Documents)
	}
	if err != nil {
		p.Close()
		return nil, Head{}, err
	}
	return p, head, nil
}

// Close frees what decompresses the pack. It does not close the file.
func (p *Reader) Close() { p.z.Close() }

// Ends returns an error if there are more documents.
func (p *Reader) Ends() error {
	if rest, err := p.lines.Peek(1); len(rest) > 0 || !errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: more documents than its header says", ErrBadPack)
	}
	return nil
}

// Next reads a line into v.
func (p *Reader) Next(v any) error {
	var line []byte
	for {
		part, err := p.lines.ReadSlice('\n')
		if p.left -= int64(len(part)); p.left < 0 {
			return fmt.Errorf("%w: larger than the limit", archive.ErrTooLarge)
		}
		line = append(line, part...)
		if len(line) > maxPackLine {
			return fmt.Errorf("%w: a line of more than %d MiB", archive.ErrTooLarge, maxPackLine>>20)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil:
			return fmt.Errorf("%w: %w", ErrBadPack, noEOF(err))
		}
		break
	}
	if err := json.Unmarshal(line, v); err != nil {
		return fmt.Errorf("%w: %w", ErrBadPack, err)
	}
	return nil
}

// noEOF turns the end of a pack into an unexpected one, where more must follow.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// Verify reads a pack once and returns who signed it. The error wraps ErrBadPack unless it is that of r.
func Verify(r io.ReaderAt, size int64) (signer string, err error) {
	if size < int64(len(packMagic)+packTrailer) {
		return "", fmt.Errorf("%w: %d bytes are too few", ErrBadPack, size)
	}
	sum := sha512.New()
	start := make([]byte, len(packMagic))
	if _, err := r.ReadAt(start, 0); err != nil {
		return "", err
	}
	if !bytes.Equal(start, []byte(packMagic)) {
		return "", fmt.Errorf("%w: wrong first bytes", ErrBadPack)
	}
	if _, err := io.Copy(sum, io.NewSectionReader(r, 0, size-ed25519.SignatureSize)); err != nil {
		return "", err
	}
	trailer := make([]byte, packTrailer)
	if _, err := r.ReadAt(trailer, size-packTrailer); err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	public := ed25519.PublicKey(trailer[:ed25519.PublicKeySize])
	if !ed25519.Verify(public, append([]byte(packContext), sum.Sum(nil)...), trailer[ed25519.PublicKeySize:]) {
		return "", fmt.Errorf("%w: the signature does not match: the file was changed or cut short", ErrBadPack)
	}
	return signerID(public), nil
}
