package machine

import (
	"encoding/pem"
	"io"
	"net/http"
	"time"

	"github.com/readthru/readthru/api"
)

// ServeCAPEM answers the certificate of the authority as PEM.
func (s *Service) ServeCAPEM(w http.ResponseWriter, _ *http.Request, _ api.None) error {
	b, err := s.authority()
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/x-pem-file")
	w.Header().Set("Content-Disposition", `attachment; filename="readthru-ca.pem"`)
	_, _ = w.Write(b) // an error is a client that has gone
	return nil
}

// ServeCADER answers the certificate of the authority as DER.
func (s *Service) ServeCADER(w http.ResponseWriter, _ *http.Request, _ api.None) error {
	b, err := s.authority()
	if err != nil {
		return err
	}
	block, _ := pem.Decode(b)
	if block == nil {
		return api.Problem(http.StatusInternalServerError, "the authority's certificate is not PEM")
	}
	w.Header().Set("Content-Type", "application/x-x509-ca-cert")
	w.Header().Set("Content-Disposition", `attachment; filename="readthru-ca.crt"`)
	_, _ = w.Write(block.Bytes) // as above
	return nil
}

// authority returns the certificate of the proxy's authority as PEM, or a problem if there is none.
func (s *Service) authority() ([]byte, error) {
	if s.o.CA == nil {
		return nil, api.Problem(http.StatusNotFound, "this server has no authority")
	}
	return s.o.CA(), nil
}

// ServeSigningKeys answers the directory of the key that signs own requests, as its origin must publish it.
func (s *Service) ServeSigningKeys(w http.ResponseWriter, _ *http.Request, _ api.None) error {
	if s.o.SigningKeys == nil {
		return api.Problem(http.StatusNotFound, "own requests are not signed: see fetch.sign in the configuration")
	}
	document, err := s.o.SigningKeys(w.Header(), time.Now())
	if err != nil {
		return err
	}
	w.Header().Set("Cache-Control", "max-age=86400")
	_, _ = w.Write(document) // an error is a client that has gone
	return nil
}

// ServePAC answers proxy settings: everything but this machine through the proxy.
func (s *Service) ServePAC(w http.ResponseWriter, _ *http.Request, _ api.None) error {
	if s.o.AutoConfig == nil || s.o.Proxy == nil || s.o.Proxy() == "" {
		return api.Problem(http.StatusServiceUnavailable, "no proxy runs")
	}
	w.Header().Set("Content-Type", "application/x-ns-proxy-autoconfig")
	_, _ = io.WriteString(w, s.o.AutoConfig(s.o.Proxy())) // the status is out
	return nil
}
