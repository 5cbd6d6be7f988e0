package knowledge

import (
	"sort"
	"strings"

	"github.com/readthru/readthru/knowledge/annotation"
	"github.com/readthru/readthru/knowledge/statement"
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
		fold := statement.FoldSubject(name)
		if counts[fold] == nil {
			counts[fold] = &Subject{Name: name}
		}
		counts[fold].Passages++
	}
	if kb == "" {
		current := k.toldNow()
		k.records.Walk(annotation.SubjectPrefix, "", func(key string, name []byte) bool {
			if p, ok := annotation.PassageIn(key); ok && current(p) {
				count(k.cleaner.Line(string(name)))
			}
			return true
		})
	} else {
		keys, err := k.memberKeys(kb)
		if err != nil {
			return nil, err
		}
		for key := range keys {
			k.annotator.EachCurrent(key, func(a *annotation.Annotation) {
				for _, name := range statement.Subjects(a.Statements) {
					count(name)
				}
			})
		}
	}
	list := make([]Subject, 0, len(counts))
	for _, s := range counts {
		list = append(list, *s)
	}
	sort.Slice(list, func(i, j int) bool {
		a, b := &list[i], &list[j]
		return a.Passages > b.Passages || a.Passages == b.Passages && strings.ToLower(a.Name) < strings.ToLower(b.Name)
	})
	return list[:min(len(list), bounded(limit, 100))], nil
}
