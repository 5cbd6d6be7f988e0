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

// keepParcel writes a parcel of files to a file of the data directory, whose name it returns: the job reads it after
// the request has ended.
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

// parcelOf is the file that has the parcel of a base's files while it is filled, also by a later process.
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
