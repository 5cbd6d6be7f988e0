package api

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"readthru/knowledge"
)

// SearchQuery asks for passages. Its zero value but for Text is the five best documents of all that was read.
type SearchQuery struct {
	Text    string
	KB      string    // that knowledge base alone
	Host    string    // that host alone
	Kind    string    // that url_type alone, or file or text
	Since   time.Time // only what was fetched since
	Limit   int       // 0 is 5, at most 500
	Explain bool      // tell what each term scored
}

// Search finds documents by their passages, best first. The text is words, "phrases" and prefixes*.
func (s *Server) Search(ctx context.Context, q SearchQuery) (*knowledge.Results, error) {
	k, err := s.knows()
	if err != nil {
		return nil, err
	}
	res, err := k.Search(ctx, knowledge.Query{
		Text: q.Text, KB: q.KB, Host: q.Host, Kind: q.Kind, Since: q.Since,
		Limit: min(q.Limit, maxLimit), Explain: q.Explain,
	})
	if err != nil {
		return nil, err
	}
	if res.Hits == nil {
		res.Hits = []knowledge.Hit{}
	}
	return res, nil
}

// CatchUp indexes what was read and is not indexed yet: for a process that does not run the index in the background.
func (s *Server) CatchUp(ctx context.Context) error {
	k, err := s.knows()
	if err != nil {
		return err
	}
	return k.Drain(ctx)
}

// RebuildIndex begins to make the index anew from what is stored. One that is under way is gone on with.
func (s *Server) RebuildIndex(ctx context.Context) (*Job, error) {
	k, err := s.knows()
	if err != nil {
		return nil, err
	}
	list, err := s.Jobs(ctx)
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

func (s *Server) serveSearch(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	if err := known(q, "q", "kb", "host", "kind", "since", "limit", "explain"); err != nil {
		return err
	}
	limit, err := limitOf(q)
	if err != nil {
		return err
	}
	since, err := Since(q.Get("since"), time.Now())
	if err != nil {
		return err
	}
	explain, err := flag(q, "explain")
	if err != nil {
		return err
	}
	res, err := s.Search(r.Context(), SearchQuery{
		Text: q.Get("q"), KB: q.Get("kb"), Host: q.Get("host"), Kind: q.Get("kind"), Since: since, Limit: limit,
		Explain: explain,
	})
	if err != nil {
		return err
	}
	return answer(w, http.StatusOK, res)
}

// Since reads a time: RFC 3339, a day, or how long before now (36h, 7d). Empty is the zero time.
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
	return time.Time{}, problem(http.StatusBadRequest, "since %q is no time: 2026-01-31, 2026-01-31T12:00:00Z, 36h or 7d",
		text)
}

// crawlLimit reads how many pages a crawl may take: 0 when absent.
func crawlLimit(text string) (int, error) {
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, problem(http.StatusBadRequest, "limit %q is not a number above 0", text)
	}
	return n, nil
}

func (s *Server) serveRebuildIndex(w http.ResponseWriter, r *http.Request) error {
	j, err := s.RebuildIndex(r.Context())
	return reply(w, j, err)
}
