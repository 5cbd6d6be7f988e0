package settings

import (
	"fmt"
	"path/filepath"

	"github.com/readthru/readthru/certs"
)

// AuthorityDir is where the authority is kept.
func AuthorityDir(s *Settings) string { return filepath.Join(s.DataDir, "ca") }

// AuthorityOptions are those of this data directory's authority.
func AuthorityOptions(s *Settings) certs.Options {
	return certs.Options{Dir: AuthorityDir(s), RootFile: s.Upstream.CAFile}
}

// OpenAuthority opens this data directory's authority, or makes it.
func OpenAuthority(s *Settings) (*certs.Authority, error) {
	if err := MakeDataDir(s.DataDir); err != nil {
		return nil, err
	}
	a, err := certs.Open(AuthorityOptions(s))
	if err != nil {
		return nil, fmt.Errorf("open the authority: %w", err)
	}
	return a, nil
}
