package memory

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/api/server/jobs"
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

// keepParcel writes a parcel to a file of the data directory.
func (s *Service) keepParcel(r io.Reader) (name string, err error) {
	if s.o.Dir == "" {
		return "", api.Problem(http.StatusServiceUnavailable, "the files need a data directory, and there is none")
	}
	f, err := os.CreateTemp(s.o.Dir, "parcel.*")
	if err != nil {
		return "", fmt.Errorf("keep the files: %w", err)
	}
	_, err = io.Copy(f, r)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		_ = os.Remove(f.Name()) // the first error is returned
		return "", fmt.Errorf("keep the files: %w", err)
	}
	return f.Name(), nil
}

// parcelOf is the file that has the files of a base while it is filled, also by a later process.
func (s *Service) parcelOf(b knowledge.Base) string {
	return filepath.Join(s.o.Dir, "parcel-"+b.ID+".tar")
}

// removeParcels removes what processes that died have left: parcels that were not sent whole, and those of bases that
// are filled or deleted.
func (s *Service) removeParcels() {
	left, err := filepath.Glob(filepath.Join(s.o.Dir, "parcel*"))
	if err != nil || s.o.Dir == "" {
		return
	}
	wanted := map[string]bool{}
	for _, b := range s.o.Knowledge.Bases() {
		wanted[s.parcelOf(b)] = b.Building || b.Generation == 0
	}
	for _, name := range left {
		if !wanted[name] {
			_ = os.Remove(name) // the next start tries again
		}
	}
}

// addFiles adds the files of a base's parcel to its build.
func (s *Service) addFiles(ctx context.Context, j *jobs.Job, b knowledge.Base, build *knowledge.Build) error {
	in, err := os.Open(s.parcelOf(b))
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf(`the files are gone: send them again with "readthru kb refresh %s"`, b.Name)
	}
	if err != nil {
		return fmt.Errorf("read the files: %w", err)
	}
	defer in.Close() //nolint:errcheck // it was only read
	report, err := build.AddFiles(ctx, in, func(i, total int, url string) {
		j.Update(func(now *api.Job) { now.I, now.Total, now.URL = i, total, url })
	})
	if report != nil {
		j.Update(func(now *api.Job) { now.NotTaken, now.Skipped = report.Skipped, report.Reasons })
	}
	return err
}
