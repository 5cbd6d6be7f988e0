package api

import (
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"net/http"
)

// getSystem returns how the program is configured and what it keeps.
func (s *Server) getSystem(ctx context.Context, _ none) (*System, error) {
	sys := &System{}
	if s.o.System != nil {
		var err error
		if sys, err = s.o.System(ctx); err != nil {
			return nil, err
		}
	}
	// A list with nothing in it is a list.
	sys.Settings, sys.Agents, sys.Models = append([]Setting{}, sys.Settings...), append([]Agent{}, sys.Agents...),
		append([]Model{}, sys.Models...)
	sys.Storage, sys.Log = append([]Storage{}, sys.Storage...), append([]string{}, sys.Log...)
	if s.o.CA == nil {
		return sys, nil
	}
	var err error
	sys.Authority, err = s.describeCA(ctx)
	return sys, err
}

// describeCA describes the authority, and says where it is trusted.
func (s *Server) describeCA(ctx context.Context) (*Authority, error) {
	block, _ := pem.Decode(s.o.CA())
	if block == nil {
		return nil, problem(http.StatusInternalServerError, "the authority's certificate is not PEM")
	}
	c, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("read the authority's certificate: %w", err)
	}
	sum := sha256.Sum256(c.Raw)
	a := &Authority{
		Name: c.Subject.CommonName, Fingerprint: hex.EncodeToString(sum[:]),
		Since: c.NotBefore.UTC(), Until: c.NotAfter.UTC(), Trust: []Trust{},
	}
	if s.o.Trust != nil {
		a.Trust = append(a.Trust, s.o.Trust(ctx)...)
	}
	return a, nil
}

// renewAuthority replaces the authority by a new one.
func (s *Server) renewAuthority(ctx context.Context, _ none) (*Authority, error) {
	if s.o.RenewCA == nil {
		return nil, problem(http.StatusConflict, "no daemon runs: use \"readthru ca renew\"")
	}
	if err := s.o.RenewCA(); err != nil {
		return nil, fmt.Errorf("renew the authority: %w", err)
	}
	s.o.Log.Warn("the authority was renewed", "remedy", "have clients trust the new one: readthru ca install")
	return s.describeCA(ctx)
}
