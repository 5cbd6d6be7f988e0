package api

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"

	"readthru/knowledge"
)

// Unpacking says how a pack is taken in.
type Unpacking struct {
	Name      string // of the base here; default as in the pack
	Signer    string // the signer to trust, besides ourselves
	AnySigner bool   // trust whoever signed it
}

// Pack writes a base as one signed file.
func (s *Server) Pack(ctx context.Context, name string, w io.Writer) error {
	k, err := s.knows()
	if err != nil {
		return err
	}
	signer, err := s.signer()
	if err != nil {
		return err
	}
	return k.Pack(ctx, name, signer, w, nil)
}

// Unpack makes a base of a pack. What we signed ourselves is trusted.
func (s *Server) Unpack(ctx context.Context, r io.Reader, u Unpacking) (*knowledge.Base, error) {
	k, err := s.knows()
	if err != nil {
		return nil, err
	}
	signer, err := s.signer()
	if err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(s.o.Dir, "unpack.*")
	if err != nil {
		return nil, fmt.Errorf("unpack: %w", err)
	}
	defer os.Remove(f.Name()) //nolint:errcheck // it lies in the data directory, and is looked at by nobody
	defer f.Close()           //nolint:errcheck // it was written to be read back, and is removed
	size, err := io.Copy(f, io.LimitReader(r, maxPack+1))
	if err != nil {
		return nil, fmt.Errorf("unpack: %w", err)
	}
	if size > maxPack {
		return nil, problem(http.StatusRequestEntityTooLarge, "a pack has at most %d bytes", int64(maxPack))
	}
	trusted := []string{signer.ID()}
	if u.Signer != "" {
		trusted = append(trusted, u.Signer)
	}
	b, err := k.Unpack(ctx, f, size, knowledge.UnpackOptions{Name: u.Name, Trusted: trusted, AnySigner: u.AnySigner})
	return &b, err
}

func (s *Server) signer() (*knowledge.Signer, error) {
	if s.o.Dir == "" {
		return nil, problem(http.StatusServiceUnavailable, "there is no data directory to keep a key in")
	}
	return knowledge.OpenSigner(s.o.Dir)
}

// servePack streams a pack. An error in the middle breaks the connection, so that a part is never taken for the whole.
func (s *Server) servePack(w http.ResponseWriter, r *http.Request) error {
	b, err := s.Base(r.Context(), r.PathValue("name"))
	if err != nil {
		return err
	}
	if _, err := s.signer(); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", b.Name+".kb"))
	if r.Method == http.MethodHead {
		return nil
	}
	if err := s.Pack(r.Context(), b.Name, w); err != nil {
		s.o.Log.Error("pack broken off", "kb", b.Name, "error", err)
		panic(http.ErrAbortHandler)
	}
	return nil
}

func (s *Server) serveUnpack(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	if err := known(q, "name", "signer", "any_signer"); err != nil {
		return err
	}
	anySigner, err := flag(q, "any_signer")
	if err != nil {
		return err
	}
	b, err := s.Unpack(r.Context(), r.Body, Unpacking{Name: q.Get("name"), Signer: q.Get("signer"), AnySigner: anySigner})
	return reply(w, b, err)
}
