package knowledge

import (
	"encoding/json"
	"fmt"

	"github.com/readthru/readthru/knowledge/archive"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// RemoveSecrets deletes the documents that an older program kept under URLs in which [page.HasSecret] now finds a
// secret, but texts that were handed in: they have the URL masked, as bases have theirs. It takes pages with such URLs
// out of the bases, and takes them off the pages that notes are about. Pages themselves are the business of
// [store.Store.RemoveSecrets]. Nothing else may use k meanwhile.
func (k *Knowledge) RemoveSecrets() error {
	var keys []page.Key
	for _, prefix := range []string{archive.HeadPrefix, memberPrefix} {
		k.records.Walk(prefix, "", func(key string, value []byte) bool {
			var named struct { // by a head, or a member
				Head   string `json:"url"`
				Member string `json:"u"`
			}
			if json.Unmarshal(value, &named) == nil &&
				(page.HasSecretString(named.Head) || page.HasSecretString(named.Member)) {
				keys = append(keys, page.Key([]byte(key[len(key)-len(page.Key{}):])))
			}
			return true
		})
	}
	for _, key := range keys {
		if err := k.removeSecret(key); err != nil {
			return fmt.Errorf("remove a document with a secret URL: %w", err)
		}
	}
	if err := k.bases.maskURLs(); err != nil {
		return fmt.Errorf("mask secret URLs of knowledge bases: %w", err)
	}
	if err := k.notes.RemoveSecrets(); err != nil {
		return fmt.Errorf("remove secret URLs of notes: %w", err)
	}
	return nil
}

// removeSecret deletes a document whose URL has a secret. A page is only taken out of all bases; a text that was
// ingested stays, under a masked URL.
func (k *Knowledge) removeSecret(key page.Key) error {
	k.bases.mu.Lock()
	defer k.bases.mu.Unlock()
	h, err := k.archive.Stored(key)
	switch {
	case err != nil: // a page
		return k.records.Apply(k.bases.leave(key)...)
	case !h.Ingested:
		return k.drop(key)
	}
	changes := []store.Change{{Key: archive.URLKey(h.URL, key), Gone: true}, archive.Queued(key)}
	h.URL = page.MaskString(h.URL)
	value, err := json.Marshal(member{URL: h.URL, Hash: h.Hash})
	if err != nil {
		return err
	}
	for _, g := range k.bases.owners(key) {
		changes = append(changes, store.Change{Key: memberKey(g, key), Value: value})
	}
	return k.archive.Put(key, h, nil, changes...) // its parts are there
}

// maskURLs masks the URLs that bases are filled from: no crawl begins at such a one.
func (s *bases) maskURLs() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range s.names() {
		r := *s.byName[name]
		if !page.HasSecretString(r.URL) {
			continue
		}
		r.URL = page.MaskString(r.URL)
		if err := s.save(&r); err != nil {
			return err
		}
	}
	return nil
}
