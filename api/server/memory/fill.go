package memory

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/api/server/jobs"
	"github.com/readthru/readthru/crawl"
	"github.com/readthru/readthru/knowledge"
)

// Resume continues to fill the knowledge bases that an earlier process left unfinished. Those that need the network
// wait while offline, and those of a fleet until it says which node fills them.
func (s *Service) Resume() {
	if s.o.Knowledge == nil {
		return
	}
	s.removeParcels()
	for _, b := range s.o.Knowledge.Bases() {
		begun := b.Building || b.Generation == 0
		if !begun || b.Paused || b.Source == knowledge.SourceText || !s.MayFill(b) {
			continue
		}
		if shared, ok := s.o.Knowledge.SharedBase(b.Name); ok && s.o.Fleet != nil && s.o.Fleet.SharesBase(shared) {
			continue
		}
		if _, err := s.fill(b, ""); err != nil {
			s.o.Log.Warn("knowledge base not filled", "kb", b.Name, "error", err)
		}
	}
}

// MayFill reports whether a knowledge base that is not filled may be continued just now: offline, one that needs the
// network waits.
func (s *Service) MayFill(b knowledge.Base) bool {
	return b.Source == knowledge.SourceFile || !s.o.Offline()
}

// Fill continues to fill a knowledge base, and returns when that has begun.
func (s *Service) Fill(name string) error {
	b, err := s.o.Knowledge.Base(name)
	if err != nil {
		return err
	}
	_, err = s.fill(b, "")
	return err
}

// leftError is the cause that ends a job because another node fills or has deleted its base: nothing is cleaned up
// then.
type leftError struct{ error }

// StopFilling ends that, because of what another node does. It does not wait for the end.
func (s *Service) StopFilling(name string, why error) {
	s.o.Jobs.CancelFilling(name, leftError{why})
}

// fill starts the job that fills a knowledge base, from a parcel if it is one of files that does not have its own yet.
// If the job fails or is cancelled, the base stays as it was. One that is filled for the first time keeps what was read
// until then, and the next refresh continues; if nothing was read, the base is deleted.
func (s *Service) fill(b knowledge.Base, parcel string) (api.Job, error) {
	if s.o.Fleet != nil {
		if err := s.o.Fleet.BeginFilling(s.o.Jobs.Stopping(), b.Name); err != nil {
			return api.Job{}, err
		}
	}
	build, err := s.o.Knowledge.Build(b.Name)
	if err != nil {
		return api.Job{}, err
	}
	if parcel != "" {
		if err := os.Rename(parcel, s.parcelOf(b)); err != nil {
			build.Close()
			return api.Job{}, fmt.Errorf("keep the files: %w", err)
		}
	}
	first := api.Job{Kind: b.Source, KB: b.Name, Resumed: build.Resumed()}
	if was, ok := s.o.Jobs.Interrupted(b.Name); ok && build.Resumed() {
		first.ID, first.Began = was.ID, was.Began
	}
	j, err := s.o.Jobs.Start(first,
		func(ctx context.Context, j *jobs.Job) error {
			defer build.Close()
			err := s.gather(ctx, j, b, build)
			if err == nil {
				if b, err = build.Commit(ctx); err == nil {
					_ = os.Remove(s.parcelOf(b)) // few bases have one
					j.Update(func(now *api.Job) { now.Documents, now.Passages = b.Documents, b.Passages })
					return nil
				}
			}
			if cause := context.Cause(ctx); errors.Is(cause, jobs.ErrStopping) || errors.As(cause, new(leftError)) {
				return err // a later process continues, or another node
			}
			_ = os.Remove(s.parcelOf(b)) // as above
			end := context.WithoutCancel(ctx)
			if b.Generation == 0 && build.Len() > 0 {
				if perr := build.Pause(); perr != nil {
					s.o.Log.Warn("unfinished build not paused", "kb", b.Name, "error", perr)
				}
				j.Update(func(now *api.Job) { now.Documents = build.Len() })
				return err
			}
			if aerr := build.Abort(end); aerr != nil {
				s.o.Log.Warn("unfinished build not deleted", "kb", b.Name, "error", aerr)
			}
			if b.Generation == 0 {
				build.Close()
				if _, derr := s.o.Knowledge.DeleteBase(end, b.Name); derr != nil {
					s.o.Log.Warn("empty base not deleted", "kb", b.Name, "error", derr)
				}
			}
			return err
		})
	if err != nil {
		build.Close() // a later process continues
	}
	return j, err
}

// gather adds the documents of a base's source (files, a page, a site) to its build.
func (s *Service) gather(ctx context.Context, j *jobs.Job, b knowledge.Base, build *knowledge.Build) error {
	switch b.Source {
	case knowledge.SourceFile:
		return s.addFiles(ctx, j, b, build)
	case knowledge.SourceScrape:
		service, err := s.crawler(b)
		if err != nil {
			return err
		}
		p, err := service.Scrape(ctx, b.URL)
		if err != nil {
			return err
		}
		j.Update(func(now *api.Job) { now.I, now.Total = 1, 1 })
		return add(ctx, build, p)
	}
	service, err := s.crawler(b)
	if err != nil {
		return err
	}
	return s.crawl(ctx, j, b, build, service)
}

// crawler returns the crawl service of a base.
func (s *Service) crawler(b knowledge.Base) (crawl.Service, error) {
	if s.o.Crawl == nil {
		return nil, api.Problem(http.StatusServiceUnavailable, "this server does not crawl")
	}
	return s.o.Crawl(b.Service)
}
