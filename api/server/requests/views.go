package requests

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/api/server/asker"
	"github.com/readthru/readthru/internal/journal"
	"github.com/readthru/readthru/store"
)

// always are the views of requests (filters with a name) that nobody need save. The first four answer what is asked
// most. A tunnel takes as long as its client keeps it open, and is not slow for that.
var always = []api.RequestView{
	{Name: "what failed", Filter: "is:failed"},
	{Name: "what was slow", Filter: "ms:>1000 -outcome:tunnel"},
	{Name: "what left this machine", Filter: journal.Sent},
	{Name: "what was tunnelled", Filter: "outcome:tunnel"},
	{Name: "refused", Filter: "outcome:refused"},
	{Name: "from origins", Filter: "outcome:miss"},
	{Name: "pages", Filter: "tokens:>0"},
	{Name: "by tools", Filter: "door:mcp"},
	{Name: "without crawls", Filter: "-door:crawl"},
}

// Bounds of a saved view, in characters.
const (
	longestName   = 60
	longestFilter = 1000
)

// ListViews lists the views that are always there, and then those that who asks has saved, in their order.
func (s *Service) ListViews(ctx context.Context, _ api.None) (*api.RequestViews, error) {
	list := slices.Clone(always)
	for _, v := range s.o.Store.Views() {
		if v.User == asker.User(ctx) {
			list = append(list, viewOf(v))
		}
	}
	return &api.RequestViews{Views: list}, nil
}

// viewOf returns a saved filter as the API says it.
func viewOf(v store.View) api.RequestView {
	return api.RequestView{ID: v.ID, Made: v.Made, Name: v.Name, Filter: v.Filter}
}

// SaveView gives a filter a name.
func (s *Service) SaveView(ctx context.Context, in api.NewView) (*api.RequestView, error) {
	in.Name, in.Filter = strings.TrimSpace(in.Name), strings.TrimSpace(in.Filter)
	named := func(v api.RequestView) bool { return strings.EqualFold(v.Name, in.Name) }
	control := func(r rune) bool { return !unicode.IsGraphic(r) }
	switch {
	case in.Name == "" || utf8.RuneCountInString(in.Name) > longestName || strings.ContainsFunc(in.Name, control):
		return nil, api.Problem(http.StatusBadRequest, "a view has a name of 1 to %d characters, on one line, not %.80q",
			longestName, in.Name)
	case in.Filter == "" || utf8.RuneCountInString(in.Filter) > longestFilter:
		return nil, api.Problem(http.StatusBadRequest, "a view has a filter of 1 to %d characters", longestFilter)
	case slices.ContainsFunc(always, named):
		return nil, api.Problem(http.StatusConflict, "%q is the name of a view that is always there: choose another one",
			in.Name)
	}
	if _, err := parseFilter(in.Filter); err != nil {
		return nil, err
	}
	v, err := s.o.Store.PutView(store.View{User: asker.User(ctx), Name: in.Name, Filter: in.Filter}, time.Now())
	if errors.Is(err, store.ErrViews) {
		return nil, api.Problem(http.StatusConflict, "%s: remove one first", err)
	}
	if err != nil {
		return nil, fmt.Errorf("save the view %s: %w", in.Name, err)
	}
	made := viewOf(v)
	return &made, nil
}

// DeleteView removes a view that who asks has saved.
func (s *Service) DeleteView(ctx context.Context, ref api.ViewRef) (*api.Gone, error) {
	err := s.o.Store.DeleteView(asker.User(ctx), ref.ID)
	if errors.Is(err, store.ErrNotFound) {
		return nil, api.Problem(http.StatusNotFound, "you saved no view %.40q", ref.ID)
	}
	if err != nil {
		return nil, fmt.Errorf("remove view %s: %w", ref.ID, err)
	}
	return &api.Gone{Deleted: ref.ID}, nil
}
