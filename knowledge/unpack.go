package knowledge

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha512"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/readthru/readthru/internal/clip"
	"github.com/readthru/readthru/knowledge/archive"
)

// Bounds of a pack, whatever it says of itself.
const (
	packWindow       = 8 << 20
	maxPackDocuments = 1_000_000
	maxPackLine      = 2 * archive.MaxDocument
	maxUnpacked      = 8 << 30 // bytes of all documents, by default
)

// ErrBadPack means that a file is not a pack, or was cut short or changed after signing.
var ErrBadPack = errors.New("not a valid pack")

// UnknownSignerError says that a pack is intact but its signer is not trusted.
type UnknownSignerError struct {
	Signer string // see [Signer.ID]
}

func (e *UnknownSignerError) Error() string {
	return fmt.Sprintf("the pack is signed by %s, an unknown signer", e.Signer)
}

// UnpackOptions configures [Knowledge.Unpack]. The zero value trusts no signer.
type UnpackOptions struct {
	// Name is what the base is called here. If empty, as in the pack.
	Name string

	// Trusted are the signers to accept.
	Trusted []string

	// AnySigner accepts a pack whoever signed it: the user was asked.
	AnySigner bool

	// MaxBytes is how large the documents may be together. If zero, 8 GiB.
	MaxBytes int64

	// Progress may be nil.
	Progress Progress
}

// Unpack creates a knowledge base from the pack in r, which has size bytes. It stores nothing before it has verified
// the signature, and a base appears whole or not at all. The error wraps [ErrBadPack] or [ErrBaseExists], or is an
// [*UnknownSignerError].
func (k *Knowledge) Unpack(ctx context.Context, r io.ReaderAt, size int64, o UnpackOptions) (Base, error) {
	if o.MaxBytes == 0 {
		o.MaxBytes = maxUnpacked
	}
	base, err := k.unpack(ctx, r, size, &o)
	if err != nil {
		return Base{}, fmt.Errorf("unpack: %w", err)
	}
	return base, nil
}

func (k *Knowledge) unpack(ctx context.Context, r io.ReaderAt, size int64, o *UnpackOptions) (Base, error) {
	signer, err := verifyPack(r, size)
	if err != nil {
		return Base{}, err
	}
	trusted := o.AnySigner
	for _, id := range o.Trusted {
		trusted = trusted || id == signer
	}
	if !trusted {
		return Base{}, &UnknownSignerError{signer}
	}
	body := io.NewSectionReader(r, int64(len(packMagic)), size-int64(len(packMagic))-packTrailer)
	z, err := zstd.NewReader(body, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(packWindow),
		zstd.WithDecoderLowmem(true))
	if err != nil {
		return Base{}, fmt.Errorf("%w: %w", ErrBadPack, err)
	}
	defer z.Close()
	p := &packReader{lines: bufio.NewReaderSize(io.LimitReader(z, o.MaxBytes+1), 64<<10), left: o.MaxBytes}
	var head packHead
	if err := p.next(&head); err != nil {
		return Base{}, err
	}
	if head.Documents < 0 || head.Documents > maxPackDocuments {
		return Base{}, fmt.Errorf("%w: it claims %d documents", ErrBadPack, head.Documents)
	}
	if o.Name != "" {
		head.Name = o.Name
	}
	base, err := k.createBase(Base{
		Name: head.Name, Description: clip.Runes(k.cleanLine(head.Description), maxTitle), Source: head.Source,
		URL:   clip.Runes(head.URL, maxURL),
		Limit: head.Limit, Depth: head.Depth, Include: head.Include, Exclude: head.Exclude,
	}, Sharing{Never: true})
	if err != nil {
		return Base{}, err
	}
	filled, err := k.unpackInto(ctx, base.Name, p, head.Documents, o.Progress)
	if err != nil {
		_, e := k.DeleteBase(context.WithoutCancel(ctx), base.Name)
		return Base{}, errors.Join(err, e)
	}
	return filled, nil
}

// unpackInto fills a base with the documents of a pack.
func (k *Knowledge) unpackInto(ctx context.Context, name string, p *packReader, documents int,
	progress Progress,
) (Base, error) {
	b, err := k.Build(name)
	if err != nil {
		return Base{}, err
	}
	defer b.Close()
	for i := range documents {
		var line packDocument
		if err := p.next(&line); err != nil {
			return Base{}, err
		}
		d := Document{
			URL: line.URL, Title: line.Title, Kind: clip.Runes(line.Kind, 40), FetchedAt: line.FetchedAt.UTC(),
			Markdown: []byte(line.Markdown),
		}
		more := archive.Head{Ingested: line.Ingested, Label: clip.Runes(line.Label, maxLabel)}
		if size := archive.MetadataSize(line.Metadata); len(line.Metadata) <= maxMetadata && size <= maxMetaText {
			more.Metadata = line.Metadata
		}
		if err := b.addDocument(&d, more); err != nil {
			return Base{}, fmt.Errorf("document %d: %w", i+1, err)
		}
		if err := k.stepIfMuchAdded(ctx); err != nil {
			return Base{}, err
		}
		if progress != nil {
			progress(i+1, documents, line.URL)
		}
	}
	if rest, err := p.lines.Peek(1); len(rest) > 0 || !errors.Is(err, io.EOF) {
		return Base{}, fmt.Errorf("%w: more documents than its header says", ErrBadPack)
	}
	return b.Commit(ctx)
}

// packReader reads the lines of a pack.
type packReader struct {
	lines *bufio.Reader
	left  int64
}

// next reads a line into v.
func (p *packReader) next(v any) error {
	var line []byte
	for {
		part, err := p.lines.ReadSlice('\n')
		if p.left -= int64(len(part)); p.left < 0 {
			return fmt.Errorf("%w: larger than the limit", ErrTooLarge)
		}
		line = append(line, part...)
		if len(line) > maxPackLine {
			return fmt.Errorf("%w: a line of more than %d MiB", ErrTooLarge, maxPackLine>>20)
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

func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// verifyPack reads a pack once and returns who signed it. The error wraps ErrBadPack unless it is that of r.
func verifyPack(r io.ReaderAt, size int64) (signer string, err error) {
	if size < int64(len(packMagic)+packTrailer) {
		return "", fmt.Errorf("%w: %d bytes are too few", ErrBadPack, size)
	}
	hash := sha512.New()
	start := make([]byte, len(packMagic))
	if _, err := r.ReadAt(start, 0); err != nil {
		return "", err
	}
	if !bytes.Equal(start, []byte(packMagic)) {
		return "", fmt.Errorf("%w: wrong first bytes", ErrBadPack)
	}
	if _, err := io.Copy(hash, io.NewSectionReader(r, 0, size-ed25519.SignatureSize)); err != nil {
		return "", err
	}
	trailer := make([]byte, packTrailer)
	if _, err := r.ReadAt(trailer, size-packTrailer); err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	public := ed25519.PublicKey(trailer[:ed25519.PublicKeySize])
	if !ed25519.Verify(public, append([]byte(packContext), hash.Sum(nil)...), trailer[ed25519.PublicKeySize:]) {
		return "", fmt.Errorf("%w: the signature does not match: the file was changed or cut short", ErrBadPack)
	}
	return signerID(public), nil
}
