package knowledge

import (
	"context"
	"fmt"
)

// Compact removes from the index the words of passages that no document has any more. What waits is indexed first, and
// what is known of deleted documents is forgotten with that.
func (k *Knowledge) Compact(ctx context.Context) error {
	if err := k.await(ctx); err != nil {
		return err
	}
	if err := k.Drain(ctx); err != nil {
		return fmt.Errorf("compact the index: %w", err)
	}
	if err := k.index.Purge(ctx); err != nil {
		return fmt.Errorf("compact the index: %w", err)
	}
	return nil
}
