package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"readthru/knowledge"
)

// Search finds documents by their passages.
func (c *Client) Search(ctx context.Context, q SearchQuery) (*knowledge.Results, error) {
	v := values("q", q.Text, "kb", q.KB, "host", q.Host, "kind", q.Kind, "limit", number(q.Limit))
	if !q.Since.IsZero() {
		v.Set("since", q.Since.UTC().Format(time.RFC3339))
	}
	if q.Explain {
		v.Set("explain", "1")
	}
	return call[knowledge.Results](ctx, c, http.MethodGet, "/api/v1/search", v)
}

// RebuildIndex begins to make the index anew.
func (c *Client) RebuildIndex(ctx context.Context) (*Job, error) {
	return call[Job](ctx, c, http.MethodPost, "/api/v1/index/rebuild", nil)
}

func basePath(name string) string { return "/api/v1/kbs/" + url.PathEscape(name) }

// Bases lists the knowledge bases.
func (c *Client) Bases(ctx context.Context) (*BaseList, error) {
	return call[BaseList](ctx, c, http.MethodGet, "/api/v1/kbs", nil)
}

// Base returns a knowledge base.
func (c *Client) Base(ctx context.Context, name string) (*knowledge.Base, error) {
	return call[knowledge.Base](ctx, c, http.MethodGet, basePath(name), nil)
}

// BaseDocuments lists the documents of a base.
func (c *Client) BaseDocuments(ctx context.Context, name, cursor string, limit int) (*DocumentList, error) {
	return call[DocumentList](ctx, c, http.MethodGet, basePath(name)+"/documents",
		values("cursor", cursor, "limit", number(limit)))
}

// CreateBase makes a base and begins to fill it.
func (c *Client) CreateBase(ctx context.Context, n NewBase) (*Filling, error) {
	return send[Filling](ctx, c, "/api/v1/kbs", n)
}

// DeleteBase removes a base.
func (c *Client) DeleteBase(ctx context.Context, name string) (*knowledge.Base, error) {
	return call[knowledge.Base](ctx, c, http.MethodDelete, basePath(name), nil)
}

// RefreshBase fills a base anew.
func (c *Client) RefreshBase(ctx context.Context, name string, limit int) (*Filling, error) {
	return call[Filling](ctx, c, http.MethodPost, basePath(name)+"/refresh", values("limit", number(limit)))
}

// Pack writes a base as one signed file.
func (c *Client) Pack(ctx context.Context, name string, w io.Writer) error {
	return c.download(ctx, basePath(name)+"/pack", "pack", w)
}

// Unpack makes a base of a pack.
func (c *Client) Unpack(ctx context.Context, r io.Reader, u Unpacking) (*knowledge.Base, error) {
	q := values("name", u.Name, "signer", u.Signer)
	if u.AnySigner {
		q.Set("any_signer", "1")
	}
	return call[knowledge.Base](ctx, c, http.MethodPost, "/api/v1/kbs/unpack", q, r)
}

// Jobs lists the jobs that are remembered.
func (c *Client) Jobs(ctx context.Context) (*JobList, error) {
	return call[JobList](ctx, c, http.MethodGet, "/api/v1/jobs", nil)
}

func jobPath(id string) string { return "/api/v1/jobs/" + url.PathEscape(id) }

// Job returns a job as it is now.
func (c *Client) Job(ctx context.Context, id string) (*Job, error) {
	return call[Job](ctx, c, http.MethodGet, jobPath(id), nil)
}

// CancelJob ends a job for good.
func (c *Client) CancelJob(ctx context.Context, id string) (*Job, error) {
	return call[Job](ctx, c, http.MethodDelete, jobPath(id), nil)
}

// WatchJob calls f with a job at each change until it has ended.
func (c *Client) WatchJob(ctx context.Context, id string, f func(Job) error) error {
	resp, err := c.do(ctx, http.MethodGet, jobPath(id)+"/events", nil, nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return refusal(resp)
	}
	last := ""
	for dec := json.NewDecoder(resp.Body); ; {
		var now Job
		if err := dec.Decode(&now); err != nil {
			if errors.Is(err, io.EOF) && last != "" && last != JobRunning {
				return nil
			}
			return fmt.Errorf("the daemon left while the job ran: %w", err)
		}
		last = now.State
		if err := f(now); err != nil {
			return err
		}
	}
}

// Ingest stores a text.
func (c *Client) Ingest(ctx context.Context, in Ingestion) (*knowledge.Ingested, error) {
	return send[knowledge.Ingested](ctx, c, "/api/v1/ingest", in)
}

// Outline returns the headings of a page or document.
func (c *Client) Outline(ctx context.Context, ref string) (*Outline, error) {
	return call[Outline](ctx, c, http.MethodGet, "/api/v1/pages/"+url.PathEscape(ref)+"/outline", nil)
}

// Section returns one section of a page or document.
func (c *Client) Section(ctx context.Context, ref, name string) (*SectionText, error) {
	return call[SectionText](ctx, c, http.MethodGet, "/api/v1/pages/"+url.PathEscape(ref)+"/section", values("name", name))
}

// VerifyQuote looks for a sentence in a page.
func (c *Client) VerifyQuote(ctx context.Context, ref, quote string) (*QuoteCheck, error) {
	return call[QuoteCheck](ctx, c, http.MethodGet, "/api/v1/pages/"+url.PathEscape(ref)+"/quote", values("q", quote))
}

// Subjects lists what the passages of a base are about.
func (c *Client) Subjects(ctx context.Context, kb string, limit int) (*SubjectList, error) {
	path := "/api/v1/subjects"
	if kb != "" {
		path = basePath(kb) + "/subjects"
	}
	return call[SubjectList](ctx, c, http.MethodGet, path, values("limit", number(limit)))
}

// Passage returns a passage with where it comes from and what it says.
func (c *Client) Passage(ctx context.Context, id string) (*knowledge.PassageInfo, error) {
	return call[knowledge.PassageInfo](ctx, c, http.MethodGet, "/api/v1/passages/"+url.PathEscape(id), nil)
}
