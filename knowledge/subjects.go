package knowledge

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

// Subject is what passages are about: a domain or an entity that their statements name. All passages that name it share
// it, of whichever base they are (rule D7).
type Subject struct {
	Name     string `json:"name"`
	Passages int    `json:"passages"` // that name it; of the base asked about, if one was
}

// Subjects returns the subjects of a knowledge base, or of all when kb is empty, those of most passages first; at most
// limit (0: 100, at most 1000). The error is an [*UnknownBaseError].
func (k *Knowledge) Subjects(kb string, limit int) ([]Subject, error) {
	counts := map[string]*Subject{}
	count := func(name string) {
		fold := foldSubject(name)
		if counts[fold] == nil {
			counts[fold] = &Subject{Name: name}
		}
		counts[fold].Passages++
	}
	if kb == "" {
		k.records.Walk(subjectPrefix, "", func(_ string, name []byte) bool {
			count(string(name))
			return true
		})
	} else {
		keys, err := k.memberKeys(kb)
		if err != nil {
			return nil, err
		}
		for key := range keys {
			k.annotator.each(key, func(_ passageKey, a annotation) bool {
				for _, name := range subjects(a.Statements) {
					count(name)
				}
				return true
			})
		}
	}
	list := make([]Subject, 0, len(counts))
	for _, s := range counts {
		list = append(list, *s)
	}
	slices.SortFunc(list, func(a, b Subject) int {
		return cmp.Or(cmp.Compare(b.Passages, a.Passages), cmp.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)))
	})
	return list[:min(len(list), bounded(limit, 100))], nil
}

// PassageQuery selects passages: at least one of the first five is given, and all that are given hold. Those of a
// subject or a frame are annotated passages.
type PassageQuery struct {
	Subject string // in any case
	Frame   string
	URL     string // of the document
	KB      string // only those of documents of this base
	Cursor  string // as returned by the call before
	Limit   int    // 0: 20 (rule D6); at most 100
}

// Passages returns passages and a cursor for the next call, empty when these were the last: of documents in the order
// of their text, of subjects and frames in the order of their keys. The error wraps ErrInvalid, or is an
// [*UnknownBaseError].
func (k *Knowledge) Passages(q PassageQuery) (list []PassageInfo, next string, err error) {
	prefix, err := q.prefix()
	if err != nil {
		return nil, "", err
	}
	from, err := hex.DecodeString(q.Cursor)
	if err != nil || len(from) > 48 {
		return nil, "", fmt.Errorf("cursor %.100q: %w", q.Cursor, ErrInvalid)
	}
	if q.KB != "" {
		if _, err := k.Base(q.KB); err != nil {
			return nil, "", err
		}
	}
	limit := min(bounded(q.Limit, 20), 100)
	var found []passageKey
	lookup(k.records, prefix, string(from), func(p passageKey) bool {
		if q.KB != "" && !slices.Contains(k.basesOf(p.page), q.KB) {
			return true
		}
		if len(found) == limit {
			next = hex.EncodeToString([]byte(p.String()))
			return false
		}
		found = append(found, p)
		return true
	})
	list = []PassageInfo{}
	for _, p := range found {
		if info, err := k.passageInfo(p); err == nil { // else it is being forgotten
			list = append(list, *info)
		}
	}
	return list, next, nil
}

// prefix returns the beginning of the keys that a query asks for.
func (q *PassageQuery) prefix() (string, error) {
	switch {
	case q.Subject != "" && q.Frame == "" && q.URL == "":
		return subjectLookup(q.Subject), nil
	case q.Frame != "" && q.Subject == "" && q.URL == "":
		return frameLookup(strings.ToUpper(q.Frame)), nil
	case q.URL != "" && q.Subject == "" && q.Frame == "":
		return sourceLookup(normalURL(q.URL)), nil
	}
	return "", fmt.Errorf("passages: name one of subject, frame and URL: %w", ErrInvalid)
}

// bounded returns a limit within 1 … 1000, or what stands for 0.
func bounded(limit, otherwise int) int {
	if limit <= 0 {
		return otherwise
	}
	return min(limit, 1000)
}
