package store

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/readthru/readthru/internal/unknown"
	"github.com/readthru/readthru/store/keys"
	"github.com/readthru/readthru/store/kv"
	"github.com/readthru/readthru/store/wire"
)

// Rule is a rule for some hosts and paths that was made while the program ran.
type Rule struct {
	ID   string    `json:"id"` // made when empty
	Made time.Time `json:"made"`
	RuleFields
	Unknown unknown.Fields `json:"-"` // a newer program's
}

// RuleFields are what a rule says. Package hostrule, whose Rule has the same fields, says what they mean.
type RuleFields struct {
	Host        string        `json:"host,omitempty"`
	Path        string        `json:"path,omitempty"`
	Action      string        `json:"action,omitempty"`
	Mode        string        `json:"mode,omitempty"`
	TTL         time.Duration `json:"ttl,omitempty"`
	Bypass      bool          `json:"bypass,omitempty"`
	Cascade     []string      `json:"cascade,omitempty"`
	Render      string        `json:"render,omitempty"`
	Preferences string        `json:"preferences,omitempty"`
	Log         string        `json:"log,omitempty"`
}

// maxRules bounds the rules: each request is held against all of them.
const maxRules = 1000

// ErrRules says that there are as many rules as can be.
var ErrRules = errors.New("too many rules")

// Rules returns the rules, those made last first.
func (s *Store) Rules() []Rule { return addedTo[Rule](s, keys.Rules) }

// PutRule stores a rule before all others, in the place of one for the same host and path. It is on disk when PutRule
// returns.
func (s *Store) PutRule(r Rule, now time.Time) (Rule, error) {
	r.ID, r.Made = NewID()[:8], now.UTC().Truncate(time.Second)
	err := changeAdded(s, keys.Rules, func(list []Rule) ([]Rule, error) {
		list = slices.DeleteFunc(list, func(o Rule) bool {
			return strings.EqualFold(o.Host, r.Host) && o.Path == r.Path
		})
		if len(list) >= maxRules {
			return nil, fmt.Errorf("%w: %d are kept", ErrRules, maxRules)
		}
		return slices.Insert(list, 0, r), nil
	})
	return r, err
}

// DeleteRule deletes a rule by its id. The error is ErrNotFound if there is none.
func (s *Store) DeleteRule(id string) error {
	return deleteAdded(s, keys.Rules, func(r Rule) bool { return r.ID == id })
}

// SiteRecipe is a site recipe that was installed. What its text says is the business of package recipe.
type SiteRecipe struct {
	Name   string    `json:"name"`
	Text   string    `json:"text"`             // YAML
	Source string    `json:"source,omitempty"` // the file or URL that it came from
	Signer string    `json:"signer,omitempty"` // the key that signed it
	Added  time.Time `json:"added"`

	Unknown unknown.Fields `json:"-"`
}

// maxSiteRecipes bounds the bytes of all recipes, which are one record.
const maxSiteRecipes = 512 << 10

// ErrRecipes says that the recipes would take more room than they may.
var ErrRecipes = errors.New("too many recipes")

// SiteRecipes returns the site recipes that were added beside the rules, the last first.
func (s *Store) SiteRecipes() []SiteRecipe { return addedTo[SiteRecipe](s, keys.SiteRecipes) }

// PutSiteRecipes stores site recipes, as PutRule a rule, before all others, each in the place of one of its name. They
// are on disk when it returns.
func (s *Store) PutSiteRecipes(added []SiteRecipe, now time.Time) error {
	added = slices.Clone(added)
	for i := range added {
		added[i].Added = now.UTC().Truncate(time.Second)
	}
	return changeAdded(s, keys.SiteRecipes, func(list []SiteRecipe) ([]SiteRecipe, error) {
		list = slices.DeleteFunc(list, func(old SiteRecipe) bool {
			return slices.ContainsFunc(added, func(r SiteRecipe) bool { return r.Name == old.Name })
		})
		if list = append(added, list...); len(wire.JSON(list)) > maxSiteRecipes {
			return nil, fmt.Errorf("%w: %d bytes are kept", ErrRecipes, maxSiteRecipes)
		}
		return list, nil
	})
}

// DeleteSiteRecipe deletes a site recipe, as DeleteRule a rule, by its name. The error is ErrNotFound if there is none.
func (s *Store) DeleteSiteRecipe(name string) error {
	return deleteAdded(s, keys.SiteRecipes, func(r SiteRecipe) bool { return r.Name == name })
}

// addedTo returns a list of what people added by hand (rules, site recipes, views), which is one record; empty if there
// is none yet.
func addedTo[T any](s *Store, key string) (list []T) {
	_ = s.kv.GetJSON(&kv.Batch{}, key, &list) // none yet
	return list
}

// changeAdded changes a list of what an operator added, such as rules, and returns once it is on disk. After an error
// of change nothing is written.
func changeAdded[T any](s *Store, key string, change func([]T) ([]T, error)) error {
	s.mu.Lock()
	list, err := change(addedTo[T](s, key))
	if err == nil {
		b := &kv.Batch{}
		b.Set(key, wire.JSON(list))
		err = s.kv.Apply(b)
	}
	s.mu.Unlock()
	if err == nil {
		err = s.kv.Barrier(true)
	}
	return err
}

// deleteAdded deletes elements from a list of what an operator added, such as rules. The error is ErrNotFound if none
// of them goes.
func deleteAdded[T any](s *Store, key string, goes func(T) bool) error {
	return changeAdded(s, key, func(list []T) ([]T, error) {
		n := len(list)
		if list = slices.DeleteFunc(list, goes); len(list) == n {
			return nil, ErrNotFound
		}
		return list, nil
	})
}
