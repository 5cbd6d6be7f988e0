package memory

import (
	"context"
	"net/http"
	"strings"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/api/server/jobs"
	"github.com/readthru/readthru/knowledge"
)

// Search finds documents by their passages, best first.
func (s *Service) Search(ctx context.Context, q api.SearchQuery) (*knowledge.Results, error) {
	k, err := s.Index()
	if err != nil {
		return nil, err
	}
	metadata := map[string]string{}
	for _, m := range q.Metadata {
		name, value, ok := strings.Cut(m, "=")
		if !ok || name == "" {
			return nil, api.Problem(http.StatusBadRequest, "metadata %q is not name=value", m)
		}
		metadata[name] = value
	}
	res, err := k.Search(ctx, knowledge.Query{
		Text: q.Text, KB: q.KB, Subject: q.Subject, Host: q.Host, Kind: q.Kind, Since: q.Since,
		Metadata: metadata,
		Limit:    q.Limit, Chars: q.Chars, Explain: q.Explain,
	})
	if err != nil {
		return nil, err
	}
	res.Hits = api.OrEmpty(res.Hits)
	return res, nil
}

// CatchUp indexes pages that are not indexed yet, for a process that does not index in the background.
func (s *Service) CatchUp(ctx context.Context) error {
	k, err := s.Index()
	if err != nil {
		return err
	}
	return k.Drain(ctx)
}

// CatchUpOnSubjects is CatchUp, and finds the subjects of what has none yet.
func (s *Service) CatchUpOnSubjects(ctx context.Context) error {
	k, err := s.Index()
	if err != nil {
		return err
	}
	return k.Describe(ctx)
}

// RebuildIndex starts to rebuild the index from what is stored, or returns the job that already does.
func (s *Service) RebuildIndex(ctx context.Context, _ api.None) (*api.Job, error) {
	k, err := s.Index()
	if err != nil {
		return nil, err
	}
	list, err := s.o.Jobs.ListJobs(ctx, api.None{})
	if err != nil {
		return nil, err
	}
	for _, j := range list.Jobs {
		if j.Kind == kindRebuild && j.State == api.JobRunning {
			return &j, nil
		}
	}
	//nolint:contextcheck // it outlives the request
	j, err := s.o.Jobs.Start(api.Job{Kind: kindRebuild}, func(ctx context.Context, j *jobs.Job) error {
		return k.Rebuild(ctx, func(i, total int, url string) {
			j.Update(func(now *api.Job) { now.I, now.Total, now.URL = i, total, url })
		})
	})
	return &j, err
}

const kindRebuild = "rebuild"
