package store

import (
	"encoding/json"
	"fmt"

	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store/keys"
	"github.com/readthru/readthru/store/kv"
	"github.com/readthru/readthru/store/wire"
)

// SecretEdition returns up to which edition of the rules about secrets in URLs what is stored was looked through: see
// [page.SecretEdition].
func (s *Store) SecretEdition() (edition int) {
	_ = s.kv.GetJSON(&kv.Batch{}, keys.Secrets, &edition) // none yet
	return edition
}

// SetSecretEdition notes that what is stored was looked through with an edition of the rules.
func (s *Store) SetSecretEdition(edition int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := &kv.Batch{Must: true}
	b.Set(keys.Secrets, wire.JSON(edition))
	if err := s.kv.Apply(b); err != nil {
		return fmt.Errorf("note the edition of secrets: %w", err)
	}
	return nil
}

// RemoveSecrets deletes what an older program stored under URLs in which [page.HasSecret] now finds a secret: pages
// with all that belongs to them, what sessions have fetched, and stored responses. It masks such URLs in visits, the
// change log, the ledger, and purges that the fleet is not told of yet. It returns how many pages went. Nothing else
// may use the store meanwhile.
func (s *Store) RemoveSecrets() (pages int, err error) {
	s.flushCounts()
	s.settle()
	if pages, err = s.removeSecretPages(); err == nil {
		err = s.removeSecretsFetched()
	}
	if err == nil {
		_, err = s.deleteEverywhere(func(r *Response) bool { return page.HasSecretString(r.URL) })
	}
	if err == nil {
		err = maskRecords(s, "vi/", func(v *Visit) *string { return &v.URL })
	}
	if err == nil {
		err = maskRecords(s, "j/", func(r *jobRecord) *string { return &r.URL })
	}
	if err == nil {
		err = maskRecords(s, "l/", func(d *Disclosure) *string { return &d.URL })
	}
	if err == nil {
		err = maskRecords(s, "g/", func(p *Purge) *string { return &p.Value })
	}
	if err != nil {
		return pages, fmt.Errorf("remove what is stored under secret URLs: %w", err)
	}
	return pages, nil
}

// removeSecretPages deletes the pages whose URLs have a secret, and returns how many. It collects them first, because a
// deletion changes what the walk reads.
func (s *Store) removeSecretPages() (n int, err error) {
	var secret []page.Key
	s.kv.Walk(kv.Scan{Prefix: "p/"}, func(key string, value []byte) bool {
		var record pageRecord
		if wire.Unmarshal(value, &record) && record.Page.HasSecret() {
			secret = append(secret, page.Key([]byte(key[len("p/"):])))
		}
		return true
	})
	for _, k := range secret {
		if err := s.DeletePage(k); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// removeSecretsFetched removes the pages of sessions' sets that were fetched by a secret URL, although the page may
// have another.
func (s *Store) removeSecretsFetched() error {
	for _, session := range s.FetchedSessions() {
		for _, p := range s.Fetched(session.Name).Pages {
			if !p.HasSecret() {
				continue
			}
			if _, err := s.DropFetched(session.Name, page.KeyOf(p.NormalizedURL)); err != nil {
				return err
			}
		}
	}
	return nil
}

// maskRecords masks the URLs that urlOf names in the records below a prefix, which are JSON. A purge whose URL is
// masked is of nothing that is stored anywhere.
func maskRecords[T any](s *Store, prefix string, urlOf func(*T) *string) (err error) {
	b := &kv.Batch{Must: true}
	s.kv.Walk(kv.Scan{Prefix: prefix}, func(key string, value []byte) bool {
		var record T
		if json.Unmarshal(value, &record) != nil {
			return true
		}
		if u := urlOf(&record); page.HasSecretString(*u) {
			*u = page.MaskString(*u)
			b.Set(key, wire.JSON(record))
		}
		if b.Len() >= sweepChunk {
			err = s.kv.Apply(b)
			b = &kv.Batch{Must: true}
		}
		return err == nil
	})
	if err == nil && b.Len() > 0 {
		err = s.kv.Apply(b)
	}
	return err
}
