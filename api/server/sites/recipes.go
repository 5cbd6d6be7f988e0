package sites

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/internal/clip"
	"github.com/readthru/readthru/internal/hostrule"
	"github.com/readthru/readthru/internal/recipe"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// siteRecipe returns what the API says of a recipe, with the source of those that are part of the program.
func siteRecipe(r *recipe.Recipe) api.SiteRecipe {
	return api.SiteRecipe{
		Name: r.Name, About: r.About, Source: "shipped", Host: r.Host, Path: r.Path, Has: r.Selectors.Has,
		Tests: len(r.Tests), Edition: r.Edition,
	}
}

// allRecipes returns the site recipes in the order in which they are tried: those that were added, then those of the
// program whose name none of these has. Parsed has nil for one that this program does not understand.
func (s *Service) allRecipes() (list []api.SiteRecipe, parsed []*recipe.Recipe) {
	stored := s.o.Store.SiteRecipes()
	own, errs := hostrule.StoredRecipes(stored)
	for i, r := range own {
		one := api.SiteRecipe{Name: stored[i].Name}
		if r != nil {
			one = siteRecipe(r)
		} else {
			one.Error = errs[i].Error()
		}
		one.Source, one.From, one.Signer, one.Added = "store", stored[i].Source, stored[i].Signer, stored[i].Added
		list, parsed = append(list, one), append(parsed, r)
	}
	for _, r := range recipe.Shipped() {
		if !slices.ContainsFunc(list, func(own api.SiteRecipe) bool { return own.Name == r.Name }) {
			list, parsed = append(list, siteRecipe(r)), append(parsed, r)
		}
	}
	return list, parsed
}

// ListRecipes lists the recipes in the order in which they are tried.
func (s *Service) ListRecipes(context.Context, api.None) (*api.SiteRecipeList, error) {
	list, _ := s.allRecipes()
	return &api.SiteRecipeList{Recipes: list}, nil
}

// GetRecipe returns a recipe with its text.
func (s *Service) GetRecipe(_ context.Context, ref api.RecipeRef) (*api.SiteRecipe, error) {
	list, parsed := s.allRecipes()
	for i := range list {
		if list[i].Name == ref.Name && parsed[i] != nil {
			list[i].Text = string(parsed[i].Text)
			return &list[i], nil
		}
	}
	return nil, unknownRecipe(ref.Name)
}

// unknownRecipe is the problem of a request for a recipe that is not there.
func unknownRecipe(name string) error {
	return api.Problem(http.StatusNotFound, "no recipe is called %.80q: see \"readthru site recipe list\"", name)
}

// DeleteRecipe deletes a recipe that was added.
func (s *Service) DeleteRecipe(_ context.Context, ref api.RecipeRef) (*api.Gone, error) {
	switch err := s.o.Store.DeleteSiteRecipe(ref.Name); {
	case errors.Is(err, store.ErrNotFound):
		if slices.ContainsFunc(recipe.Shipped(), func(r *recipe.Recipe) bool { return r.Name == ref.Name }) {
			return nil, api.Problem(http.StatusBadRequest,
				"recipe %s is part of the program: add one of its name to replace it",
				ref.Name)
		}
		return nil, unknownRecipe(ref.Name)
	case err != nil:
		return nil, fmt.Errorf("delete recipe %s: %w", ref.Name, err)
	}
	if err := s.rulesChanged(); err != nil {
		return nil, err
	}
	return &api.Gone{Deleted: ref.Name}, nil
}

// textOf returns the text of recipes, without its signature, and who signed it.
func (s *Service) textOf(ctx context.Context, in api.RecipeTexts) (text []byte, signer string, err error) {
	switch {
	case in.URL != "" && in.Text != "":
		return nil, "", api.Problem(http.StatusBadRequest, "give a text or a url, not both")
	case in.URL != "":
		if text, err = s.fileText(ctx, in.URL, recipe.MaxFile); err != nil {
			return nil, "", err
		}
	default:
		text = []byte(in.Text)
	}
	text, signer, err = recipe.Verify(text, in.Signer)
	if err != nil {
		return nil, "", api.Problem(http.StatusBadRequest, "%s", err)
	}
	return text, signer, nil
}

