package memory

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/knowledge"
)

// ServeFiles fills a knowledge base from files, which are the content.
func (s *Service) ServeFiles(w http.ResponseWriter, r *http.Request, q api.FilesQuery) error {
	f, err := s.fillFromFiles(r.Context(), r.Body, q)
	if err != nil {
		return err
	}
	return api.Answer(w, f)
}

// fillFromFiles keeps a parcel of files and starts the job that fills a base from it. A base that was made for it is
// deleted again if the job cannot start.
func (s *Service) fillFromFiles(ctx context.Context, parcel io.Reader, q api.FilesQuery) (*api.Filling, error) {
	k, err := s.Index()
	if err != nil {
		return nil, err
	}
	b, err := baseOfFiles(q, k)
	if err != nil {
		return nil, err
	}
	kept, err := s.keepParcel(parcel)
	if err != nil {
		return nil, err
	}
	defer os.Remove(kept) //nolint:errcheck // where it is no longer: the job has it
	if !q.Refresh {
		if b, err = k.CreateBase(b); err != nil {
			return nil, err
		}
	}
	j, err := s.fill(b, kept) //nolint:contextcheck // the job outlives the request
	if err != nil {
		if !q.Refresh {
			_ = os.Remove(s.parcelOf(b)) // it may not be there yet
			_, derr := k.DeleteBase(ctx, b.Name)
			err = errors.Join(err, derr)
		}
		return nil, err
	}
	return &api.Filling{KB: b, Job: &j}, nil
}

// baseOfFiles returns the base to fill: a new one, or with Refresh one that exists.
func baseOfFiles(q api.FilesQuery, k *knowledge.Knowledge) (knowledge.Base, error) {
	b, err := k.Base(q.Name)
	switch {
	case q.Refresh && err != nil:
		return b, err
	case q.Refresh && b.Source != knowledge.SourceFile:
		return b, api.Problem(http.StatusConflict, "%s is not a base of files", q.Name)
	case q.Refresh:
		return b, nil
	case err == nil: // found before the files are sent
		return b, fmt.Errorf("%s: %w", q.Name, knowledge.ErrBaseExists)
	}
	b = knowledge.Base{
		Name: q.Name, Description: q.Description, Source: knowledge.SourceFile, Files: q.Paths,
	}
	if err := knowledge.CheckBaseName(q.Name); err != nil {
		return b, api.Problem(http.StatusBadRequest, "%s", err)
	}
	for _, path := range q.Paths {
		if !filepath.IsAbs(path) {
			return b, api.Problem(http.StatusBadRequest, "%q is not an absolute path", path)
		}
	}
	return b, nil
}
