package sites

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/api/server/asker"
	"github.com/readthru/readthru/internal/clip"
	"github.com/readthru/readthru/internal/hostrule"
	"github.com/readthru/readthru/internal/journal"
	"github.com/readthru/readthru/store"
)

// ListRules lists the rules in the order in which they are tried.
func (s *Service) ListRules(ctx context.Context, q api.RuleQuery) (*api.RuleList, error) {
	list := &api.RuleList{Rules: []api.Rule{}}
	used := map[string]time.Time{}
	if asker.SeesUser(ctx, "") { // as of requests that are told
		used = s.o.Journal.Sums().Hiding
	}
	for e, at := range s.recentRequests(ctx) {
		if e.Rule != "" && at.After(used[e.Rule]) {
			used[e.Rule] = at
		}
	}
	add := func(r api.Rule, f hostrule.Rule) {
		r.RuleFields = fieldsOf(f)
		r.Used = used[f.Host+f.Path] // as the proxy tells it
		list.Rules = append(list.Rules, r)
	}
	stored := s.o.Store.Rules()
	for i, f := range hostrule.Stored(stored) {
		add(api.Rule{ID: stored[i].ID, Source: "store", Made: stored[i].Made}, f)
	}
	if s.o.FileRules != nil {
		for _, f := range s.o.FileRules() {
			add(api.Rule{Source: "file"}, f)
		}
	}
	if q.Host != "" {
		list.Rules = rulesFor(list.Rules, q.Host)
	}
	return list, nil
}

// recentRequests yields the requests in memory that the reader may see, oldest first, with their times.
func (s *Service) recentRequests(ctx context.Context) iter.Seq2[*journal.Entry, time.Time] {
	own := asker.OwnRequests(ctx, journal.Filter{})
	return func(yield func(*journal.Entry, time.Time) bool) {
		for e, at := range s.o.Journal.Recent() {
			if own.Match(e) && !yield(e, at) {
				return
			}
		}
	}
}

// rulesFor returns the rules that match a host, if only for some of its paths. The list is never nil.
func rulesFor(rules []api.Rule, host string) []api.Rule {
	found := []api.Rule{}
	for _, r := range rules {
		if (hostrule.Rule{Host: r.Host}).MatchesHost(host) {
			found = append(found, r)
		}
	}
	return found
}

// fieldsOf returns what a rule says as the API has it.
func fieldsOf(r hostrule.Rule) api.RuleFields {
	f := api.RuleFields{
		Host: r.Host, Path: r.Path, Action: r.Action, Mode: r.Mode, Bypass: r.Bypass, Cascade: r.Cascade,
		Render: r.Render, Preferences: r.Preferences, Log: r.Log,
	}
	if r.TTL > 0 {
		f.TTL = clip.Duration(r.TTL)
	}
	return f
}

// ruleOf returns the rule that says what f says, and an error if its TTL is no duration.
func ruleOf(f api.RuleFields) (r hostrule.Rule, err error) {
	r = hostrule.Rule{
		Host: f.Host, Path: f.Path, Action: f.Action, Mode: f.Mode, Bypass: f.Bypass, Cascade: f.Cascade,
		Render: f.Render, Preferences: f.Preferences, Log: f.Log,
	}
	if f.TTL != "" {
		if r.TTL, err = time.ParseDuration(f.TTL); err != nil {
			return r, api.Problem(http.StatusBadRequest, "ttl %.40q is not a time like 1h30m", f.TTL)
		}
	}
	return r, nil
}

// AddRule makes a rule, in the place of one of the store for the same host and path.
func (s *Service) AddRule(_ context.Context, in api.RuleFields) (*api.Rule, error) {
	f, err := ruleOf(in)
	if err != nil {
		return nil, err
	}
	if f.Host == "" {
		return nil, api.Problem(http.StatusBadRequest, "a rule needs a host, such as a.example or *.a.example")
	}
	if err := f.Check(); err != nil {
		return nil, api.Problem(http.StatusBadRequest, "%s", err)
	}
	r, err := s.o.Store.PutRule(store.Rule{RuleFields: store.RuleFields(f)}, time.Now())
	if err != nil {
		if errors.Is(err, store.ErrRules) {
			return nil, api.Problem(http.StatusBadRequest, "%s: remove some with \"readthru site rule rm\"", err)
		}
		return nil, fmt.Errorf("store the rule: %w", err)
	}
	if err := s.rulesChanged(); err != nil {
		return nil, err
	}
	return &api.Rule{ID: r.ID, Source: "store", Made: r.Made, RuleFields: fieldsOf(f)}, nil
}

// DeleteRule deletes a rule of the store.
func (s *Service) DeleteRule(_ context.Context, ref api.RuleRef) (*api.Gone, error) {
	switch err := s.o.Store.DeleteRule(ref.ID); {
	case errors.Is(err, store.ErrNotFound):
		if s.o.FileRules != nil && slices.ContainsFunc(s.o.FileRules(), func(r hostrule.Rule) bool {
			return strings.EqualFold(r.Host, ref.ID)
		}) {
			return nil, api.Problem(http.StatusNotFound, "no rule %.40q in the store: the rule for this host is in the "+
				"configuration file; change it there", ref.ID)
		}
		return nil, api.Problem(http.StatusNotFound, "no rule %.40q in the store: \"readthru site rule list\" has those "+
			"there are", ref.ID)
	case err != nil:
		return nil, fmt.Errorf("delete rule %s: %w", ref.ID, err)
	}
	if err := s.rulesChanged(); err != nil {
		return nil, err
	}
	return &api.Gone{Deleted: ref.ID}, nil
}

// rulesChanged has the proxy and the fetcher take changed rules and recipes over before the operation is answered.
func (s *Service) rulesChanged() error {
	if s.o.Changed == nil {
		return nil // the next daemon reads them
	}
	if err := s.o.Changed(); err != nil {
		return fmt.Errorf("take over the rules: %w", err)
	}
	return nil
}
