package knowledge

import (
	"bufio"
	"context"
	"crypto/ed25519"
	"crypto/sha512"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/readthru/readthru/knowledge/files"
	"github.com/readthru/readthru/page"
)

// A pack is a knowledge base in one file: packMagic; a zstd stream of JSON lines, a [packHead] and then a
// [packDocument] for each document; the signer's public key; and its signature of packContext and the SHA-512 of all
// that stands before the signature. The index is not in it: it is made anew in seconds.
const (
	packMagic   = "readthru pack 1\n"
	packContext = "readthru pack 1: "
	packTrailer = ed25519.PublicKeySize + ed25519.SignatureSize
)

// packHead is the first line.
type packHead struct {
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

// packDocument is any other line.
type packDocument struct {
	URL       string        `json:"url"`
	Title     string        `json:"title,omitempty"`
	Kind      string        `json:"kind"`
	Label     string        `json:"label,omitempty"`
	Ingested  bool          `json:"ingested,omitempty"`
	Metadata  page.Metadata `json:"metadata,omitempty"`
	FetchedAt time.Time     `json:"fetched_at,omitzero"`
	Markdown  string        `json:"markdown"`
}

// Pack writes a signed copy of a base to w. Paths of files are relative to the folders that the base was filled from.
// Progress may be nil. The error is an [*UnknownBaseError], or that of w.
func (k *Knowledge) Pack(ctx context.Context, name string, s *Signer, w io.Writer, progress Progress) error {
	base, err := k.Base(name)
	if err != nil {
		return err
	}
	if err := k.pack(ctx, base, s, w, progress); err != nil {
		return fmt.Errorf("pack knowledge base %s: %w", name, err)
	}
	return nil
}

func (k *Knowledge) pack(ctx context.Context, base Base, s *Signer, w io.Writer, progress Progress) error {
	members, err := k.memberKeys(base.Name)
	if err != nil {
		return err
	}
	var keys []page.Key
	for key := range members {
		if _, err := k.entry(key); err == nil {
			keys = append(keys, key)
		}
	}
	hash := sha512.New()
	buffered := bufio.NewWriterSize(w, 64<<10)
	out := io.MultiWriter(hash, buffered)
	if _, err := io.WriteString(out, packMagic); err != nil {
		return err
	}
	z, err := zstd.NewWriter(out, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(packWindow))
	if err != nil {
		return err
	}
	defer z.Close() //nolint:errcheck // closed below, with its error
	lines := json.NewEncoder(z)
	lines.SetEscapeHTML(false)
	err = lines.Encode(packHead{
		Name: base.Name, Description: base.Description, Source: base.Source, URL: base.URL, Limit: base.Limit,
		Depth:   base.Depth,
		Include: base.Include, Exclude: base.Exclude, PackedAt: time.Now().UTC().Truncate(time.Second), Documents: len(keys),
	})
	if err != nil {
		return err
	}
	for i, key := range keys {
		if err := ctx.Err(); err != nil {
			return err
		}
		d, err := k.Document(key)
		if err != nil {
			return fmt.Errorf("document %s: %w", key.Doc(), err)
		}
		h, _ := k.archive.Head(key) // a page has none
		line := packDocument{
			URL: packedURL(d.URL, base.Files), Title: d.Title, Kind: d.Kind, Label: h.Label, Ingested: h.Ingested,
			Metadata:  h.Metadata,
			FetchedAt: d.FetchedAt, Markdown: string(d.Markdown),
		}
		if p, err := k.store.PageAt(key); err == nil && len(p.Preferences.Denials()) > 0 {
			line.Metadata = page.Metadata{"preferences": strings.Join(p.Preferences.Denials(), "; ")}
		}
		if err := lines.Encode(line); err != nil {
			return err
		}
		if progress != nil {
			progress(i+1, len(keys), line.URL)
		}
	}
	if err := z.Close(); err != nil {
		return err
	}
	public := s.key.Public().(ed25519.PublicKey)
	if _, err := out.Write(public); err != nil {
		return err
	}
	if _, err := out.Write(ed25519.Sign(s.key, append([]byte(packContext), hash.Sum(nil)...))); err != nil {
		return err
	}
	return buffered.Flush()
}

// packedURL returns the URL that a document has in a pack: that of a file without the folders above what the base is
// made of, which are nobody's business.
func packedURL(raw string, roots []string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "file" {
		return raw
	}
	for _, root := range roots {
		above := strings.TrimSuffix(strings.TrimPrefix(files.URL(filepath.Dir(root)), "file://"), "/")
		if rest, ok := strings.CutPrefix(u.EscapedPath(), above+"/"); ok {
			return "file:///" + rest
		}
	}
	return "file:///" + url.PathEscape(filepath.Base(u.Path))
}
