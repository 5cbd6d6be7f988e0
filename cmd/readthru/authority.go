package main

import (
	"fmt"
	"path/filepath"

	"github.com/readthru/readthru/certs"
)

func authorityDir(s *settings) string { return filepath.Join(s.dataDir, "ca") }

// authorityOptions are those of this data directory's authority.
func authorityOptions(s *settings) certs.Options {
	return certs.Options{Dir: authorityDir(s), RootFile: s.Upstream.CAFile}
}

func openAuthority(s *settings) (*certs.Authority, error) {
	if err := makeDataDir(s.dataDir); err != nil {
		return nil, err
	}
	a, err := certs.Open(authorityOptions(s))
	if err != nil {
		return nil, fmt.Errorf("open the authority: %w", err)
	}
	return a, nil
}
