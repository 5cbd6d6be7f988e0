package requests

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/internal/journal"
)

const (
	replayTime = time.Minute     // for an answer
	recordTime = 5 * time.Second // until what is told of it is complete
)

// ReplayRequest sends a request again, through the proxy as its client did, and returns what is told of the new one.
// Its client is this machine: sessions, and credentials, which are not kept, do not come along.
func (s *Service) ReplayRequest(ctx context.Context, ref api.RequestRef) (*journal.Entry, error) {
	e, err := s.GetRequest(ctx, ref)
	if err != nil {
		return nil, err
	}
	if s.o.Proxy == nil || s.o.Proxy() == "" {
		return nil, api.ErrNoProxy
	}
	trace := "replay-" + rand.Text()
	ctx, cancel := context.WithTimeout(ctx, replayTime)
	defer cancel()
	r, err := e.Replay(ctx, trace)
	if err != nil {
		return nil, api.Problem(http.StatusConflict, "not sent again: %s", err)
	}
	roots := x509.NewCertPool()
	if s.o.CA != nil {
		roots.AppendCertsFromPEM(s.o.CA())
	}
	through := &http.Transport{
		Proxy:              http.ProxyURL(&url.URL{Scheme: "http", Host: s.o.Proxy()}),
		TLSClientConfig:    &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
		DisableCompression: true,
		DisableKeepAlives:  true,
	}
	resp, err := through.RoundTrip(r)
	if err != nil {
		return nil, api.Problem(http.StatusBadGateway, "send the request again through the proxy: %s", err)
	}
	_, err = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
	if err != nil {
		return nil, api.Problem(http.StatusBadGateway, "read the answer to the request that was sent again: %s", err)
	}
	return s.toldOf(ctx, trace)
}

// toldOf waits until the journal has the request that was sent again, by its trace, which is right after its answer.
func (s *Service) toldOf(ctx context.Context, trace string) (*journal.Entry, error) {
	f, err := journal.ParseFilter("trace:" + trace)
	if err != nil {
		return nil, fmt.Errorf("look for the request: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, recordTime)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		if list, _, _ := s.o.Journal.List(f, "", 1); len(list) > 0 {
			return &list[0], nil
		}
		select {
		case <-ctx.Done():
			return nil, api.Problem(http.StatusBadGateway, "the request was sent again, and the proxy told nothing of it")
		case <-tick.C:
		}
	}
}