// fileText returns the text at a URL, through the cache and under the policy for own fetches.
func (s *Service) fileText(ctx context.Context, raw string, limit int64) ([]byte, error) {
	u, err := page.Parse(raw)
	if err != nil {
		return nil, api.Problem(http.StatusBadRequest, "url: %s", err)
	}
	f, err := s.o.Fetch.File(ctx, u)
	if err != nil {
		return nil, api.Problem(http.StatusBadGateway, "%s", err)
	}
	defer f.Body.Close()
	text, err := io.ReadAll(io.LimitReader(f.Body, limit+1))
	switch {
	case err != nil:
		return nil, api.Problem(http.StatusBadGateway, "read %s: %s", page.Mask(u), err)
	case int64(len(text)) > limit:
		return nil, api.Problem(http.StatusBadRequest, "%s has more than %d bytes", page.Mask(u), limit)
	}
	return text, nil
}

// parseRecipes reads recipes for an operation.
func parseRecipes(text []byte) ([]*recipe.Recipe, error) {
	list, err := recipe.Parse(text)
	if err != nil {
		return nil, api.Problem(http.StatusBadRequest, "%s", err)
	}
	return list, nil
}

// AddRecipes adds recipes, each in the place of one that was added under its name. A recipe one of whose tests fails is
// not added.
func (s *Service) AddRecipes(ctx context.Context, in api.RecipeTexts) (*api.RecipeChanges, error) {
	text, signer, err := s.textOf(ctx, in)
	if err != nil {
		return nil, err
	}
	list, err := parseRecipes(text)
	if err != nil {
		return nil, err
	}
	c := &api.RecipeChanges{Signer: signer, Changes: []api.RecipeChange{}}
	if c.Tests, err = s.runTests(ctx, list); err != nil {
		return nil, err
	}
	_, installed := s.allRecipes()
	from := in.From
	if in.URL != "" {
		from = page.MaskString(in.URL)
	}
	var add []store.SiteRecipe
	for _, r := range list {
		c.Changes = append(c.Changes, changeOf(r, installed))
		add = append(add, store.SiteRecipe{
			Name: r.Name, Text: string(r.Text), Source: clip.Bytes(from, 300), Signer: signer,
		})
	}
	if in.DryRun {
		return c, nil
	}
	if err := failing(c.Tests); err != nil {
		return nil, err
	}
	if err := s.o.Store.PutSiteRecipes(add, time.Now()); err != nil {
		if errors.Is(err, store.ErrRecipes) {
			return nil, api.Problem(http.StatusBadRequest, "%s: remove some with \"readthru site recipe rm\"", err)
		}
		return nil, fmt.Errorf("store the recipes: %w", err)
	}
	c.Added = true
	return c, s.rulesChanged()
}

// failing returns an error if a test failed.
func failing(tests []recipe.Result) error {
	for _, t := range tests {
		if !t.Passed && !t.Skipped {
			return api.Problem(http.StatusBadRequest, "the test of recipe %s in line %d fails, so nothing was done: %s",
				t.Recipe, t.Line, strings.Join(t.Failures, "; "))
		}
	}
	return nil
}

// changeOf says what adding a recipe changes: whether it is new, and the difference to the one of its name.
func changeOf(r *recipe.Recipe, installed []*recipe.Recipe) api.RecipeChange {
	c := api.RecipeChange{Name: r.Name, State: "new"}
	var before []byte
	for _, old := range installed {
		if old == nil || old.Name != r.Name {
			continue
		}
		before, c.State = old.Text, "changed"
		if slices.Contains(recipe.Shipped(), old) {
			c.State = "replaces shipped"
		} else if bytes.Equal(before, r.Text) {
			c.State = "unchanged"
		}
	}
	unified := diff.Diff("before", before, r.Name, r.Text)
	_, unified, _ = bytes.Cut(unified, []byte("\n")) // the line before "---" is not part of a unified diff
	c.Diff = string(unified)
	return c
}

