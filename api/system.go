package api

import (
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"net/http"
	"time"
)

// System is how the program is configured and what it keeps.
type System struct {
	Settings  []Setting  `json:"settings"`
	Authority *Authority `json:"authority,omitempty"`
	Agents    []Agent    `json:"agents"`
	Models    []Model    `json:"models"`
	Storage   []Storage  `json:"storage"`
	Log       []string   `json:"log"` // the last lines, the newest last
}

// Setting is a key of the configuration. Secrets are masked.
type Setting struct {
	Key    string `json:"key"`
	Value  any    `json:"value"`
	Source string `json:"source"` // flag, environment, file or default
}

// Authority is the certificate that signs for intercepted hosts.
type Authority struct {
	Name        string    `json:"name"`
	Fingerprint string    `json:"fingerprint"` // SHA-256, hex
	Since       time.Time `json:"since"`
	Until       time.Time `json:"until"`
	Trust       []Trust   `json:"trust"` // the system's trust store, and each browser's
}

// Trust says whether a trust store has the authority.
type Trust struct {
	Store  string `json:"store"`
	State  string `json:"state"`            // TrustInstalled, TrustMissing or TrustUnknown
	Reason string `json:"reason,omitempty"` // why nobody could look
}

// States of Trust.
const (
	TrustInstalled = "installed"
	TrustMissing   = "not installed"
	TrustUnknown   = "unknown" // the store could not be looked into
)

// Agent is a coding agent that can be set up.
type Agent struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	Found bool   `json:"found"` // it is on this machine
	State string `json:"state"` // set up: yes, partly or no
	Error string `json:"error,omitempty"`
}

// Model is a model that is asked.
type Model struct {
	Use     string `json:"use"` // llm, embeddings or rerank
	Service string `json:"service"`
	Model   string `json:"model"`
	Here    bool   `json:"here"` // it runs on this machine
}

// Storage is a part of the data directory.
type Storage struct {
	Name  string `json:"name"`
	Files int64  `json:"files"`
	Bytes int64  `json:"bytes"`
}

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
