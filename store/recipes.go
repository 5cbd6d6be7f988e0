package store

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/readthru/readthru/store/keys"
	"github.com/readthru/readthru/store/kv"
	"github.com/readthru/readthru/store/wire"
)

// SiteRecipe is a site recipe that was installed. What its text says is the business of package recipe.
type SiteRecipe struct {
	Name   string    `json:"name"`
	Text   string    `json:"text"`             // YAML
	Source string    `json:"source,omitempty"` // the file or URL that it came from
	Signer string    `json:"signer,omitempty"` // the key that signed it
	Added  time.Time `json:"added"`
}

// maxSiteRecipes bounds the bytes of all recipes, which are one record.
const maxSiteRecipes = 512 << 10

// ErrRecipes says that the recipes would take more room than they may.
var ErrRecipes = errors.New("too many recipes")

// SiteRecipes returns the recipes, those added last first.
func (s *Store) SiteRecipes() []SiteRecipe {
	var list []SiteRecipe
	_ = s.kv.GetJSON(&kv.Batch{}, keys.SiteRecipes, &list) // none yet
	return list
}

// PutSiteRecipes stores recipes before all others, each in the place of one of its name. They are on disk when it
// returns.
func (s *Store) PutSiteRecipes(added []SiteRecipe, now time.Time) error {
	added = slices.Clone(added)
	for i := range added {
		added[i].Added = now.UTC().Truncate(time.Second)
	}
	return s.changeSiteRecipes(func(list []SiteRecipe) ([]SiteRecipe, error) {
		list = slices.DeleteFunc(list, func(old SiteRecipe) bool {
			return slices.ContainsFunc(added, func(r SiteRecipe) bool { return r.Name == old.Name })
		})
		return append(added, list...), nil
	})
}

// DeleteSiteRecipe deletes a recipe by its name. The error is ErrNotFound if there is none.
func (s *Store) DeleteSiteRecipe(name string) error {
	return s.changeSiteRecipes(func(list []SiteRecipe) ([]SiteRecipe, error) {
		n := len(list)
		if list = slices.DeleteFunc(list, func(r SiteRecipe) bool { return r.Name == name }); len(list) == n {
			return nil, ErrNotFound
		}
		return list, nil
	})
}

func (s *Store) changeSiteRecipes(change func([]SiteRecipe) ([]SiteRecipe, error)) error {
	s.mu.Lock()
	var list []SiteRecipe
	_ = s.kv.GetJSON(&kv.Batch{}, keys.SiteRecipes, &list) // none yet
	list, err := change(list)
	if err == nil {
		value := wire.JSON(list)
		if len(value) > maxSiteRecipes {
			err = fmt.Errorf("%w: %d bytes are kept", ErrRecipes, maxSiteRecipes)
		} else {
			b := &kv.Batch{}
			b.Set(keys.SiteRecipes, value)
			err = s.kv.Apply(b)
		}
	}
	s.mu.Unlock()
	if err == nil {
		err = s.kv.Barrier(true)
	}
	return err
}
