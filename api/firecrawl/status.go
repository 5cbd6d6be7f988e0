package firecrawl

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"
)

// The maximum size of a part of a job's documents.
const (
	maxPart   = 100             // documents
	partBytes = int64(10 << 20) // bytes; a single document may be larger
)

// startAnswer is the answer to a request that starts a job.
type startAnswer struct {
	Success bool     `json:"success"`
	ID      string   `json:"id"`
	URL     string   `json:"url"` // where to poll the status
	Invalid []string `json:"invalidURLs,omitempty"`
}

// statusAnswer is the state of a job with a part of its documents.
type statusAnswer struct {
	Success   bool              `json:"success"`
	Status    string            `json:"status"`    // scraping, completed, failed or cancelled
	Completed int               `json:"completed"` // documents so far
	Total     int               `json:"total"`     // documents expected
	Credits   int               `json:"creditsUsed"`
	Expires   string            `json:"expiresAt"`
	Next      string            `json:"next,omitempty"` // URL of the next part of the documents
	Error     string            `json:"error,omitempty"`
	Data      []json.RawMessage `json:"data"`
}

type cancelAnswer struct {
	Success bool   `json:"success"`
	Status  string `json:"status"` // cancelled
}

// errorsAnswer lists the URLs of a job that failed, and those that robots.txt forbids.
type errorsAnswer struct {
	Errors []jobError `json:"errors"`
	Robots []string   `json:"robotsBlocked"`
	Untold int        `json:"untold,omitempty"` // errors that are not in the lists
}

type activeAnswer struct {
	Success bool          `json:"success"`
	Crawls  []activeCrawl `json:"crawls"`
}

// activeCrawl is a crawl that runs.
type activeCrawl struct {
	ID      string `json:"id"`
	TeamID  string `json:"teamId"` // always self: there are no teams here
	URL     string `json:"url"`
	Created string `json:"created_at"`
}

// location returns the URL of a job.
func location(v version, r *http.Request, j *job, query url.Values) string {
	u := url.URL{Scheme: "http", Host: r.Host, Path: fmt.Sprintf("/v%d%s/%s", v, j.kind, j.id), RawQuery: query.Encode()}
	if r.TLS != nil {
		u.Scheme = "https"
	}
	return u.String()
}

// serveStatus answers with the state of a job and a part of its documents, at most 100, and where the next part is.
func (s *Service) serveStatus(v version, r *http.Request) (any, error) {
	q := r.URL.Query()
	for name := range q {
		if name != "skip" && name != "limit" {
			return nil, bad("unknown query parameter %q", name)
		}
	}
	skip, err := number(q, "skip", 0, 0, 1<<30)
	if err != nil {
		return nil, err
	}
	limit, err := number(q, "limit", maxPart, 1, 1<<30)
	if err != nil {
		return nil, err
	}
	j, err := s.jobs.find(r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	a, more, err := j.status(skip, min(limit, maxPart))
	if err != nil {
		return nil, err
	}
	if more {
		next := url.Values{"skip": {strconv.Itoa(skip + len(a.Data))}}
		if q.Has("limit") {
			next.Set("limit", q.Get("limit"))
		}
		a.Next = location(v, r, j, next)
	}
	return a, nil
}

// number parses a parameter that must be from least to most.
func number(q url.Values, name string, absent, least, most int) (int, error) {
	text := q.Get(name)
	if text == "" {
		return absent, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		return 0, bad("%s %q is not a number from %d to %d", name, text, least, most)
	}
	return n, nil
}

// status returns the status of a job with a part of its documents, and whether there are more.
func (j *job) status(skip, limit int) (*statusAnswer, bool, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	data, err := j.results.read(skip, limit, partBytes)
	if err != nil {
		return nil, false, err
	}
	n := len(j.results.parts)
	return &statusAnswer{
		Success: true, Status: j.state, Completed: n, Total: j.total, Expires: j.began.Add(lifetime).Format(time.RFC3339),
		Error: j.err, Data: data,
	}, skip+len(data) < n, nil
}

// serveActive lists the crawls that run.
func (s *Service) serveActive(version, *http.Request) (any, error) {
	list := activeAnswer{true, []activeCrawl{}}
	for _, j := range s.jobs.crawls() {
		list.Crawls = append(list.Crawls, activeCrawl{j.id, "self", j.url, j.began.Format(time.RFC3339)})
	}
	return list, nil
}

// serveCancel cancels a job. Its documents stay until it expires.
func (s *Service) serveCancel(_ version, r *http.Request) (any, error) {
	j, err := s.jobs.find(r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.state != scraping && j.state != cancelled {
		return nil, &failure{http.StatusConflict, "CONFLICT", "the job has already ended: " + j.state}
	}
	j.state = cancelled
	j.cancel()
	return cancelAnswer{true, cancelled}, nil
}

// serveErrors lists the URLs of a job that could not be read, and those that robots.txt forbids.
func (s *Service) serveErrors(_ version, r *http.Request) (any, error) {
	j, err := s.jobs.find(r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	return errorsAnswer{append([]jobError{}, j.errors...), append([]string{}, slices.Clone(j.robots)...), j.untold}, nil
}