// TestRecipes runs the tests of recipes: of a text, of what is at a URL, of the one with a name, or of all.
func (s *Service) TestRecipes(ctx context.Context, in api.RecipeTexts) (*api.RecipeTests, error) {
	var list []*recipe.Recipe
	if in.Text == "" && in.URL == "" {
		_, all := s.allRecipes()
		for _, r := range all {
			if r != nil && (in.Name == "" || r.Name == in.Name) {
				list = append(list, r)
			}
		}
		if len(list) == 0 {
			return nil, unknownRecipe(in.Name)
		}
	} else {
		text, _, err := s.textOf(ctx, in)
		if err != nil {
			return nil, err
		}
		if list, err = parseRecipes(text); err != nil {
			return nil, err
		}
	}
	results, err := s.runTests(ctx, list)
	return &api.RecipeTests{Tests: results}, err
}

// runTests runs the tests of recipes. Tests without a page use what is stored; no origin is asked.
func (s *Service) runTests(ctx context.Context, list []*recipe.Recipe) ([]recipe.Result, error) {
	results := []recipe.Result{}
	for _, r := range list {
		if len(r.Tests) == 0 {
			continue
		}
		err := s.o.Fetch.Turn(ctx, storedPage, func(ctx context.Context) error {
			more, err := r.Run(ctx, s.snapshot)
			results = append(results, more...)
			return err
		})
		if errors.Is(err, context.DeadlineExceeded) {
			return nil, api.Problem(http.StatusUnprocessableEntity, "the tests of recipe %s take too long", r.Name)
		}
		if err != nil {
			return nil, err
		}
	}
	return results, nil
}

// storedPage is for how many bytes of content a turn is taken to convert a stored page, whose length is not known yet.
const storedPage = 1 << 20

// snapshot returns what is stored of a URL, for the test of a recipe. The error is recipe.ErrNoSnapshot if nothing is.
func (s *Service) snapshot(ctx context.Context, url string) (content []byte, contentType string, err error) {
	o, err := s.o.Pages.GetOriginal(ctx, api.PageRef{Doc: url})
	if errors.Is(err, store.ErrNotFound) {
		return nil, "", recipe.ErrNoSnapshot
	}
	if err != nil {
		return nil, "", err
	}
	return []byte(o.Content), o.ContentType, nil
}

// ProposeRecipe proposes a recipe for pages like one that is stored. It asks no origin.
func (s *Service) ProposeRecipe(ctx context.Context, in api.RecipeTexts) (*api.ProposedRecipe, error) {
	if in.URL == "" {
		return nil, api.Problem(http.StatusBadRequest, "give the url of a page that was read")
	}
	o, err := s.o.Pages.GetOriginal(ctx, api.PageRef{Doc: in.URL})
	if err != nil {
		return nil, err
	}
	u, err := page.Parse(o.URL)
	if err != nil {
		return nil, api.Problem(http.StatusBadRequest, "url: %s", err)
	}
	var text []byte
	err = s.o.Fetch.Turn(ctx, len(o.Content), func(ctx context.Context) error {
		text, err = recipe.Propose(ctx, []byte(o.Content), o.ContentType, u)
		return err
	})
	switch {
	case errors.Is(err, recipe.ErrNoProposal):
		return nil, api.Problem(http.StatusUnprocessableEntity, "%s", err)
	case errors.Is(err, context.DeadlineExceeded):
		return nil, api.Problem(http.StatusUnprocessableEntity, "the page takes too long: write a recipe by hand")
	case err != nil:
		return nil, err
	}
	return &api.ProposedRecipe{Text: string(text)}, nil
}

// SignRecipes signs recipes with the key with which packs of knowledge bases are signed.
func (s *Service) SignRecipes(ctx context.Context, in api.RecipeTexts) (*api.SignedRecipes, error) {
	list, err := parseRecipes([]byte(in.Text))
	if err != nil {
		return nil, err
	}
	tests, err := s.runTests(ctx, list)
	if err != nil {
		return nil, err
	}
	if err := failing(tests); err != nil {
		return nil, err
	}
	signer, err := s.o.Memory.Signer()
	if err != nil {
		return nil, err
	}
	text, key := recipe.Sign([]byte(in.Text), signer.Sign)
	return &api.SignedRecipes{Text: string(text), Signer: key}, nil
}
