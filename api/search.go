package api

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/readthru/readthru/knowledge"
)

// SearchQuery asks for documents by their passages. Text or Subject is required.
type SearchQuery struct {
	Text    string    `query:"q" doc:"words, \"phrases\" and prefixes*; may be empty with a subject"`
	KB      string    `query:"kb" doc:"only this knowledge base"`
	Subject string    `query:"subject" doc:"only passages and notes about this subject"`
	Host    string    `query:"host" doc:"only this host"`
	Kind    string    `query:"kind" doc:"only this url_type, or file, text or note"`
	Since   time.Time `query:"since" doc:"fetched since a day, a time, or an age (36h, 7d)"`
	Limit   int       `query:"limit" range:"1,500" doc:"how many at most, 1 to 500; default 5"`
	// Metadata are values that ingested texts must have, each as name=value.
	Metadata []string `query:"metadata" doc:"only ingested texts with this metadata, as name=value; may be repeated"`
	Explain  bool     `query:"explain" doc:"1: add the score of each term"`
}

// search finds documents by their passages, best first.
func (s *Server) search(ctx context.Context, q SearchQuery) (*knowledge.Results, error) {
	k, err := s.index()
	if err != nil {
		return nil, err
	}
	metadata := map[string]string{}
	for _, m := range q.Metadata {
		name, value, ok := strings.Cut(m, "=")
		if !ok || name == "" {
			return nil, problem(http.StatusBadRequest, "metadata %q is not name=value", m)
		}
		metadata[name] = value
	}
	res, err := k.Search(ctx, knowledge.Query{
		Text: q.Text, KB: q.KB, Subject: q.Subject, Host: q.Host, Kind: q.Kind, Since: q.Since,
		Metadata: metadata,
		Limit:    q.Limit, Explain: q.Explain,
	})
	if err != nil {
		return nil, err
	}
	if res.Hits == nil {
		res.Hits = []knowledge.Hit{}
	}
	return res, nil
}

// CatchUp indexes pages that are not indexed yet, for a process that does not index in the background.
func (s *Server) CatchUp(ctx context.Context) error {
	k, err := s.index()
	if err != nil {
		return err
	}
	return k.Drain(ctx)
}

// CatchUpOnSubjects is CatchUp, and finds the subjects of what has none yet.
func (s *Server) CatchUpOnSubjects(ctx context.Context) error {
	k, err := s.index()
	if err != nil {
		return err
	}
	return k.Describe(ctx)
}

// rebuildIndex starts to rebuild the index from what is stored, or returns the job that already does.
func (s *Server) rebuildIndex(ctx context.Context, _ none) (*Job, error) {
	k, err := s.index()
	if err != nil {
		return nil, err
	}
	list, err := s.listJobs(ctx, none{})
	if err != nil {
		return nil, err
	}
	for _, j := range list.Jobs {
		if j.Kind == kindRebuild && j.State == JobRunning {
			return &j, nil
		}
	}
	//nolint:contextcheck // it outlives the request
	j, err := s.jobs.start(Job{Kind: kindRebuild}, func(ctx context.Context, j *job) error {
		return k.Rebuild(ctx, func(i, total int, url string) {
			j.update(func(now *Job) { now.I, now.Total, now.URL = i, total, url })
		})
	})
	return &j, err
}

const kindRebuild = "rebuild"

// Since parses a time: RFC 3339, a day, or an age (36h, 7d) before now. An empty text is the zero time.
func Since(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	if n, err := strconv.Atoi(text[:len(text)-1]); err == nil && n >= 0 && n < 100_000 && text[len(text)-1] == 'd' {
		return now.AddDate(0, 0, -n), nil
	}
	return time.Time{}, problem(http.StatusBadRequest,
		"since %q is not a time like 2026-01-31, 2026-01-31T12:00:00Z, 36h or 7d", text)
}
