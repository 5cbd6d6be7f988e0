package machine

import (
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"net/http"

	"github.com/readthru/readthru/api"
)

// GetSystem returns how the program is configured and what it keeps.
func (s *Service) GetSystem(ctx context.Context, _ api.None) (*api.System, error) {
	sys := &api.System{}
	if s.o.System != nil {
		var err error
		if sys, err = s.o.System(ctx); err != nil {
			return nil, err
		}
	}
	// A list with nothing in it is a list.
	sys.Settings, sys.Agents, sys.Models = append([]api.Setting{}, sys.Settings...), append([]api.Agent{}, sys.Agents...),
		append([]api.Model{}, sys.Models...)
	sys.Storage, sys.Log = append([]api.Storage{}, sys.Storage...), append([]string{}, sys.Log...)
	if s.o.CA == nil {
		return sys, nil
	}
	var err error
	sys.Authority, err = s.describeCA(ctx)
	return sys, err
}

// describeCA describes the proxy's authority by its certificate, and says in which trust stores it is.
func (s *Service) describeCA(ctx context.Context) (*api.Authority, error) {
	block, _ := pem.Decode(s.o.CA())
	if block == nil {
		return nil, api.Problem(http.StatusInternalServerError, "the authority's certificate is not PEM")
	}
	c, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("read the authority's certificate: %w", err)
	}
	sum := sha256.Sum256(c.Raw)
	a := &api.Authority{
		Name: c.Subject.CommonName, Fingerprint: hex.EncodeToString(sum[:]),
		Since: c.NotBefore.UTC(), Until: c.NotAfter.UTC(), Trust: []api.Trust{},
	}
	if s.o.Trust != nil {
		a.Trust = append(a.Trust, s.o.Trust(ctx)...)
	}
	return a, nil
}

// RenewAuthority replaces the authority by a new one.
func (s *Service) RenewAuthority(ctx context.Context, _ api.None) (*api.Authority, error) {
	if s.o.RenewCA == nil {
		return nil, api.Problem(http.StatusConflict, "no daemon runs: use \"readthru ca renew\"")
	}
	if err := s.o.RenewCA(); err != nil {
		return nil, fmt.Errorf("renew the authority: %w", err)
	}
	s.o.Log.Warn("the authority was renewed", "remedy", "have clients trust the new one: readthru ca install")
	return s.describeCA(ctx)
}
