package memory

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/knowledge"
)

// unpack creates a knowledge base from a pack. It writes the pack to a file first, because its signature, which is
// verified before anything is stored, covers all of it. It trusts this node's own signature.
func (s *Service) unpack(ctx context.Context, r io.Reader, u api.Unpacking) (*knowledge.Base, error) {
	k, err := s.Index()
	if err != nil {
		return nil, err
	}
	signer, err := s.Signer()
	if err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(s.o.Dir, "unpack.*")
	if err != nil {
		return nil, fmt.Errorf("unpack: %w", err)
	}
	defer os.Remove(f.Name()) //nolint:errcheck // a file that stays does no harm
	defer f.Close()           //nolint:errcheck // it is removed
	size, err := io.Copy(f, io.LimitReader(r, api.MaxPack+1))
	if err != nil {
		return nil, fmt.Errorf("unpack: %w", err)
	}
	if size > api.MaxPack {
		return nil, api.Problem(http.StatusRequestEntityTooLarge, "a pack has at most %d bytes", int64(api.MaxPack))
	}
	trusted := []string{signer.ID()}
	if u.Signer != "" {
		trusted = append(trusted, u.Signer)
	}
	b, err := k.Unpack(ctx, f, size, knowledge.UnpackOptions{Name: u.Name, Trusted: trusted, AnySigner: u.AnySigner})
	return &b, err
}

// Signer returns who signs what this node packs.
func (s *Service) Signer() (*knowledge.Signer, error) {
	if s.o.Dir == "" {
		return nil, api.Problem(http.StatusServiceUnavailable, "no data directory holds the signing key")
	}
	return knowledge.OpenSigner(s.o.Dir)
}

// ServePack streams a knowledge base as one signed file.
func (s *Service) ServePack(w http.ResponseWriter, r *http.Request, ref api.BaseRef) error {
	k, err := s.Index()
	if err != nil {
		return err
	}
	b, err := k.Base(ref.Name)
	if err != nil {
		return err
	}
	signer, err := s.Signer()
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", b.Name+".kb"))
	if r.Method == http.MethodHead {
		return nil
	}
	if err := k.Pack(r.Context(), b.Name, signer, w, nil); err != nil {
		s.o.Log.Error("answer broken off", "path", r.URL.Path, "error", err)
		api.BreakOff(w, err)
	}
	return nil
}

// ServeUnpack creates a knowledge base from a pack, which is the content.
func (s *Service) ServeUnpack(w http.ResponseWriter, r *http.Request, u api.Unpacking) error {
	b, err := s.unpack(r.Context(), r.Body, u)
	if err != nil {
		return err
	}
	return api.Answer(w, b)
}
