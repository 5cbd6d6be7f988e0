package store

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store/keys"
	"github.com/readthru/readthru/store/kv"
)

// DeleteResponse removes one stored response. The error is ErrNotFound when it is not there.
func (s *Store) DeleteResponse(uri string, id EntryID) error {
	n, err := s.deleteWhere(uri, func(r *Response) bool { return r.ID == id })
	if err == nil && n == 0 {
		return ErrNotFound
	}
	return err
}

// DeleteResponses removes all stored responses of a URI, and returns how many.
func (s *Store) DeleteResponses(uri string) (int, error) {
	if err := s.notePurge(PurgeURL, uri); err != nil {
		return 0, err
	}
	return s.deleteWhere(uri, func(*Response) bool { return true })
}

// deleteWhere removes the stored responses of a URI that match, with their entries in the indexes of hosts, tags, uses
// and expiries, and returns how many. All deletions of responses come here, but for those that putResponse replaces.
// Match runs under s.mu and must not call the store. A deletion is never refused because the disk is full.
func (s *Store) deleteWhere(uri string, match func(*Response) bool) (int, error) {
	u := keys.URIOf(uri)
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	drops := s.kv.GivenUp()
	b := &kv.Batch{Must: true}
	v, list := s.loadResponses(b, uri, u)
	var keep []*Response
	var dead []Sum
	n := 0
	for _, r := range list {
		if !match(r) {
			keep = append(keep, r)
			continue
		}
		dead = append(dead, s.dropEntry(b, u, r, now)...)
		n++
	}
	if n == 0 && len(list) > 0 || len(v.IDs) == 0 {
		// nothing matches, or the URI has no record
		return 0, nil
	}
	b.Delta.Responses -= int64(len(v.IDs) - len(list)) // heads that were damaged
	if len(keep) > 0 {
		s.setVariants(b, u, v, keep, v.Used)
		indexByTag(b, u, keep)
	} else {
		b.Del(keys.Variants(u))
		b.Del(keys.LastUse(v.Used, u))
		if host := keys.HostOf(uri); host != "" {
			b.Del(keys.OfHost(host, u))
		}
	}
	if err := s.kv.Apply(b); err != nil {
		return 0, fmt.Errorf("delete responses of %s: %w", uri, err)
	}
	s.responsesChanged(uri, u, keep, drops)
	s.deleteLater(dead)
	return n, nil
}

// DeleteHostResponses removes the stored responses of a host (with its port unless that is the default), and returns
// how many.
func (s *Store) DeleteHostResponses(host string) (int, error) {
	if host = keys.Host(host); host == "" {
		return 0, nil
	}
	if err := s.notePurge(PurgeHost, host); err != nil {
		return 0, err
	}
	return s.deleteIndexed(keys.OfHostPrefix(host), func(string) bool { return true }, nil)
}

// DeleteTaggedResponses removes the stored responses with a purge tag, and returns how many.
func (s *Store) DeleteTaggedResponses(tag string) (int, error) {
	if len(indexTags([]string{tag})) == 0 {
		return 0, nil
	}
	if err := s.notePurge(PurgeTag, tag); err != nil {
		return 0, err
	}
	return s.deleteIndexed(keys.Tagged(tag), func(string) bool { return true },
		func(r *Response) bool { return slices.Contains(r.Tags, tag) })
}

// DeletePrefixResponses removes the stored responses whose URI begins with prefix, and returns how many. The prefix
// must have a scheme and a whole host, followed by a slash.
func (s *Store) DeletePrefixResponses(prefix string) (int, error) {
	u, err := url.Parse(prefix)
	if err != nil {
		return 0, fmt.Errorf("delete responses by prefix: %w", err)
	}
	host := keys.HostOf(prefix)
	if u.Scheme == "" || host == "" || !strings.Contains(prefix, "://"+u.Host+"/") {
		return 0, fmt.Errorf("delete responses by prefix: %q must begin with a scheme and a host: https://host/",
			prefix)
	}
	if err := s.notePurge(PurgePrefix, prefix); err != nil {
		return 0, err
	}
	return s.deleteIndexed(keys.OfHostPrefix(host), func(uri string) bool {
		return strings.HasPrefix(uri, prefix)
	}, nil)
}

// ClearResponses deletes all stored responses, and returns how many.
func (s *Store) ClearResponses() (int, error) {
	if err := s.notePurge(PurgeAll, ""); err != nil {
		return 0, err
	}
	return s.deleteEverywhere(func(*Response) bool { return true })
}

// deleteEverywhere deletes all stored responses that match, of all hosts, and returns how many.
func (s *Store) deleteEverywhere(match func(*Response) bool) (int, error) {
	// The index of hosts lacks URIs without a proper host; that of uses has all, without their text.
	return s.deleteURIs("u/", func(value []byte) string {
		v, _ := decodeVariants(value)
		return v.URL
	}, match)
}

// DeletePageRenditions removes the renditions kept by a page, and returns how many.
func (s *Store) DeletePageRenditions(k page.Key) (int, error) {
	return s.deleteRenditions(keys.PageRenditions(k))
}

// ClearPageRenditions deletes all renditions kept by page, and returns how many.
func (s *Store) ClearPageRenditions() (int, error) { return s.deleteRenditions("rp/") }

// deleteRenditions deletes the renditions whose keys begin with a prefix, each in a transaction of its own, so that
// others can write in between.
func (s *Store) deleteRenditions(prefix string) (total int, err error) {
	s.settle()
	s.kv.Walk(kv.Scan{Prefix: prefix, Keys: true}, func(key string, _ []byte) bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		value, getErr := s.kv.Get(key)
		if getErr != nil {
			return true // it went meanwhile
		}
		b := &kv.Batch{Must: true}
		last := s.dropRendition(b, key, value, time.Now())
		if err = s.kv.Apply(b); err != nil {
			err = fmt.Errorf("delete renditions: %w", err)
			return false
		}
		if last {
			s.deleteLater([]Sum{renditionBody(value)})
		}
		total++
		return true
	})
	return total, err
}

// deleteIndexed removes the stored responses that an index of URIs names and that match.
func (s *Store) deleteIndexed(prefix string, wanted func(uri string) bool, match func(*Response) bool) (int, error) {
	return s.deleteURIs(prefix, func(value []byte) string {
		if uri := string(value); wanted(uri) {
			return uri
		}
		return ""
	}, match)
}

// deleteURIs walks over records from which uriOf reads a URI (empty: none) and deletes the stored responses of these
// that match; without match all.
func (s *Store) deleteURIs(prefix string, uriOf func(value []byte) string,
	match func(*Response) bool,
) (total int, err error) {
	if match == nil {
		match = func(*Response) bool { return true }
	}
	s.settle()
	s.kv.Walk(kv.Scan{Prefix: prefix}, func(_ string, value []byte) bool {
		uri := uriOf(value)
		if uri == "" {
			return true
		}
		var n int
		n, err = s.deleteWhere(uri, match)
		total += n
		return err == nil
	})
	return total, err
}
