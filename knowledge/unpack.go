package knowledge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/readthru/readthru/internal/clip"
	"github.com/readthru/readthru/knowledge/archive"
	"github.com/readthru/readthru/knowledge/pack"
)

// maxUnpacked is how many bytes all documents of a pack may have, by default.
const maxUnpacked = 8 << 30

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
	o.MaxBytes = cmp.Or(o.MaxBytes, maxUnpacked)
	base, err := k.unpack(ctx, r, size, &o)
	if err != nil {
		return Base{}, fmt.Errorf("unpack: %w", err)
	}
	return base, nil
}

// unpack verifies a pack from its first byte to its last, then creates the base and fills it. If that fails the base is
// deleted again, also after ctx has ended.
func (k *Knowledge) unpack(ctx context.Context, r io.ReaderAt, size int64, o *UnpackOptions) (Base, error) {
	signer, err := pack.Verify(r, size)
	if err != nil {
		return Base{}, err
	}
	trusted := o.AnySigner
	for _, id := range o.Trusted {
		trusted = trusted || id == signer
	}
	if !trusted {
		return Base{}, &UnknownSignerError{Signer: signer}
	}
	p, head, err := pack.Open(r, size, o.MaxBytes)
	if err != nil {
		return Base{}, err
	}
	defer p.Close()
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
func (k *Knowledge) unpackInto(ctx context.Context, name string, p *pack.Reader, documents int,
	progress Progress,
) (Base, error) {
	b, err := k.Build(name)
	if err != nil {
		return Base{}, err
	}
	defer b.Close()
	for i := range documents {
		var line pack.Document
		if err := p.Next(&line); err != nil {
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
	if err := p.Ends(); err != nil {
		return Base{}, err
	}
	return b.Commit(ctx)
}
