package knowledge

import (
	"context"

	"github.com/RoaringBitmap/roaring/v2"
)

// Search returns the passages that answer a query, by document, best first. An empty query is an error, as is a
// knowledge base that is not there ([*UnknownBaseError]); no other text is. While Run runs, a search waits up to half a
// second for the few documents that were stored just before it, so that a client finds what it has read.
func (k *Knowledge) Search(ctx context.Context, q Query) (*Results, error) {
	if err := k.await(ctx); err != nil {
		return nil, err
	}
	k.progress.await(ctx, k.position())
	for {
		before := k.bases.liveOf(q.KB)
		var about *roaring.Bitmap
		if q.Subject != "" {
			about = k.passagesAbout(q.Subject)
		}
		r, err := k.index.Search(ctx, q.Within(k.withMetadata(q.Metadata), about))
		if err != nil {
			return nil, err
		}
		if k.bases.liveOf(q.KB) == before {
			k.connect(r.Hits, q.Text)
			return r, nil
		}
		// Meanwhile another filling of the base took over, and documents of the one that was searched are going.
	}
}

// withMetadata returns, to limit a search to them, the indexed documents that have all of some values.
func (k *Knowledge) withMetadata(values map[string]string) *roaring.Bitmap {
	var found *roaring.Bitmap
	for name, value := range values {
		numbers := k.index.NumbersOf(k.archive.Having(name, value))
		if found != nil {
			numbers.And(found)
		}
		found = numbers
	}
	return found
}
