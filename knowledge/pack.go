package knowledge

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/readthru/readthru/knowledge/files"
	"github.com/readthru/readthru/knowledge/pack"
	"github.com/readthru/readthru/page"
)

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

// pack writes the documents of a base in the form of package pack. Those that cannot be read when it begins are left
// out; one that is lost later is an error, because the head of the pack has their number.
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
	out, err := pack.NewWriter(w, s, pack.Head{
		Name: base.Name, Description: base.Description, Source: base.Source, URL: base.URL, Limit: base.Limit,
		Depth: base.Depth, Include: base.Include, Exclude: base.Exclude,
		PackedAt: time.Now().UTC().Truncate(time.Second), Documents: len(keys),
	})
	if err != nil {
		return err
	}
	defer out.Close()
	for i, key := range keys {
		if err := ctx.Err(); err != nil {
			return err
		}
		d, err := k.Document(key)
		if err != nil {
			return fmt.Errorf("document %s: %w", key.Doc(), err)
		}
		h, _ := k.archive.Head(key) // a page has none
		line := pack.Document{
			URL: packedURL(d.URL, base.Files), Title: d.Title, Kind: d.Kind, Label: h.Label, Ingested: h.Ingested,
			Metadata:  h.Metadata,
			FetchedAt: d.FetchedAt, Markdown: string(d.Markdown),
		}
		if p, err := k.store.PageAt(key); err == nil && len(p.Preferences.Denials()) > 0 {
			line.Metadata = page.Metadata{"preferences": strings.Join(p.Preferences.Denials(), "; ")}
		}
		if err := out.Add(line); err != nil {
			return err
		}
		if progress != nil {
			progress(i+1, len(keys), line.URL)
		}
	}
	return out.Finish()
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
